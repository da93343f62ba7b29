//! Dependencies between the crates of a workspace: as their manifests have them, and as a document lists them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Folder of a crate, with those of the crates it depends on. Dependencies of tests and examples do not count.
pub type Edges = BTreeMap<String, BTreeSet<String>>;

/// What the manifests of these crates (folders) say. Dependencies on crates that are not among them are left out.
///
/// # Errors
/// If a manifest cannot be read.
pub fn dependencies(folders: &[impl AsRef<Path>]) -> Result<Edges, String> {
    let mut names = BTreeMap::new();
    let mut found = Vec::new();
    for folder in folders {
        let folder = folder.as_ref();
        let path = folder.join("Cargo.toml");
        let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|e| at(&e))?;
        let manifest: toml::Table = text.parse().map_err(|e: toml::de::Error| at(&e))?;
        let package = manifest.get("package").and_then(|p| p.get("name")).and_then(|n| n.as_str());
        let package = package.ok_or_else(|| at(&"no package name"))?;
        let crate_name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        names.insert(package.to_owned(), crate_name.clone());
        let mut packages = BTreeSet::new();
        let inherited = of_workspace(folder);
        let targets = manifest.get("target").and_then(|t| t.as_table()).into_iter().flat_map(|t| t.values());
        for place in std::iter::once(&toml::Value::Table(manifest.clone())).chain(targets) {
            for kind in ["dependencies", "build-dependencies"] {
                let Some(table) = place.get(kind).and_then(|d| d.as_table()) else { continue };
                for (key, value) in table {
                    let is_inherited = value.get("workspace").is_some();
                    let meant = inherited.get(key).filter(|_| is_inherited).unwrap_or(value);
                    let renamed = meant.get("package").and_then(|p| p.as_str());
                    packages.insert(renamed.unwrap_or(key).to_owned());
                }
            }
        }
        found.push((crate_name, packages));
    }
    let known = |packages: BTreeSet<String>| packages.iter().filter_map(|p| names.get(p).cloned()).collect();
    Ok(found.into_iter().map(|(name, packages)| (name, known(packages))).collect())
}

/// What a crate may inherit from its workspace.
fn of_workspace(folder: &Path) -> toml::Table {
    let dependencies = |folder: &Path| {
        let manifest: toml::Table = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?.parse().ok()?;
        manifest.get("workspace")?.get("dependencies")?.as_table().cloned()
    };
    folder.ancestors().skip(1).find_map(dependencies).unwrap_or_default()
}

/// What the table of a document lists: rows that begin with a crate's folder in code quotes, dependencies in the column
/// `depends on`, by the name of their folder. Other words in that column say nothing.
///
/// # Errors
/// If there is no such table.
pub fn listed_dependencies(document: &str) -> Result<Edges, String> {
    let cells = |line: &str| -> Vec<String> {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = document.lines().skip_while(|line| !cells(line).iter().any(|cell| cell == "depends on"));
    let head = cells(lines.next().ok_or("no table with a column `depends on`")?);
    let column = head.iter().position(|cell| cell == "depends on").unwrap_or_default();
    let rows: Vec<_> = lines.skip(1).take_while(|line| line.trim().starts_with('|')).map(cells).collect();
    let folder = |row: &[String]| row[0].trim_matches('`').rsplit('/').next().unwrap_or_default().to_owned();
    let known: BTreeSet<String> = rows.iter().map(|row| folder(row)).collect();
    let listed = |row: &[String]| -> BTreeSet<String> {
        let text = row.get(column).map(String::as_str).unwrap_or_default();
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        words.filter(|word| known.contains(*word)).map(str::to_owned).collect()
    };
    Ok(rows.iter().map(|row| (folder(row), listed(row))).collect())
}

/// Where what is found and what is listed differ, one line a crate.
pub fn disagreements(found: &Edges, listed: &Edges) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, dependencies) in found {
        let Some(listed) = listed.get(name) else {
            wrong.push(format!("{name} is not listed"));
            continue;
        };
        wrong.extend(
            dependencies.difference(listed).map(|d| format!("{name} depends on {d}, which is not listed")),
        );
        wrong.extend(
            listed
                .difference(dependencies)
                .map(|d| format!("{name} does not depend on {d}, which is listed")),
        );
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|n| n.to_string()).collect()
    }

    #[test]
    fn manifests_are_read() {
        let root = tempfile::tempdir().expect("a folder");
        let manifest = |name: &str, text: &str| {
            let folder = root.path().join(name);
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join("Cargo.toml"), text).expect("a file");
            folder
        };
        let folders = [
            manifest(
                "low",
                "[package]\nname = \"p-low\"\n[dev-dependencies]\np-high = { path = \"../high\" }\n",
            ),
            manifest(
                "mid",
                "[package]\nname = \"p-mid\"\n[dependencies.p-low]\nworkspace = true\n[dependencies]\nserde = \"1\"\n",
            ),
            manifest(
                "high",
                "[package]\nname = \"p-high\"\n[dependencies]\nother = { package = \"p-mid\", optional = true }\n\
                 [target.'cfg(unix)'.dependencies]\np-low.workspace = true\n",
            ),
        ];
        let found = dependencies(&folders).expect("manifests");
        assert_eq!(found["low"], set(&[]));
        assert_eq!(found["mid"], set(&["low"]));
        assert_eq!(found["high"], set(&["low", "mid"]));
    }

    #[test]
    fn a_planted_edge_is_found() {
        let edges = |to: &[&str]| Edges::from([("low".to_owned(), set(&[])), ("high".to_owned(), set(to))]);
        assert!(disagreements(&edges(&["low"]), &edges(&["low"])).is_empty());
        let planted = disagreements(&edges(&["low", "cli"]), &edges(&["low"]));
        assert_eq!(planted, ["high depends on cli, which is not listed"]);
        let omitted = disagreements(&edges(&["low"]), &edges(&["low", "cli"]));
        assert_eq!(omitted, ["high does not depend on cli, which is listed"]);
        assert_eq!(disagreements(&edges(&[]), &Edges::new()).len(), 2);
    }

    #[test]
    fn the_table_is_read() {
        let text = "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
                    | crate | is for | depends on | must not know |\n|---|---|---|---|\n\
                    | `crates/low` | mid and high | – | high |\n\
                    | `crates/mid` | x | low | |\n\
                    | `crates/high` | x | mid; low, to read | |\n\n| `crates/other` | | low | |\n";
        let listed = listed_dependencies(text).expect("a table");
        assert_eq!(listed.len(), 3);
        assert_eq!((&listed["low"], &listed["mid"]), (&set(&[]), &set(&["low"])));
        assert_eq!(listed["high"], set(&["low", "mid"]));
        assert!(listed_dependencies("no table").is_err());
    }
}
