//! Circles of modules that import each other.
//!
//! A module imports another if its text, outside code that is only built for tests, names something that is defined
//! there, whichever way the path goes: an item that `crate::` re-exports counts as imported from where it is defined.
//! Declaring modules and re-exporting what they define is no import, so that the file of a folder may list what the
//! folder offers; using it there is one. A child may thus use what its parent defines, if the parent does not use the
//! child.

use super::tokens::{Module, Segments};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Name of a module: the names from the root, joined by `::`; empty for the root.
type Name = String;

/// A name that has not been found after so many re-exports and imports stays unknown.
const MAX_LOOKUPS: usize = 64;

/// One path that imports, and its line.
type Import = (Segments, usize);

/// Who imports whom.
type Imports = BTreeMap<(Name, Name), Import>;

/// Modules of the crate with this root file (`src/lib.rs`), by name.
struct Crate {
    modules: BTreeMap<Name, Module>,
}

/// The circles of modules of the crate with this root file, each told by one import between any two of its modules.
///
/// # Errors
/// If a file of the crate is missing or is not Rust.
pub fn circles(root: &Path) -> Result<Vec<String>, String> {
    let edges = imports(root)?;
    Ok(circles_of(edges.iter().map(|((from, to), import)| ((from.as_str(), to.as_str()), import))))
}

/// The same for folders: the modules at the top of the crate, each with all that it declares.
///
/// # Errors
/// If a file of the crate is missing or is not Rust.
pub fn circles_of_folders(root: &Path) -> Result<Vec<String>, String> {
    let edges = imports(root)?;
    let top = |name: &str| name.split("::").next().unwrap_or_default().to_owned();
    let tops: Vec<_> = edges.iter().map(|((from, to), import)| (top(from), top(to), import)).collect();
    let between = tops.iter().filter(|(from, to, _)| from != to && !from.is_empty() && !to.is_empty());
    Ok(circles_of(between.map(|(from, to, import)| ((from.as_str(), to.as_str()), *import))))
}

fn imports(root: &Path) -> Result<Imports, String> {
    let mut modules = BTreeMap::new();
    let folder = root.parent().unwrap_or(Path::new("")).to_owned();
    read(root, &folder, String::new(), &mut modules)?;
    Ok(Crate { modules }.imports())
}

fn circles_of<'a>(edges: impl Iterator<Item = ((&'a str, &'a str), &'a Import)>) -> Vec<String> {
    let edges: BTreeMap<_, _> = edges.collect();
    let mut graph = DiGraphMap::<&str, ()>::new();
    for (from, to) in edges.keys() {
        graph.add_edge(from, to, ());
    }
    let mut circles = Vec::new();
    for mut members in tarjan_scc(&graph).into_iter().filter(|members| members.len() > 1) {
        members.sort_unstable();
        let inside = |name: &str| members.contains(&name);
        let shown = |name: &str| if name.is_empty() { "the root".to_owned() } else { format!("`{name}`") };
        let mut text = format!("{} modules import each other:", members.len());
        for ((from, to), (path, line)) in edges.iter().filter(|((from, to), _)| inside(from) && inside(to)) {
            text += &format!("\n  {} imports {}: `{}`, line {line}", shown(from), shown(to), path.join("::"));
        }
        circles.push(text);
    }
    circles.sort();
    circles
}

/// Reads a file and those of its modules. `folder` is where its inner modules are.
fn read(file: &Path, folder: &Path, name: Name, out: &mut BTreeMap<Name, Module>) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let tokens = text.parse().map_err(|e| format!("{}: {e}", file.display()))?;
    read_module(Module::read(tokens), folder, name, out)
}

fn read_module(
    mut module: Module,
    folder: &Path,
    name: Name,
    out: &mut BTreeMap<Name, Module>,
) -> Result<(), String> {
    for (inner, text) in &mut module.inner {
        let inner_name = joined(&name, inner);
        let inner_folder: PathBuf = folder.join(inner);
        match text.take() {
            Some(text) => read_module(Module::read(text), &inner_folder, inner_name, out)?,
            None => {
                let candidates = [folder.join(format!("{inner}.rs")), inner_folder.join("mod.rs")];
                let file = candidates.iter().find(|path| path.exists());
                let file =
                    file.ok_or_else(|| format!("no file for module `{inner_name}` in {}", folder.display()))?;
                read(file, &inner_folder, inner_name, out)?;
            }
        }
    }
    out.insert(name, module);
    Ok(())
}

fn joined(name: &str, inner: &str) -> Name {
    if name.is_empty() { inner.to_owned() } else { format!("{name}::{inner}") }
}

impl Crate {
    /// Who imports whom, with one path that does and its line.
    fn imports(&self) -> Imports {
        let mut edges = BTreeMap::new();
        for (name, module) in &self.modules {
            for (path, line) in &module.paths {
                if let Some(target) =
                    self.resolve(name, path, false, &mut BTreeSet::new()).filter(|target| target != name)
                {
                    edges.entry((name.clone(), target)).or_insert_with(|| (path.clone(), *line));
                }
            }
        }
        edges
    }

    /// The module that defines what `path` names in the module `from`; nothing if that is outside the crate. What is not
    /// seen to be defined (by a macro, say) is taken to be where the path looks for it, unless it `must_be_seen`. `asked` are
    /// the modules and names that were looked up on the way, as re-exports may lead in circles.
    fn resolve(
        &self,
        from: &str,
        path: &[String],
        must_be_seen: bool,
        asked: &mut BTreeSet<(Name, String)>,
    ) -> Option<Name> {
        let mut here = from.to_owned();
        let mut at = 0;
        let is_anchored = matches!(path.first().map(String::as_str), Some("crate" | "self" | "super"));
        while let Some(word) = path.get(at) {
            match word.as_str() {
                "crate" => here.clear(),
                "self" => {}
                "super" => here = here.rsplit_once("::").map(|(up, _)| up.to_owned()).unwrap_or_default(),
                _ => break,
            }
            at += 1;
        }
        while let Some(word) = path.get(at) {
            let module = self.modules.get(&here)?;
            let inner = joined(&here, word);
            if self.modules.contains_key(&inner) {
                here = inner;
            } else if module.items.contains(word) || word == "*" {
                return Some(here);
            } else {
                if asked.len() == MAX_LOOKUPS || !asked.insert((here.clone(), word.clone())) {
                    return None;
                }
                let named =
                    [&module.exports, &module.imports].into_iter().filter_map(|names| names.get(word));
                let all = [&module.exports, &module.imports].into_iter().filter_map(|names| names.get("*"));
                let named = named.flatten().find_map(|target| self.resolve(&here, target, false, asked));
                let rest = &path[at..];
                let named = named.map(|target| self.deeper(target, &rest[1..], asked));
                let found = named.or_else(|| {
                    all.flatten().find_map(|target| {
                        let target = [&target[..target.len() - 1], rest].concat();
                        self.resolve(&here, &target, true, asked).filter(|found| *found != here)
                    })
                });
                return found.or_else(|| (at > 0 && !must_be_seen).then_some(here));
            }
            at += 1;
        }
        // A single word that is also a module's name is some variable.
        (is_anchored || path.len() > 1).then_some(here)
    }

    /// What `rest` names in a module that a `use` led to; items have no modules inside.
    fn deeper(&self, module: Name, rest: &[String], asked: &mut BTreeSet<(Name, String)>) -> Name {
        match rest.is_empty() {
            true => module,
            false => self.resolve(&module, rest, false, asked).unwrap_or(module),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Circles of a crate with these files.
    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        circles(&folder.path().join("lib.rs")).expect("a crate")
    }

    #[test]
    fn a_straight_crate_has_none() {
        let found = circles_of(&[
            ("lib.rs", "//! Doc.\nmod low;\nmod high;\npub use high::High;\npub use low::*;\n"),
            ("low.rs", "pub struct Low;\npub fn high() {}\n#[cfg(test)]\nmod tests { use crate::High; }\n"),
            (
                "high/mod.rs",
                "mod part;\npub use part::part;\nuse crate::Low;\npub struct High(pub Low);\npub const LOW: Low = crate::low::Low;\n",
            ),
            (
                "high/part.rs",
                "use super::High;\nuse crate::Low;\npub fn part(x: High) -> Low { let part: Low = x.0; part }\n",
            ),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn planted_circles_are_found() {
        let two = |a: &str, b: &str| {
            circles_of(&[
                ("lib.rs", "mod a;\nmod b;\npub use a::A;\npub use b::*;\n"),
                ("a.rs", a),
                ("b.rs", b),
            ])
        };
        // Directly, by way of a re-export, of a glob, inside a group, in an expression, in a macro, with another name.
        for b in [
            "use crate::a::A;\npub struct B;",
            "use crate::A;\npub struct B;",
            "use super::*;\npub struct B(A);",
            "use crate::{a::{self, A as C}};\npub struct B(C);",
            "pub struct B;\nfn f() { crate::a::A::new(); }",
            "pub struct B;\nfn f() { println!(\"{}\", super::a::f()); }",
            "use super::a as other;\npub struct B;",
        ] {
            let found = two("use crate::B;\npub struct A;", b);
            assert_eq!(found.len(), 1, "{b}");
            assert!(found[0].contains("`a` imports `b`: `crate::B`, line 1"), "{}", found[0]);
        }
        assert!(two("pub struct A;", "use crate::A;\npub struct B;").is_empty());
    }

    #[test]
    fn a_parent_that_uses_a_child_is_not_used_by_it() {
        let crate_of = |parent: &str, child: &str| {
            let parent = format!("mod child;\npub use child::Child;\npub struct Parent;\n{parent}");
            circles_of(&[
                ("lib.rs", "pub mod parent;"),
                ("parent/mod.rs", &parent),
                ("parent/child.rs", child),
            ])
        };
        let child = "use super::Parent;\npub struct Child(Parent);";
        assert!(crate_of("", child).is_empty());
        assert!(crate_of("fn f(_: Child) {}", "pub struct Child;").is_empty());
        assert_eq!(crate_of("fn f(_: Child) {}", child).len(), 1);
        assert_eq!(crate_of("use child::Child as C;", child).len(), 1);
    }

    #[test]
    fn long_circles_and_inline_modules_are_found() {
        let found = circles_of(&[
            ("lib.rs", "mod a;\nmod b { pub fn b() { crate::c::c() } }\nmod c;\n"),
            ("a.rs", "pub fn a() { crate::b::b() }"),
            ("c.rs", "pub fn c() { super::a::a() }"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("3 modules import each other"), "{}", found[0]);
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("lib.rs");
        std::fs::write(&root, "mod absent;").expect("a file");
        assert!(circles(&root).expect_err("no file").contains("`absent`"));
    }
}
