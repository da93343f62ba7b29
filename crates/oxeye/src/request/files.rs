//! Writing files whole or not at all.

use super::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Replaces the contents of `path` in one step: whoever looks sees the old file or the new one, and an interruption
/// leaves the old one. A path that is not a regular file (`/dev/stdout`, a pipe) is written directly.
pub fn write_atomically(path: &Path, contents: &[u8]) -> Result<(), Error> {
    let fail = |source| Error::Io { action: "write", path: path.to_owned(), source };
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return std::fs::write(path, contents).map_err(fail);
    }
    let target = resolved(path);
    let mut file = temporary_beside(&target).map_err(fail)?;
    file.write_all(contents).and_then(|()| file.as_file().sync_all()).map_err(fail)?;
    if let Ok(old) = std::fs::metadata(&target) {
        std::fs::set_permissions(file.path(), old.permissions()).map_err(fail)?;
    }
    file.persist(&target).map_err(|e| fail(e.error))?;
    Ok(())
}

/// Fails now where reading would fail later, wait for ever, or never end: only regular files are read.
pub(crate) fn check_readable(path: &Path) -> Result<(), Error> {
    let fail = |source| Error::Io { action: "read", path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(fail)?;
    if metadata.is_dir() {
        return Err(fail(std::io::ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(fail(std::io::Error::other("it is not a regular file")));
    }
    std::fs::File::open(path).map(drop).map_err(fail)
}

/// The text of a regular file.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    check_readable(path)?;
    std::fs::read_to_string(path).map_err(|source| Error::Io {
        action: "read",
        path: path.to_owned(),
        source,
    })
}

/// The text of a source file, as the frontend decodes it.
pub(crate) fn text(path: &Path) -> Result<String, Error> {
    let fail = |source| Error::Io { action: "read", path: path.to_owned(), source };
    let bytes = std::fs::read(path).map_err(fail)?;
    oxeye_frontend::decoded(bytes).ok_or_else(|| fail(std::io::ErrorKind::InvalidData.into()))
}

/// Fails now where [`write_atomically`] would fail later, or would overwrite one of `others`.
///
/// # Errors
/// If the file cannot be written, or is one of the others.
pub fn check_writable(path: &Path, others: &[&Path]) -> Result<(), Error> {
    let fail = |source| Error::Io { action: "write", path: path.to_owned(), source };
    if let Some(other) = others.iter().find(|other| is_same_file(path, other)) {
        return Err(Error::Input(format!(
            "{} is the same file as {}, which this run reads or writes too; give it another name",
            path.display(),
            other.display()
        )));
    }
    match std::fs::metadata(path) {
        Ok(m) if m.is_dir() => Err(fail(std::io::ErrorKind::IsADirectory.into())),
        Ok(m) if !m.is_file() => Ok(()),
        Ok(m) if m.permissions().readonly() => Err(fail(std::io::ErrorKind::PermissionDenied.into())),
        _ => temporary_beside(&resolved(path)).map(drop).map_err(fail),
    }
}

/// Whether two paths name one file, be it there yet or not. Devices are never the same.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| match path.canonicalize() {
        Ok(path) => Some(path),
        Err(_) => Some(directory_of(path).canonicalize().ok()?.join(path.file_name()?)),
    };
    let device = |path: &Path| std::fs::metadata(path).is_ok_and(|m| !m.is_file());
    !device(a) && place(a).is_some_and(|a| place(b) == Some(a))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    }
}

/// The file itself where `path` is a link to one.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn temporary_beside(path: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let directory = directory_of(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".oxeye-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    // The system's word without the temporary name, which is none of the user's business.
    builder.tempfile_in(directory).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            std::io::Error::new(e.kind(), format!("there is no directory {}", directory.display()))
        }
        std::io::ErrorKind::PermissionDenied => {
            std::io::Error::new(e.kind(), format!("no permission to write into {}", directory.display()))
        }
        kind => kind.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_a_file_and_leaves_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("out.c");
        write_atomically(&path, b"one").expect("writes");
        write_atomically(&path, b"two").expect("writes");
        assert_eq!(std::fs::read(&path).expect("reads"), b"two");
        assert_eq!(std::fs::read_dir(directory.path()).expect("lists").count(), 1);
    }

    #[test]
    fn outputs_are_kept_apart() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("in.c"), "").expect("writes");
        assert!(check_writable(&path("out.c"), &[&path("in.c")]).is_ok());
        let own = directory.path().file_name().expect("a name").to_string_lossy();
        assert!(check_writable(&path(&format!("../{own}/./out.c")), &[&path("out.c")]).is_err());
        assert!(check_writable(&path("./in.c"), &[&path("in.c")]).is_err());
        assert!(check_writable(&path("./out.c"), &[&path("out.c")]).is_err());
        assert!(check_writable(Path::new("/dev/null"), &[Path::new("/dev/null")]).is_ok());
    }

    #[test]
    fn a_missing_directory_is_named() {
        let error = check_writable(Path::new("/no/such/dir/out.c"), &[]).expect_err("fails").to_string();
        assert!(error.contains("/no/such/dir/out.c"), "{error}");
    }
}
