//! The graph of a build: which sources go into which programs and libraries.

use crate::command::{Drive, Part, Step, normal, step};
use crate::observe::ToolCall;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Position of a unit in a project.
pub type UnitIdx = usize;

/// What the commands of a build tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Project {
    /// The sources that are compiled, each with the object it becomes.
    pub units: Vec<Unit>,
    /// The programs and shared libraries that are linked.
    pub products: Vec<Product>,
    /// Copies of files: from, to.
    copies: Vec<(PathBuf, PathBuf)>,
}

/// A source file and how it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The file.
    pub source: PathBuf,
    /// The compiler.
    pub compiler: String,
    /// Its flags, without `-c`, `-o`, inputs, and what only concerns linking; relative paths are made absolute.
    pub flags: Vec<String>,
    /// Where the compiler is called.
    pub folder: PathBuf,
    /// The object that the user's build makes; `None` for the temporary one of a command that compiles and links.
    pub object: Option<PathBuf>,
}

impl Unit {
    /// Whether it is C, which Oxeye reads.
    pub fn is_c(&self) -> bool {
        self.source.extension().is_some_and(|extension| extension == "c")
    }
}

/// A program or a shared library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// The file.
    pub output: PathBuf,
    /// Whether it is a shared library.
    pub is_library: bool,
    /// What links it.
    pub linker: String,
    /// Where that is called.
    pub folder: PathBuf,
    /// The words of the command, but for `-o` and the output.
    pub words: Vec<Word>,
}

/// A word of a command that links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A flag, or an argument of one.
    Flag(String),
    /// The object of a unit.
    Unit(UnitIdx),
    /// An archive that the build makes of these.
    Archive(Vec<Member>),
    /// Another file: an object of unknown origin, an archive, a library.
    File(PathBuf),
}

/// What an archive is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// The object of a unit.
    Unit(UnitIdx),
    /// An object of unknown origin.
    File(PathBuf),
}

/// Flags of the compiler driver that only concern linking.
fn is_for_linking(flag: &str) -> bool {
    const WHOLE: [&str; 13] = [
        "-shared",
        "-static",
        "-static-libgcc",
        "-rdynamic",
        "-pie",
        "-no-pie",
        "-static-pie",
        "-nostartfiles",
        "-nodefaultlibs",
        "-nostdlib",
        "-Xlinker",
        "-l",
        "-L",
    ];
    WHOLE.contains(&flag) || ["-l", "-L", "-Wl,", "-fuse-ld="].iter().any(|start| flag.starts_with(start))
}

const SOURCES: [&str; 18] = [
    "c", "cc", "cpp", "cxx", "c++", "C", "f", "F", "f90", "F90", "f95", "F95", "f03", "f08", "for", "s", "S",
    "m",
];

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| SOURCES.iter().any(|s| extension == *s))
}

impl Project {
    /// The graph of these calls. What is made twice counts as it is made last.
    pub fn of(calls: &[ToolCall]) -> Project {
        let mut project = Project::default();
        let mut made = Made::default();
        for call in calls {
            match step(call) {
                Some(Step::Archive { archive, members }) => {
                    let members = members.into_iter().map(|path| made.member(&path)).collect::<Vec<_>>();
                    let known = made.archives.entry(archive).or_default();
                    known.retain(|member| !members.contains(member));
                    known.extend(members);
                }
                Some(Step::Copy { from, to }) => {
                    if let Some(unit) = made.objects.get(&from).copied() {
                        made.objects.insert(to.clone(), unit);
                    }
                    if let Some(members) = made.archives.get(&from).cloned() {
                        made.archives.insert(to.clone(), members);
                    }
                    project.copies.push((from, to));
                }
                Some(Step::Drive(drive)) => project.drive(drive, &mut made),
                None => {}
            }
        }
        project
    }

    fn drive(&mut self, drive: Drive, made: &mut Made) {
        let links = !drive.compiles_only;
        let flags = || {
            drive.parts.iter().filter_map(|part| match part {
                Part::Flag(words) => Some(words),
                Part::Input(_) => None,
            })
        };
        let for_compiling: Vec<String> =
            flags().filter(|words| !is_for_linking(&words[0])).flatten().cloned().collect();
        let folders: Vec<PathBuf> = library_folders(&drive);
        let mut words = Vec::new();
        for part in &drive.parts {
            match part {
                Part::Flag(flag) => match library(flag, &folders, made) {
                    Some(word) if links => words.push(word),
                    _ => words.extend(flag.iter().cloned().map(Word::Flag)),
                },
                Part::Input(path) if is_source(path) => {
                    let object = match (links, &drive.output) {
                        (true, _) => None,
                        (false, Some(output)) => Some(output.clone()),
                        (false, None) => path
                            .file_name()
                            .map(|name| normal(&drive.folder.join(Path::new(name).with_extension("o")))),
                    };
                    let unit = Unit {
                        source: path.clone(),
                        compiler: drive.tool.clone(),
                        flags: for_compiling.clone(),
                        folder: drive.folder.clone(),
                        object: object.clone(),
                    };
                    self.units.push(unit);
                    let idx = self.units.len() - 1;
                    if let Some(object) = object {
                        made.objects.insert(object, idx);
                    }
                    words.push(Word::Unit(idx));
                }
                Part::Input(path) => words.push(made.word(path)),
            }
        }
        if links {
            let output = drive.output.clone().unwrap_or_else(|| normal(&drive.folder.join("a.out")));
            let is_library = flags().any(|words| words[0] == "-shared");
            self.products.retain(|product| product.output != output);
            self.products.push(Product {
                output,
                is_library,
                linker: drive.tool,
                folder: drive.folder,
                words,
            });
        }
    }

    /// The product that this file is, or is a copy of.
    pub fn product_at(&self, path: &Path) -> Option<&Product> {
        let path = normal(path);
        let mut names = vec![path];
        // Backwards, from the last copy to the first.
        for (from, to) in self.copies.iter().rev() {
            if names.contains(to) {
                names.push(from.clone());
            }
        }
        self.products.iter().rev().find(|product| names.contains(&product.output))
    }

    /// All files that a product is known as: its own, and copies.
    pub fn names_of(&self, product: &Product) -> Vec<PathBuf> {
        let mut names = vec![product.output.clone()];
        for (from, to) in &self.copies {
            if names.contains(from) && !names.contains(to) {
                names.push(to.clone());
            }
        }
        names
    }
}

impl Product {
    /// The units that are linked into it, archives included.
    pub fn units(&self) -> Vec<UnitIdx> {
        let mut units: Vec<UnitIdx> = Vec::new();
        for word in &self.words {
            match word {
                Word::Unit(unit) => units.push(*unit),
                Word::Archive(members) => units.extend(members.iter().filter_map(|member| match member {
                    Member::Unit(unit) => Some(*unit),
                    Member::File(_) => None,
                })),
                _ => {}
            }
        }
        units.sort_unstable();
        units.dedup();
        units
    }

    /// Object files of which the build does not tell what they are made of.
    pub fn foreign_objects(&self) -> Vec<&Path> {
        fn of_member(member: &Member) -> Option<&Path> {
            match member {
                Member::File(path) => Some(path.as_path()),
                Member::Unit(_) => None,
            }
        }
        let mut found = Vec::new();
        for word in &self.words {
            match word {
                Word::File(path) => found.push(path.as_path()),
                Word::Archive(members) => found.extend(members.iter().filter_map(of_member)),
                Word::Flag(_) | Word::Unit(_) => {}
            }
        }
        found.retain(|path| path.extension().is_some_and(|extension| extension == "o"));
        found
    }

    /// Libraries among its words, and where they are looked for.
    pub fn libraries(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            match word {
                Word::Flag(flag) if flag == "-l" || flag == "-L" => {
                    if let Some(Word::Flag(name)) = words.next() {
                        found.push(format!("{flag}{name}"));
                    }
                }
                Word::Flag(flag)
                    if flag.starts_with("-l") || flag.starts_with("-L") || flag == "-pthread" =>
                {
                    found.push(flag.clone());
                }
                _ => {}
            }
        }
        found
    }
}

/// What the commands so far have made.
#[derive(Default)]
struct Made {
    objects: HashMap<PathBuf, UnitIdx>,
    archives: HashMap<PathBuf, Vec<Member>>,
}

impl Made {
    fn member(&self, path: &Path) -> Member {
        self.objects.get(path).map_or_else(|| Member::File(path.to_owned()), |unit| Member::Unit(*unit))
    }

    fn word(&self, path: &Path) -> Word {
        if let Some(unit) = self.objects.get(path) {
            return Word::Unit(*unit);
        }
        match self.archives.get(path) {
            Some(members) => Word::Archive(members.clone()),
            None => Word::File(path.to_owned()),
        }
    }
}

fn library_folders(drive: &Drive) -> Vec<PathBuf> {
    let folder = |part: &Part| match part {
        Part::Flag(words) => match words.as_slice() {
            [flag, folder] if flag == "-L" => Some(folder.into()),
            [flag] => flag.strip_prefix("-L").map(PathBuf::from),
            _ => None,
        },
        Part::Input(_) => None,
    };
    drive.parts.iter().filter_map(folder).map(|path: PathBuf| drive.folder.join(path)).collect()
}

/// `-lname`, where that is an archive that the build makes.
fn library(flag: &[String], folders: &[PathBuf], made: &Made) -> Option<Word> {
    let name = match flag {
        [l, name] if l == "-l" => name.as_str(),
        [flag] => flag.strip_prefix("-l")?,
        _ => return None,
    };
    for folder in folders {
        if folder.join(format!("lib{name}.so")).exists() {
            return None;
        }
        let archive = normal(&folder.join(format!("lib{name}.a")));
        if let Some(members) = made.archives.get(&archive) {
            return Some(Word::Archive(members.clone()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(lines: &[&str]) -> Project {
        let call =
            |line: &&str| ToolCall { folder: "/nowhere".into(), words: shlex::split(line).expect("words") };
        Project::of(&lines.iter().map(call).collect::<Vec<_>>())
    }

    fn sources(project: &Project, product: &Product) -> Vec<String> {
        let name =
            |unit: UnitIdx| project.units[unit].source.file_name().expect("a name").to_string_lossy().into();
        product.units().into_iter().map(name).collect()
    }

    #[test]
    fn objects_archives_and_copies_lead_to_their_sources() {
        let project = project(&[
            "gcc -O2 -c a.c",
            "gcc -O3 -DX -c b.c -o obj/b.o",
            "gcc -c c.c",
            "ar rc libx.a obj/b.o c.o",
            "ar r libx.a foreign.o",
            "gcc -o prog a.o main.c -L. -lx -lm",
            "cp prog bin",
        ]);
        let product = project.product_at(Path::new("/nowhere/bin")).expect("a product");
        assert_eq!(product.output, Path::new("/nowhere/prog"));
        assert_eq!(sources(&project, product), ["a.c", "b.c", "c.c", "main.c"]);
        assert_eq!(project.units[1].flags, ["-O3", "-DX"]);
        assert_eq!(project.names_of(product).len(), 2);
        assert_eq!(product.libraries(), ["-L.", "-lm"]);
    }

    #[test]
    fn one_source_may_go_into_two_programs_with_other_flags() {
        let project = project(&[
            "gcc -O2 -DN=1 a.c -o one",
            "gcc -O3 -DN=2 a.c -o two -lm",
            "gcc -shared -fPIC a.c -o x.so",
        ]);
        let of = |name: &str| project.product_at(Path::new(name)).expect("a product");
        assert_eq!(project.units[of("/nowhere/two").units()[0]].flags, ["-O3", "-DN=2"]);
        assert_eq!(project.units[of("/nowhere/one").units()[0]].flags, ["-O2", "-DN=1"]);
        assert!(of("/nowhere/x.so").is_library && !of("/nowhere/one").is_library);
    }
}
