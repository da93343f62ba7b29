//! The symbols of object files and archives.

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::Path;

/// Names that an object defines for others, and those that it expects from them.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    pub(crate) defined: BTreeSet<String>,
    pub(crate) undefined: BTreeSet<String>,
}

impl Symbols {
    /// Those of an object or an archive; none of what is neither.
    pub(crate) fn of(path: &Path) -> Symbols {
        let mut symbols = Symbols::default();
        let bytes = std::fs::read(path).unwrap_or_default();
        match ArchiveFile::parse(bytes.as_slice()) {
            Ok(archive) => {
                for member in archive.members().flatten() {
                    symbols.add(member.data(bytes.as_slice()).unwrap_or_default());
                }
            }
            Err(_) => symbols.add(&bytes),
        }
        symbols
    }

    fn add(&mut self, bytes: &[u8]) {
        let Ok(file) = object::File::parse(bytes) else { return };
        for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
            let Ok(name) = symbol.name() else { continue };
            match symbol.is_undefined() {
                true => self.undefined.insert(name.to_owned()),
                false => self.defined.insert(name.to_owned()),
            };
        }
    }
}
