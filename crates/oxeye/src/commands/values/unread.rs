//! Arrays that are stored to and that nothing reads.

use super::super::watching::WatchedFile;
use crate::session::Session;
use oxeye_ir::Storage;

/// Whether no nest of the file reads an array and nothing else in the file names it, as far as that can be told from the
/// text: true only for variables of the file or a function whose memory has no other name.
pub(super) fn is_never_read(session: &Session<'_>, watched: &WatchedFile, nest: u32, array: &str) -> bool {
    let unit = &watched.unit;
    let place = &watched.places[nest as usize];
    let (_, program, own) = place.of(unit);
    let id = own.arrays().into_iter().find(|id| program.array(*id).name == array);
    let Some(id) = id.filter(|id| !place.binding(unit).views.contains_key(id)) else { return false };
    let storage = program.array(id).storage;
    let is_alone = session.options.project.is_none()
        && session.options.compiler.sources().next().is_none()
        && !session.options.compiler.links_objects();
    let is_hidden = match storage {
        Storage::Local => true,
        Storage::Global => is_alone || is_static(&unit.source, array),
        _ => false,
    };
    // While the program was stopped being watched, anything may have been read.
    let is_read = watched.accesses.iter().any(|access| access.name == array && !access.is_store);
    is_hidden && !is_read && !watched.looked.stopped && !is_named_elsewhere(watched, array)
}

/// Whether a line that begins with `static` names the variable.
fn is_static(source: &str, name: &str) -> bool {
    source
        .lines()
        .any(|line| line.trim_start().starts_with("static") && mentions(line, name).next().is_some())
}

/// Whether the file names a variable outside of the nests that store to it, other than to declare, allocate or free it.
fn is_named_elsewhere(watched: &WatchedFile, name: &str) -> bool {
    let source = &watched.unit.source;
    let in_watched_nest = |at: usize| {
        let inside = |nest: u32| {
            watched.places.get(nest as usize).is_some_and(|p| (p.span.start..p.span.end).contains(&at))
        };
        watched.nests.iter().any(|nest| inside(nest.nest))
    };
    let mut n_declarations = 0;
    for at in mentions(source, name).filter(|at| !in_watched_nest(*at)) {
        let before = source[..at].trim_end();
        let behind = source[at + name.len()..].trim_start();
        let is_freed = before.strip_suffix('(').is_some_and(|b| b.trim_end().ends_with("free"))
            && behind.starts_with(')');
        let is_set =
            behind.starts_with('=') && !behind.starts_with("==") && before.ends_with([';', '}', '{']);
        if is_freed || is_set {
            continue;
        }
        n_declarations += 1;
    }
    n_declarations > 1
}

/// Where a text has a word.
fn mentions<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !text[..*at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}
