//! Applying a patch to a text, as `git apply` does.

use std::path::Path;

/// Some lines that are replaced, each with its end.
struct Hunk {
    /// The line it begins at in the text before, from 0.
    line: usize,
    before: Vec<String>,
    after: Vec<String>,
    /// Whether the last line that was read belongs to the text before, and to that after.
    last: (bool, bool),
}

/// The text of a file with a patch in it. Hunks may have moved, but their lines must all be there.
///
/// # Errors
/// Why it does not apply.
pub(super) fn patched(patch: &str, path: &Path, text: &str) -> Result<String, String> {
    let hunks = hunks(patch, path);
    if hunks.is_empty() {
        return Err("it does not change the file".into());
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut out = String::new();
    let (mut done, mut moved) = (0, 0);
    for hunk in &hunks {
        let fits = |at: usize| {
            at >= done
                && lines.get(at..at + hunk.before.len()).is_some_and(|found| found.iter().eq(&hunk.before))
        };
        let expected = hunk.line as isize + moved;
        let at = (0..=lines.len() as isize)
            .flat_map(|by| [expected + by, expected - by])
            .filter_map(|at| usize::try_from(at).ok())
            .find(|at| fits(*at))
            .ok_or_else(|| format!("the lines at {} have changed", hunk.line + 1))?;
        out.extend(lines[done..at].iter().copied());
        out.extend(hunk.after.iter().map(String::as_str));
        done = at + hunk.before.len();
        moved = at as isize - hunk.line as isize;
    }
    out.extend(lines[done..].iter().copied());
    Ok(out)
}

/// The hunks of a unified diff that are about a file.
fn hunks(patch: &str, path: &Path) -> Vec<Hunk> {
    let name = |line: &str| {
        let name = line.split('\t').next().unwrap_or_default().trim_end();
        let name = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
        Path::new(name) == path
    };
    let mut found: Vec<Hunk> = Vec::new();
    let mut is_ours = false;
    // Lines of the present hunk that are still to come, before and after: a removed `-- x` is no heading.
    let mut left = (0usize, 0usize);
    for line in patch.split_inclusive('\n') {
        if left == (0, 0) {
            if let Some(file) = line.strip_prefix("--- ") {
                is_ours = name(file);
            } else if let Some(head) = line.strip_prefix("@@ -") {
                let Some((start, sizes)) = head_of(head) else { continue };
                left = sizes;
                if is_ours {
                    let line = if sizes.0 == 0 { start } else { start.saturating_sub(1) };
                    found.push(Hunk { line, before: Vec::new(), after: Vec::new(), last: (false, false) });
                }
            } else if line.starts_with('\\')
                && is_ours
                && let Some(hunk) = found.last_mut()
            {
                without_end(hunk);
            }
            continue;
        }
        let (mark, rest) = line.split_at_checked(1).unwrap_or((" ", "\n"));
        let (is_before, is_after) = match mark {
            "-" => (true, false),
            "+" => (false, true),
            "\\" => {
                if let Some(hunk) = found.last_mut().filter(|_| is_ours) {
                    without_end(hunk);
                }
                continue;
            }
            // Some editors take away the blank of an empty line.
            "\n" => (true, true),
            _ => (true, true),
        };
        let rest = if mark == "\n" { "\n" } else { rest };
        left.0 = left.0.saturating_sub(usize::from(is_before));
        left.1 = left.1.saturating_sub(usize::from(is_after));
        let Some(hunk) = found.last_mut().filter(|_| is_ours) else { continue };
        if is_before {
            hunk.before.push(rest.to_owned());
        }
        if is_after {
            hunk.after.push(rest.to_owned());
        }
        hunk.last = (is_before, is_after);
    }
    found
}

/// First line and numbers of lines of `12,3 +14,5 @@`.
fn head_of(head: &str) -> Option<(usize, (usize, usize))> {
    let (before, rest) = head.split_once(" +")?;
    let (after, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((start, n)) => Some((start.parse().ok()?, n.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((start, n_before), (_, n_after)) = (range(before)?, range(after)?);
    Some((start, (n_before, n_after)))
}

/// The last line of the hunk ends the file without a line end.
fn without_end(hunk: &mut Hunk) {
    let (before, after) = hunk.last;
    for (lines, is_it) in [(&mut hunk.before, before), (&mut hunk.after, after)] {
        if let Some(line) = lines.last_mut().filter(|_| is_it)
            && line.ends_with('\n')
        {
            line.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::changes::TuneOutput;
    use super::*;
    use crate::written::ChangedFile;

    fn patch_of(before: &str, after: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.patch");
        let file = |name: &str, before: &str, after: &str| ChangedFile {
            path: folder.path().join(name),
            before: before.into(),
            after: after.into(),
        };
        let files = [file("other.c", "-- a\n", "++ b\n"), file("my src/a.c", before, after)];
        TuneOutput::Patch(path.clone()).write(&files, folder.path()).expect("written");
        std::fs::read_to_string(path).expect("a patch")
    }

    const BEFORE: &str = "one\r\n\ntwo\n-- three\nfour\nfive\nsix\nseven\neight\nnine\nten\nlast";

    #[test]
    fn what_was_written_applies_also_where_it_has_moved() {
        let path = Path::new("my src/a.c");
        let after = BEFORE.replace("two\n-- three", "2\n++ 3\nmore").replace("last", "end");
        let patch = patch_of(BEFORE, &after);
        assert_eq!(patched(&patch, path, BEFORE).as_deref(), Ok(after.as_str()));
        let moved = format!("new\nnew\n{}", BEFORE.replace("six", "six\nand a half"));
        let wanted = format!("new\nnew\n{}", after.replace("six", "six\nand a half"));
        assert_eq!(patched(&patch, path, &moved), Ok(wanted));
        let changed = BEFORE.replace("four", "for");
        assert!(patched(&patch, path, &changed).is_err_and(|why| why.contains("lines at 1 ")));
        assert!(patched(&patch, Path::new("b.c"), BEFORE).is_err_and(|why| why.contains("does not change")));
    }
}
