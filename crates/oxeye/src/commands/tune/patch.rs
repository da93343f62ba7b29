//! Changed files as a patch.

use crate::request::{Error, write_atomically};
use oxeye_frontend::encoded;
use similar::TextDiff;
use std::path::{Path, PathBuf};

/// A file with its text before and after, both as the frontend decodes them.
pub(super) struct ChangedFile {
    pub(super) path: PathBuf,
    pub(super) before: String,
    pub(super) after: String,
}

/// The folder that paths in a patch begin at: that of the repository, if there is one, else where the build is run.
pub(super) fn root(folder: &Path) -> PathBuf {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder).to_owned()
}

/// A path as seen from the root.
pub(super) fn relative(path: &Path, root: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

/// Writes a unified diff, which `git apply` and `patch -p1` understand in the root.
pub(super) fn write_patch(patch: &Path, files: &[ChangedFile], root: &Path) -> Result<(), Error> {
    let mut text = String::new();
    for file in files {
        let name = relative(&file.path, root);
        let (before, after) = (format!("a/{}", name.display()), format!("b/{}", name.display()));
        let diff = TextDiff::from_lines(&file.before, &file.after);
        text += &diff.unified_diff().context_radius(3).header(&before, &after).to_string();
    }
    write_atomically(patch, &encoded(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn patch_programs_understand_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let before = "int a;\r\n\nint b;\nint c;\n// no line end";
        let after = "int a;\r\n\nint two;\nint lines;\nint c;\n// none here";
        let path = folder.path().join("my file.c");
        std::fs::create_dir_all(folder.path().join("sub")).expect("a folder");
        std::fs::write(&path, before).expect("written");
        let file = ChangedFile { path: path.clone(), before: before.into(), after: after.into() };
        let patch = folder.path().join("sub/x.patch");
        write_patch(&patch, &[file], folder.path()).expect("written");
        let done = Command::new("git").args(["apply", "sub/x.patch"]).current_dir(folder.path()).status();
        assert!(done.expect("git").success());
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), after);
    }
}
