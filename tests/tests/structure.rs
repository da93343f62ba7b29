//! The source has the structure that `ARCHITECTURE.md` describes.

use oxeye_tests::{repository, structure};
use std::path::PathBuf;

/// Folders of all crates of the workspace.
fn crates() -> Vec<PathBuf> {
    let root = repository();
    let entries = std::fs::read_dir(root.join("crates")).expect("the crates");
    let mut folders: Vec<PathBuf> =
        entries.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_dir()).collect();
    folders.push(root.join("tests"));
    folders.sort();
    folders
}

fn name(folder: &std::path::Path) -> String {
    folder.file_name().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn no_modules_import_each_other_in_circles() {
    let mut wrong = Vec::new();
    let mut n_roots = 0;
    for folder in crates() {
        let roots = ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root));
        let mut circles = Vec::new();
        for root in roots.iter().filter(|root| root.exists()) {
            n_roots += 1;
            circles.extend(structure::circles(root).unwrap_or_else(|e| panic!("{e}")));
        }
        if !circles.is_empty() {
            wrong.push(format!("{}: {}", name(&folder), circles.join("\n")));
        }
    }
    assert!(n_roots >= crates().len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn crates_depend_on_what_architecture_lists() {
    let text = std::fs::read_to_string(repository().join("ARCHITECTURE.md")).expect("the document");
    let listed = structure::listed_dependencies(&text).unwrap_or_else(|e| panic!("ARCHITECTURE.md: {e}"));
    let found = structure::dependencies(&crates()).unwrap_or_else(|e| panic!("{e}"));
    let wrong = structure::disagreements(&found, &listed);
    assert!(wrong.is_empty(), "ARCHITECTURE.md and Cargo.toml disagree:\n{}", wrong.join("\n"));
}
