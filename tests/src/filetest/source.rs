//! Commands on C.

use super::case::Case;
use oxeye_frontend::{ReadOptions, Unit, read_c};
use std::path::Path;

/// The programs and diagnostics of a file that is compiled with the command's words.
pub(super) fn read(case: &Case) -> Result<String, String> {
    let options = options(case);
    in_file(case, |path| shown(&read_c(path, &options).map_err(|e| e.to_string())?))
}

/// The same with neighbouring nests as one.
pub(super) fn group(case: &Case) -> Result<String, String> {
    let options = options(case);
    in_file(case, |path| {
        let mut unit = read_c(path, &options).map_err(|e| e.to_string())?;
        let mut functions = Vec::new();
        for function in &unit.functions {
            for group in function.group_spans() {
                let grouped = unit.group(&options, &function.name, &[], group).map_err(|e| e.to_string())?;
                let Some(mut grouped) = grouped else {
                    return Err(format!("no group from line {}", group.line));
                };
                grouped.function.program.nests.retain(|id, _| grouped.nests.contains(id));
                functions.push(grouped.function);
            }
        }
        unit.functions = functions;
        shown(&unit)
    })
}

fn options(case: &Case) -> ReadOptions {
    let args = case.words.iter().map(|word| (*word).to_owned()).collect();
    ReadOptions { args, ..ReadOptions::default() }
}

fn in_file(case: &Case, shown: impl Fn(&Path) -> Result<String, String>) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = folder.path().join("t.c");
    std::fs::write(&path, case.text).map_err(|e| e.to_string())?;
    shown(&path)
}

fn shown(unit: &Unit) -> Result<String, String> {
    let mut text = String::new();
    for function in &unit.functions {
        let (program, binding) = (&function.program, &function.binding);
        let found = [oxeye_ir::verify(program), oxeye_binding::verify(program, binding)];
        if let Some(violations) = found.into_iter().find_map(Result::err) {
            return Err(format!("not well formed: {violations:?}\n{program}"));
        }
        text += &binding.display(program);
    }
    for diagnostic in &unit.diagnostics {
        text += &diagnostic.render(Path::new("t.c"), &unit.source);
        text += "\n";
    }
    Ok(text)
}
