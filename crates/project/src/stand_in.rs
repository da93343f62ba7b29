//! Files that are loaded or started in place of others.

use oxeye_measure::{CompileJob, Compiler, MeasureError, WorkDir};
use std::path::PathBuf;

/// Goes by the names in the environment variable `OXEYE_STAND_INS`.
const STAND_IN_C: &str = include_str!("c/stand_in.c");

/// Makes the library that, given as `LD_AUDIT` and `LD_PRELOAD`, loads and starts files in place of those whose names
/// `OXEYE_STAND_INS` has: pairs of lines, an absolute name and the file that stands in for it and for
/// its copies.
///
/// # Errors
/// If it does not compile.
pub fn stand_in_library(cc: &Compiler, work: &WorkDir) -> Result<PathBuf, MeasureError> {
    let source = work.write("stand_in.c", STAND_IN_C)?;
    let job = CompileJob::shared_library(source, work.join("stand_in.so")).args(["-O1"]);
    cc.compile(&job.link_args(["-ldl"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_measure::{Invocation, Limits, run_program};

    #[test]
    fn libraries_and_programs_are_replaced_wherever_they_are_used() {
        let work = WorkDir::new().expect("a folder");
        let cc = Compiler::new("cc", [""; 0]);
        let library = stand_in_library(&cc, &work).expect("compiled");
        let built = |name: &str, text: &str, is_library: bool, link: &[String]| {
            let source = work.write(format!("{name}.c"), text).expect("written");
            let job = match is_library {
                true => CompileJob::shared_library(source, work.join(name)),
                false => CompileJob::executable(source, work.join(name)),
            };
            let made = cc.compile(&job.link_args(link)).expect("compiled");
            made.canonicalize().expect("a path")
        };
        let old = built("libold.so", "int value(void) { return 1; }\n", true, &[]);
        let new = built("libnew.so", "int value(void) { return 2; }\n", true, &[]);
        let text = "#include <stdio.h>\nint value(void);\nint main(void) { printf(\"%d\\n\", value()); return 0; }\n";
        let linked = built("linked", text, false, &[old.display().to_string()]);
        let text = "#include <stdio.h>\nint main(void) { printf(\"other\\n\"); return 0; }\n";
        let other = built("other", text, false, &[]);
        let output = |command: &str, table: &str| {
            let run = Invocation::new("/bin/sh")
                .args(["-c", command])
                .env("OXEYE_STAND_INS", table)
                .env("LD_AUDIT", &library)
                .preload(&library);
            let outcome = run_program(&run, &Limits::default()).expect("runs");
            String::from_utf8_lossy(&outcome.stdout).trim().to_owned()
        };
        let command = format!("{}; true", linked.display());
        assert_eq!(output(&command, ""), "1");
        assert_eq!(output(&command, &format!("{}\n{}\n", old.display(), new.display())), "2");
        assert_eq!(output(&command, &format!("{}\n{}\n", linked.display(), other.display())), "other");
        // The table has the name that was linked, the program loads what was copied from there.
        let folder = work.subdir("linked here").expect("a folder");
        let first = folder.join("libold.so");
        std::fs::copy(&old, &first).expect("copied");
        assert_eq!(output(&command, &format!("{}\n{}\n", first.display(), new.display())), "2");
        std::fs::copy(&new, &first).expect("copied");
        assert_eq!(output(&command, &format!("{}\n{}\n", first.display(), new.display())), "1");
    }
}
