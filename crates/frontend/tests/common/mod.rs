//! Reads C given as text.
#![allow(dead_code, unreachable_pub, reason = "each test program uses its own part")]

use oxeye_frontend::{ReadOptions, Unit, read_c};
use std::path::Path;

/// Reads `source` with these options.
pub fn read_with(source: &str, options: &ReadOptions) -> Unit {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    std::fs::write(&path, source).expect("a file");
    read_c(&path, options).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

/// Reads `source`.
pub fn read(source: &str) -> Unit {
    read_with(source, &ReadOptions::default())
}

/// The programs and diagnostics of `source` as text.
pub fn shown(source: &str) -> String {
    show(&read(source))
}

/// Programs and diagnostics as text.
pub fn show(unit: &Unit) -> String {
    let mut out = String::new();
    for function in &unit.functions {
        assert_eq!(oxeye_ir::verify(&function.program), Ok(()), "{}", function.program);
        out += &function.program.to_string();
    }
    for diagnostic in &unit.diagnostics {
        out += &diagnostic.render(Path::new("t.c"), &unit.source);
        out += "\n";
    }
    out
}
