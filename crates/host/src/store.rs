//! Profiles on disk.

use crate::error::HostError;
use crate::profile::{HostKey, HostProfile, SCHEMA};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of host profiles, one file for each [`HostKey`]. Any number of processes may use it at once: files are
/// written beside and renamed, and writers take turns.
#[derive(Clone, Debug)]
pub struct ProfileStore {
    folder: PathBuf,
}

impl ProfileStore {
    /// Profiles in this folder, which need not exist yet.
    pub fn at(folder: impl Into<PathBuf>) -> ProfileStore {
        ProfileStore { folder: folder.into() }
    }

    /// The path of the profile of a machine.
    pub fn path(&self, key: &HostKey) -> PathBuf {
        self.folder.join(file_name(key))
    }

    /// The profile of a machine, `None` when there is no file.
    ///
    /// # Errors
    /// [`HostError::Damaged`] for a file that is no profile of this schema and machine, [`HostError::Io`] for one that
    /// cannot be read.
    pub fn load(&self, key: &HostKey) -> Result<Option<HostProfile>, HostError> {
        let path = self.path(key);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(HostError::Io { action: "read", path, source }),
        };
        match parse(&bytes, key) {
            Ok(profile) => Ok(Some(profile)),
            Err(why) => Err(HostError::Damaged { path, why }),
        }
    }

    /// Stores a profile and returns which one is in the file afterwards. A provisional one never replaces one that is
    /// not, and a brief one never a thorough one of the same standing. Of two provisional ones the ceilings are raised
    /// to the higher of both: noise only hides them. A damaged file is set aside first, and keeps its name with
    /// `.damaged` behind it.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn save(&self, profile: &HostProfile) -> Result<Kept, HostError> {
        let _lock = self.lock()?;
        let (old, set_aside) = match self.load(&profile.key) {
            Ok(old) => (old, None),
            Err(HostError::Damaged { path, why }) => (None, Some((self.set_aside(&path)?, why))),
            Err(_) => (None, None),
        };
        // Lower is better.
        let standing = |p: &HostProfile| (p.is_provisional(), !p.thorough);
        let are_provisional = |old: &HostProfile| old.is_provisional() && profile.is_provisional();
        match old {
            Some(mut old) if standing(&old) < standing(profile) => {
                if are_provisional(&old) {
                    old.raise_to(profile);
                    self.write(&old)?;
                }
                Ok(Kept::Old(Box::new(old)))
            }
            Some(old) if are_provisional(&old) => {
                let mut raised = profile.clone();
                raised.raise_to(&old);
                Ok(Kept::New { path: self.write(&raised)?, set_aside })
            }
            _ => Ok(Kept::New { path: self.write(profile)?, set_aside }),
        }
    }

    /// Changes the ceilings of a provisional profile by `raise`, which returns whether it changed any; so does this.
    /// Anything else in the file stays.
    ///
    /// # Errors
    /// As [`ProfileStore::load`] and [`ProfileStore::save`].
    pub fn raise(
        &self,
        key: &HostKey,
        raise: &mut dyn FnMut(&mut HostProfile) -> bool,
    ) -> Result<bool, HostError> {
        let _lock = self.lock()?;
        let Some(mut profile) = self.load(key)?.filter(HostProfile::is_provisional) else {
            return Ok(false);
        };
        let is_raised = raise(&mut profile);
        if is_raised {
            self.write(&profile)?;
        }
        Ok(is_raised)
    }

    /// Keeps others from writing while the file is open, so that nothing happens between reading and renaming.
    fn lock(&self) -> Result<File, HostError> {
        std::fs::create_dir_all(&self.folder).map_err(io("create", &self.folder))?;
        let path = self.folder.join(".lock");
        let lock = File::create(&path).map_err(io("create", &path))?;
        lock.lock().map_err(io("lock", &path))?;
        Ok(lock)
    }

    fn write(&self, profile: &HostProfile) -> Result<PathBuf, HostError> {
        let path = self.path(&profile.key);
        let mut text = serde_json::to_string_pretty(profile)
            .map_err(|e| io("write", &path)(std::io::Error::other(e)))?;
        text.push('\n');
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(io("write in", &self.folder))?;
        file.write_all(text.as_bytes()).map_err(io("write", &path))?;
        file.persist(&path).map_err(|e| io("write", &path)(e.error))?;
        Ok(path)
    }

    /// Renames a file that is not a profile, and returns its new name.
    fn set_aside(&self, path: &Path) -> Result<PathBuf, HostError> {
        let aside = |n: u32| {
            let mut name = path.file_name().map_or_else(OsString::new, ToOwned::to_owned);
            name.push(if n == 0 { ".damaged".to_owned() } else { format!(".damaged-{n}") });
            path.with_file_name(name)
        };
        // There are few; should there be many, the last one is overwritten.
        let free = (0..100).map(aside).find(|name| !name.exists()).unwrap_or_else(|| aside(100));
        let failed = |source| HostError::Io { action: "set aside", path: path.to_path_buf(), source };
        std::fs::rename(path, &free).map_err(failed)?;
        Ok(free)
    }
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> HostError {
    let path = path.to_path_buf();
    move |source| HostError::Io { action, path, source }
}

/// What [`ProfileStore::save`] did.
#[derive(Debug)]
pub enum Kept {
    /// The profile is in the file now.
    New {
        /// The file.
        path: PathBuf,
        /// The new name of a damaged file that was there before, and what was wrong with it.
        set_aside: Option<(PathBuf, String)>,
    },
    /// There was a better one, which stays.
    Old(Box<HostProfile>),
}

/// The folder of this user's profiles: `$OXEYE_CACHE/hosts`, else `$XDG_CACHE_HOME/oxeye/hosts`, else
/// `~/.cache/oxeye/hosts`; where no such variable is set, `oxeye/hosts` in the folder for temporary files.
pub fn cache_folder() -> PathBuf {
    let named = folder_from(|name| std::env::var_os(name));
    named.unwrap_or_else(|| std::env::temp_dir().join("oxeye").join("hosts"))
}

fn folder_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    // The XDG specification says to ignore paths that are not absolute.
    let cache = || folder("XDG_CACHE_HOME").filter(|p| p.is_absolute());
    let oxeye = folder("OXEYE_CACHE")
        .or_else(|| Some(cache()?.join("oxeye")))
        .or_else(|| Some(folder("HOME")?.join(".cache").join("oxeye")));
    Some(oxeye?.join("hosts"))
}

/// The letters and digits of the key, and a checksum of all of it.
fn file_name(key: &HostKey) -> String {
    let whole = format!("{}\n{}\n{}\n{}", key.cpu_model, key.microcode, key.cores, key.threads);
    let shown = format!("{}-{}-{}c{}t", key.cpu_model, key.microcode, key.cores, key.threads);
    let plain: String = shown.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let short: String = words.join("-").chars().take(100).collect();
    format!("{short}-{:08x}.json", fnv1a(whole.as_bytes()))
}

/// The 32-bit FNV-1a checksum (Fowler, Noll, Vo).
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn parse(bytes: &[u8], key: &HostKey) -> Result<HostProfile, String> {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: String,
    }
    let head: Head = serde_json::from_slice(bytes).map_err(|e| format!("it is not a host profile: {e}"))?;
    if head.schema != SCHEMA {
        return Err(format!("its schema is `{}`, not `{SCHEMA}`", head.schema));
    }
    let profile: HostProfile =
        serde_json::from_slice(bytes).map_err(|e| format!("it does not follow `{SCHEMA}`: {e}"))?;
    if profile.key != *key {
        return Err("it is the profile of another machine".into());
    }
    if !profile.is_sound() {
        return Err("it has figures that are not positive numbers".into());
    }
    Ok(profile)
}

#[cfg(test)]
mod tests;
