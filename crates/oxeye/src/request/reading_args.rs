//! What a preprocessor needs of compile flags that nobody vouches for.

/// Flags whose next word is a name or a path that is only read.
const WITH_ARGUMENT: [&str; 9] =
    ["-D", "-U", "-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot"];

/// Beginnings of the same with the name or path in the word itself.
const JOINED: [&str; 9] =
    ["-D", "-U", "-I", "-isystem", "-iquote", "-idirafter", "-std=", "--sysroot=", "-isysroot"];

/// Whole words.
const WORDS: [&str; 6] = ["-ansi", "-pthread", "-nostdinc", "-undef", "-trigraphs", "-w"];

/// Flags with a value that only says how to compile.
const WITH_VALUE: [&str; 9] = [
    "-ffp-contract=",
    "-ffp-model=",
    "-fexcess-precision=",
    "-fopenmp=",
    "-fsanitize=",
    "-fvisibility=",
    "-ftls-model=",
    "-finput-charset=",
    "-fmax-errors=",
];

/// Beginnings of what `-f` may be followed by that loads, starts or writes something.
const HARMFUL: [&str; 11] = [
    "plugin",
    "pass-plugin",
    "dump",
    "module",
    "no-module",
    "profile",
    "save",
    "callgraph",
    "time",
    "test",
    "opt-info",
];

/// The arguments that say what a source means, and those that are left out although they might. Inputs for the linker and its
/// flags are in neither. Nothing that is kept makes a compiler load or start anything, or write a file.
pub(super) fn reading_args(args: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if WITH_ARGUMENT.contains(&arg.as_str()) {
            kept.extend([arg.clone()].into_iter().chain(args.next().cloned()));
        } else if is_harmless(arg) {
            kept.push(arg.clone());
        } else if arg == "-l" || arg == "-L" {
            args.next();
        } else if !is_for_linking(arg) {
            left_out.push(arg.clone());
        }
    }
    (kept, left_out)
}

fn is_harmless(arg: &str) -> bool {
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-+=_.".contains(c));
    let is_source = !arg.starts_with(['-', '@']) && arg.ends_with(".c");
    let joined =
        |starts: &[&str]| starts.iter().any(|start| arg.len() > start.len() && arg.starts_with(start));
    is_source
        || WORDS.contains(&arg)
        || joined(&JOINED)
        || joined(&WITH_VALUE)
        || arg.strip_prefix("-m").is_some_and(|name| is_plain(name) && name != "llvm")
        || arg.strip_prefix("-O").is_some_and(is_plain)
        || arg.strip_prefix("-g").is_some_and(is_plain)
        || arg.strip_prefix("-W").is_some_and(is_plain)
        || arg.strip_prefix("-f").is_some_and(|name| {
            is_plain(name) && !name.contains('=') && !HARMFUL.iter().any(|start| name.starts_with(start))
        })
}

fn is_for_linking(arg: &str) -> bool {
    const STARTS: [&str; 6] = ["-l", "-L", "-Wl,", "-static", "-shared", "-rdynamic"];
    !arg.starts_with(['-', '@']) || STARTS.iter().any(|start| arg.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_what_a_source_means_is_kept_and_nothing_else() {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let harmless = "-O3 -march=native -ffast-math -fopenmp -DX=1 -I inc -Iother -include a.h -std=gnu11 util.c -Wall  -ffp-contract=off -pthread";
        assert_eq!(reading_args(&words(harmless)), (words(harmless), Vec::new()));
        assert_eq!(reading_args(&words("-lm -L lib x.o y.a -Wl,-rpath=x -shared")), Default::default());
        let harmful = "-fplugin=x.so -fpass-plugin=x -wrapper=sh -specs=x -Bx @file -Wp,-MD,x -fdump-tree-all -save-temps  -fmodule-mapper=|sh -fprofile-generate -Xclang -ox -MD";
        assert_eq!(reading_args(&words(harmful)), (Vec::new(), words(harmful)));
    }
}
