//! Changed files of a project, and where they go: into a patch, in place, or beside each other in a folder.

use crate::request::{Error, check_writable, write_atomically};
use crate::written::ChangedFile;
use oxeye_frontend::encoded;
use similar::TextDiff;
use std::path::{Component, Path, PathBuf};

/// Where changed files go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TuneOutput {
    /// Into a patch.
    Patch(PathBuf),
    /// Into the files themselves.
    InPlace,
    /// As copies into a folder, each where it stands below the root.
    Folder(PathBuf),
}

impl TuneOutput {
    /// Where `-o` sends the results: into a folder, if it is one or ends like one, else into a patch.
    pub fn named(path: &Path) -> Self {
        let ends_like_folder = path.as_os_str().to_string_lossy().ends_with('/');
        match ends_like_folder || path.is_dir() {
            true => Self::Folder(path.to_owned()),
            false => Self::Patch(path.to_owned()),
        }
    }

    /// The patch, if it is one.
    pub fn patch(&self) -> Option<&Path> {
        match self {
            Self::Patch(path) => Some(path),
            _ => None,
        }
    }

    /// The folder, if it is one.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(path) => Some(path),
            _ => None,
        }
    }

    /// Fails now where writing would fail later.
    pub(super) fn check(&self, root: &Path) -> Result<(), Error> {
        match self {
            Self::InPlace => Ok(()),
            Self::Patch(path) => check_writable(path, &[]),
            Self::Folder(folder) => {
                let fail = |source| Error::Io { action: "write into", path: folder.clone(), source };
                // It is made when there is something to put into it.
                let there = folder.ancestors().find(|above| above.as_os_str().is_empty() || above.exists());
                let there = there.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
                if !there.is_dir() {
                    return Err(fail(std::io::ErrorKind::NotADirectory.into()));
                }
                if folder.canonicalize().is_ok_and(|folder| folder == root) {
                    return Err(Error::Input(format!(
                        "copies in {} would replace the sources; --in-place does that",
                        folder.display()
                    )));
                }
                check_writable(&there.join(".oxeye-probe"), &[])
            }
        }
    }

    /// Writes these files.
    pub(super) fn write(&self, files: &[ChangedFile], root: &Path) -> Result<(), Error> {
        if files.is_empty() {
            return Ok(());
        }
        match self {
            Self::Patch(path) => write_atomically(path, &encoded(&patch_text(files, root))),
            Self::InPlace => {
                files.iter().try_for_each(|file| write_atomically(&file.path, &encoded(&file.after)))
            }
            Self::Folder(folder) => files.iter().try_for_each(|file| {
                let copy = folder.join(below(&relative(&file.path, root)));
                if let Some(parent) = copy.parent() {
                    std::fs::create_dir_all(parent).map_err(|source| Error::Io {
                        action: "write into",
                        path: parent.to_owned(),
                        source,
                    })?;
                }
                write_atomically(&copy, &encoded(&file.after))
            }),
        }
    }
}

/// A path that stays below the folder it is put into.
fn below(path: &Path) -> PathBuf {
    path.components().filter(|part| matches!(part, Component::Normal(_))).collect()
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

/// A command that applies a patch, typed in the present folder. Below the root of a repository, `git apply` takes the paths of
/// a patch for others, and leaves out files beside the folder. A patch is named as seen from where `git` looks for it.
pub fn apply_command(patch: &Path) -> String {
    let here = Path::new(".").canonicalize().unwrap_or_default();
    apply_command_in(&here, &root(&here), patch)
}

fn apply_command_in(here: &Path, root: &Path, patch: &Path) -> String {
    let depth = here.strip_prefix(root).map_or(0, |below| below.components().count());
    match depth {
        0 => format!("git apply {}", relative(patch, here).display()),
        _ => {
            let up = vec![".."; depth].join("/");
            format!("git -C {up} apply {}", relative(&here.join(patch), root).display())
        }
    }
}

/// A unified diff, which `git apply` and `patch -p1` understand in the root.
pub(super) fn patch_text(files: &[ChangedFile], root: &Path) -> String {
    let mut text = String::new();
    for file in files {
        let name = relative(&file.path, root);
        let (before, after) = (format!("a/{}", name.display()), format!("b/{}", name.display()));
        let diff = TextDiff::from_lines(&file.before, &file.after);
        text += &diff.unified_diff().context_radius(3).header(&before, &after).to_string();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn patches_are_applied_in_the_root() {
        let command =
            |here: &str, patch: &str| apply_command_in(Path::new(here), Path::new("/p"), Path::new(patch));
        assert_eq!(command("/p", "out/x.patch"), "git apply out/x.patch");
        assert_eq!(command("/p", "/p/out/x.patch"), "git apply out/x.patch");
        assert_eq!(command("/p", "/tmp/x.patch"), "git apply /tmp/x.patch");
        assert_eq!(command("/p/src/omp", "out/x.patch"), "git -C ../.. apply src/omp/out/x.patch");
        assert_eq!(command("/p/src/omp", "/tmp/x.patch"), "git -C ../.. apply /tmp/x.patch");
    }

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
        TuneOutput::Patch(patch).write(&[file], folder.path()).expect("written");
        let done = Command::new("git").args(["apply", "sub/x.patch"]).current_dir(folder.path()).status();
        assert!(done.expect("git").success());
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), after);
    }

    #[test]
    fn copies_stand_as_the_files_do() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("a folder");
        std::fs::create_dir_all(root.join("src")).expect("a folder");
        let path = root.join("src/a.c");
        std::fs::write(&path, "old").expect("written");
        let file = |path: &Path| ChangedFile { path: path.into(), before: "old".into(), after: "new".into() };
        let copies = TuneOutput::named(&root.join("copies/"));
        copies.check(&root).expect("it can be made");
        // A file elsewhere stays below the folder, too.
        copies.write(&[file(&path), file(Path::new("/elsewhere/b.c"))], &root).expect("written");
        let read = |name: &str| std::fs::read_to_string(root.join(name)).ok();
        assert_eq!(read("src/a.c").as_deref(), Some("old"));
        assert_eq!(read("copies/src/a.c").as_deref(), Some("new"));
        assert_eq!(read("copies/elsewhere/b.c").as_deref(), Some("new"));
        let says = TuneOutput::named(&root).check(&root).expect_err("the sources themselves").to_string();
        assert!(says.contains("--in-place"), "{says}");
        assert!(TuneOutput::Folder(path).check(&root).is_err());
        assert_eq!(TuneOutput::named(Path::new("x.patch")).patch(), Some(Path::new("x.patch")));
    }
}
