//! A folder that several machines see: files that appear whole, and contents under the name of what is in them.

use crate::error::NodesError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

pub(crate) const SESSION: &str = "session.json";
pub(crate) const HEAD: &str = "head";
pub(crate) const END: &str = "end";
pub(crate) const STORE: &str = "store";
pub(crate) const BENCHES: &str = "benches";
pub(crate) const OPEN: &str = "open";
pub(crate) const TAKEN: &str = "taken";
pub(crate) const RESULTS: &str = "results";
pub(crate) const DONE: &str = "done";
pub(crate) const NODES: &str = "nodes";
pub(crate) const LOGS: &str = "logs";
/// The ending of the file that tells a node that it is not believed.
pub(crate) const DISTRUSTED: &str = "distrusted";

/// Characters of a hash that are used: 128 bits.
const NAME_CHARACTERS: usize = 32;

/// Names files that are being written.
static N_WRITTEN: AtomicU64 = AtomicU64::new(0);

/// The folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// A folder as it is.
    pub(crate) fn at(root: &Path) -> Folder {
        Folder { root: root.to_owned() }
    }

    /// Makes the folders inside.
    pub(crate) fn make(&self) -> Result<(), NodesError> {
        for name in [STORE, BENCHES, OPEN, TAKEN, DONE, RESULTS, NODES, LOGS] {
            let path = self.root.join(name);
            fs::create_dir_all(&path).map_err(NodesError::io("make", &path))?;
        }
        Ok(())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, kind: &str, name: &str) -> PathBuf {
        self.root.join(kind).join(name)
    }

    /// Names of the files of a kind, in order. Files that are being written have none.
    pub(crate) fn names(&self, kind: &str) -> Result<Vec<String>, NodesError> {
        let folder = self.root.join(kind);
        look_afresh(&folder);
        let entries = fs::read_dir(&folder).map_err(NodesError::io("read", &folder))?;
        let name = |entry: io::Result<fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
        let mut names: Vec<String> = entries.filter_map(name).filter(|name| !name.starts_with('.')).collect();
        names.sort();
        Ok(names)
    }

    /// Writes a file, which appears whole.
    pub(crate) fn write(&self, kind: &str, name: &str, contents: &[u8]) -> Result<(), NodesError> {
        self.put(kind, name, |file| file.write_all(contents))
    }

    /// Writes a value as JSON.
    pub(crate) fn write_value(
        &self,
        kind: &str,
        name: &str,
        value: &impl Serialize,
    ) -> Result<(), NodesError> {
        let text =
            serde_json::to_vec(value).map_err(|error| NodesError::damaged(&self.path(kind, name), error))?;
        self.write(kind, name, &text)
    }

    /// Reads a value; `None` if there is no such file.
    pub(crate) fn read_value<T: DeserializeOwned>(
        &self,
        kind: &str,
        name: &str,
    ) -> Result<Option<T>, NodesError> {
        let path = self.path(kind, name);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(NodesError::io("read", &path)(error)),
        };
        serde_json::from_slice(&text).map(Some).map_err(|error| NodesError::damaged(&path, error))
    }

    /// Gives a file another name; `false` if it is not there any more.
    pub(crate) fn rename(&self, from: (&str, &str), to: (&str, &str)) -> Result<bool, NodesError> {
        let (from, to) = (self.path(from.0, from.1), self.path(to.0, to.1));
        match fs::rename(&from, &to) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(NodesError::io("rename", &from)(error)),
        }
    }

    /// Removes a file, if it is there.
    pub(crate) fn remove(&self, kind: &str, name: &str) {
        let _ = fs::remove_file(self.path(kind, name));
    }

    /// Makes a file, or renews its age.
    pub(crate) fn touch(&self, kind: &str, name: &str) -> io::Result<()> {
        // The time is that of whoever keeps the folder, so that times of several machines can be compared.
        let file = File::create(self.path(kind, name))?;
        (&file).write_all(b"\n")
    }

    /// When a file was touched, by the clock of whoever keeps the folder.
    pub(crate) fn touched(&self, kind: &str, name: &str) -> Option<SystemTime> {
        fs::metadata(self.path(kind, name)).and_then(|file| file.modified()).ok()
    }

    /// Keeps a text under its hash, which is returned with this ending.
    pub(crate) fn keep(&self, contents: &[u8], ending: &str) -> Result<String, NodesError> {
        let name = format!("{}{ending}", hash(contents));
        if !self.path(STORE, &name).exists() {
            self.write(STORE, &name, contents)?;
        }
        Ok(name)
    }

    /// Keeps a file under the hash of its contents.
    pub(crate) fn keep_file(&self, path: &Path) -> Result<String, NodesError> {
        let read = || File::open(path).map_err(NodesError::io("read", path));
        let name = copy_hashing(&mut read()?, &mut io::sink()).map_err(NodesError::io("read", path))?;
        if !self.path(STORE, &name).exists() {
            let mut from = read()?;
            self.put(STORE, &name, |file| io::copy(&mut from, file).map(drop))?;
        }
        Ok(name)
    }

    /// Copies what is kept under a name to this place, where it is nearer; what does not hash to its name is an error.
    pub(crate) fn fetch(&self, name: &str, to: &Path) -> Result<(), NodesError> {
        let path = self.path(STORE, name);
        let mut from = File::open(&path).map_err(NodesError::io("read", &path))?;
        let mut file = File::create(to).map_err(NodesError::io("write", to))?;
        let found = copy_hashing(&mut from, &mut file).map_err(NodesError::io("copy", &path))?;
        match found == name {
            true => Ok(()),
            false => Err(NodesError::damaged(&path, "it does not hold what its name says")),
        }
    }

    fn put(
        &self,
        kind: &str,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), NodesError> {
        let path = self.path(kind, name);
        let number = N_WRITTEN.fetch_add(1, Ordering::Relaxed);
        let before = self.path(kind, &format!(".{}-{}-{number}", host_name(), process::id()));
        let written = File::create(&before).and_then(|mut file| write(&mut file));
        let placed = written.and_then(|()| fs::rename(&before, &path));
        placed.map_err(|error| {
            let _ = fs::remove_file(&before);
            NodesError::io("write", &path)(error)
        })
    }
}

/// Lets the names in a folder be asked anew of whoever keeps it: NFS remembers them for up to a minute unless something changes.
fn look_afresh(folder: &Path) {
    let path = folder.join(format!(".look-{}-{}", host_name(), process::id()));
    if File::create(&path).is_ok() {
        let _ = fs::remove_file(&path);
    }
}

/// The name under which this machine is known to others.
pub(crate) fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match clean(name.trim()) {
        name if name.is_empty() => "node".to_owned(),
        name => name,
    }
}

/// A name without what has a meaning in names of tasks.
pub(crate) fn clean(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

/// The first half of the SHA-256 of some bytes.
pub(crate) fn hash(bytes: &[u8]) -> String {
    name_of(Sha256::digest(bytes).as_slice())
}

fn name_of(digest: &[u8]) -> String {
    let mut name: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    name.truncate(NAME_CHARACTERS);
    name
}

fn copy_hashing(from: &mut impl Read, to: &mut impl Write) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(name_of(digest.finalize().as_slice())),
            Ok(n) => {
                digest.update(&buffer[..n]);
                to.write_all(&buffer[..n])?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let root = tempfile::tempdir().expect("made");
        let folder = Folder::at(root.path());
        folder.make().expect("made");
        (root, folder)
    }

    #[test]
    fn only_one_gets_a_file() {
        let (_root, folder) = folder();
        folder.write(OPEN, "1-x", b"task").expect("written");
        let take = |node: &str| folder.rename((OPEN, "1-x"), (TAKEN, &format!("1-x@{node}")));
        assert_eq!([take("a").expect("asked"), take("b").expect("asked")], [true, false]);
        assert_eq!(folder.names(TAKEN).expect("listed"), ["1-x@a"]);
        assert_eq!(folder.names(OPEN).expect("listed"), Vec::<String>::new());
    }

    #[test]
    fn what_changed_on_the_way_is_seen() {
        let (root, folder) = folder();
        let source = root.path().join("sample");
        fs::write(&source, vec![7; 3_000_000]).expect("written");
        let name = folder.keep_file(&source).expect("kept");
        let copy = root.path().join("copy");
        folder.fetch(&name, &copy).expect("copied");
        assert_eq!(fs::read(&copy).expect("read"), fs::read(&source).expect("read"));
        fs::write(folder.path(STORE, &name), b"other").expect("written");
        let error = folder.fetch(&name, &copy).expect_err("other contents");
        assert!(error.to_string().contains("does not hold what its name says"), "{error}");
    }

    #[test]
    fn half_a_value_is_no_value() {
        let (_root, folder) = folder();
        assert_eq!(folder.read_value::<u32>(RESULTS, "x.json").expect("asked"), None);
        folder.write(RESULTS, "x.json", b"12").expect("written");
        assert_eq!(folder.read_value(RESULTS, "x.json").expect("asked"), Some(12_u32));
        folder.write(RESULTS, "x.json", b"{\"a\":").expect("written");
        assert!(folder.read_value::<u32>(RESULTS, "x.json").is_err());
    }

    #[test]
    fn names_have_no_marks() {
        assert_eq!(clean("n 1@rack/7.site"), "n_1_rack_7.site");
    }
}
