//! The builds with the compiler's sanitizers.

use super::report::BuildFinding;
use oxeye_measure::Compiler;

/// A sanitizer of compilers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sanitizer {
    /// Accesses outside of objects, and of freed ones.
    Address,
    /// What C leaves undefined.
    Undefined,
}

impl Sanitizer {
    /// Its name, as reports and flags have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Sanitizer::Address => "address",
            Sanitizer::Undefined => "undefined",
        }
    }

    /// What must hold.
    pub(super) fn asserts(self) -> &'static str {
        match self {
            Sanitizer::Address => "no access outside of arrays, variables and allocations",
            Sanitizer::Undefined => "nothing that C leaves undefined: indices, shifts, overflows, alignment",
        }
    }

    /// Flags of a build with it.
    pub(crate) fn flags(self) -> [&'static str; 4] {
        match self {
            Sanitizer::Address => ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address"],
            Sanitizer::Undefined => ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=undefined"],
        }
    }

    /// The environment variable with its options, and these: it tells all that it finds, and nothing of memory that is still in
    /// use at the end.
    pub(crate) fn options(self) -> (&'static str, &'static str) {
        match self {
            Sanitizer::Address => ("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=0:exitcode=86"),
            Sanitizer::Undefined => ("UBSAN_OPTIONS", "print_stacktrace=0:halt_on_error=0"),
        }
    }

    /// Whether the compiler has it, and programs with it run here.
    ///
    /// # Errors
    /// Why not, in a line.
    pub(crate) fn probe(self, compiler: &Compiler) -> Result<(), String> {
        Compiler::new(&compiler.program, self.flags()).makes_programs(&[self.options()])
    }

    /// What it wrote to standard error, each thing once; at most 20.
    pub(super) fn findings(self, stderr: &str) -> Vec<BuildFinding> {
        let mut found: Vec<BuildFinding> = Vec::new();
        let lines: Vec<&str> = stderr.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let finding = match self {
                Sanitizer::Address => address(line, &lines[at + 1..]),
                Sanitizer::Undefined => undefined(line),
            };
            found.extend(finding.filter(|finding| !found.contains(finding)));
        }
        found.truncate(20);
        found
    }
}

/// `==7==ERROR: AddressSanitizer: heap-buffer-overflow on address .. ` with `#0 0x.. in f /place/file.c:31:7` below it.
fn address(line: &str, below: &[&str]) -> Option<BuildFinding> {
    let (_, what) = line.split_once("ERROR: AddressSanitizer: ")?;
    let kind = what.split_whitespace().next().unwrap_or("error").trim_end_matches(':').to_owned();
    let access = below.iter().take(3).find(|line| line.starts_with("READ") || line.starts_with("WRITE"));
    let access = access.map(|line| line.split(" at ").next().unwrap_or_default().to_lowercase());
    let frame =
        below.iter().map(|line| line.trim()).find(|line| line.starts_with('#') && line.contains(".c:"));
    let place = frame.and_then(|frame| frame.split_once(" in "));
    Some(BuildFinding {
        message: access.map_or_else(|| kind.clone(), |access| format!("{kind}, {access}")),
        kind,
        place: place.map_or("elsewhere".to_owned(), |(_, place)| short(place)),
        in_original: false,
    })
}

/// `/place/file.c:31:7: runtime error: index 100 out of bounds for type 'double [100]'`.
fn undefined(line: &str) -> Option<BuildFinding> {
    let (place, what) = line.split_once(": runtime error: ")?;
    // The objects that it is about have another address in each run.
    let words: Vec<&str> = what.split_whitespace().filter(|word| !word.starts_with("0x")).collect();
    Some(BuildFinding {
        kind: "undefined".to_owned(),
        place: short(place),
        message: words.join(" "),
        in_original: false,
    })
}

/// A place without the folders of its file: `kernel /a/b/file.c:31:7` is `kernel file.c:31:7`.
fn short(place: &str) -> String {
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    place.split_whitespace().map(name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sanitizers_write_is_understood() {
        let words = "=================\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60b0 at pc 0x55 bp 0x7f sp 0x7f\n\
                     WRITE of size 8 at 0x60b0 thread T0\n    #0 0x55 in kernel /tmp/x/f.c:31\n    #1 0x56 in main /tmp/x/f.c:40\n";
        let found = Sanitizer::Address.findings(words);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].kind.as_str(), found[0].place.as_str()),
            ("heap-buffer-overflow", "kernel f.c:31")
        );
        assert_eq!(found[0].message, "heap-buffer-overflow, write of size 8");
        let words = "f.c:31:7: runtime error: load of misaligned address 0x7ffe for type 'double', which requires 8 byte alignment\n\
                     0x7ffe: note: pointer points here\n\
                     f.c:31:7: runtime error: load of misaligned address 0x7fff for type 'double', which requires 8 byte alignment\n";
        let found = Sanitizer::Undefined.findings(words);
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].message,
            "load of misaligned address for type 'double', which requires 8 byte alignment"
        );
        assert!(Sanitizer::Undefined.findings("f.c:3: warning: nothing\n").is_empty());
    }
}
