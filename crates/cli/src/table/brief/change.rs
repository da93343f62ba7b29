//! What was done to a nest, in plain words.

use oxeye::NestReport;

/// The parts of what was done, the most telling first: later ones may be left out. The sizes that new code is for come last.
pub(super) fn parts(nest: &NestReport) -> Vec<String> {
    let is_step = |name: &str| nest.steps.iter().any(|step| step.split(' ').next() == Some(name));
    let mut parts: Vec<String> = Vec::new();
    for part in nest.recipe.iter().flat_map(|recipe| recipe.split(", ")) {
        parts.extend(plain(part).filter(|part| !parts.contains(part)));
    }
    if parts.is_empty() {
        parts.extend(steps(nest));
    }
    let is_threaded = is_step("parallelize") || nest.steps.iter().any(|step| is_shared(step));
    if is_threaded {
        parts.insert(parts.len().min(1), "threads".into());
    }
    if parts.is_empty() {
        parts.push(if is_step("vectorize") { "vector loops".into() } else { "rewritten".into() });
    }
    if let Some(guard) = &nest.guard {
        let condition = guard.condition();
        parts.extend((!condition.is_empty()).then(|| format!("where {condition}")));
        let threads = guard.condition_of_threads().filter(|_| is_threaded);
        parts.extend(threads.map(|condition| format!("threads where {condition}")));
    }
    parts
}

/// What the steps do, but for threads and vectors.
fn steps(nest: &NestReport) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for step in &nest.steps {
        let name = step.split(' ').next().unwrap_or_default();
        let text = match name {
            "normalize" | "parallelize" | "vectorize" => continue,
            "interchange" => "interchanged".into(),
            "reorder" => "reordered".into(),
            "tile" => "tiled".into(),
            name => name.replace('_', " "),
        };
        all.extend(Some(text).filter(|text| !all.contains(text)));
    }
    all
}

/// Whether threads share what this step makes.
fn is_shared(step: &str) -> bool {
    step.split(' ').any(|word| word == "parallel")
}

/// What is made of the values of an array: `guard_zeros of x`.
fn of_values(part: &str) -> String {
    match part.split_once(" of ") {
        Some(("specialise", array)) => format!("special for the values of {array}"),
        Some(("guard_zeros" | "compact_zeros", array)) => format!("zeros of {array} skipped"),
        Some(("split_zeros", array)) => format!("zeros of {array} split off"),
        _ => part.replace('_', " "),
    }
}

/// A part of the name of a recipe; `None` for what says little, or is said otherwise.
fn plain(part: &str) -> Option<String> {
    let word = part.split(' ').next().unwrap_or_default();
    let text = match part {
        "original order" | "one thread" | "dynamic shares" | "equal shares" | "no vector loops" => {
            return None;
        }
        "contract" => "packed into blocks".into(),
        "distributed" => "split".into(),
        "all of its values" => "special for its values".into(),
        "normal form" => "split".into(),
        "order of the normal form" => "split and reordered".into(),
        "memory order" | "parallel outer loops" => "reordered".into(),
        // The steps of another nest's recipe, and sizes of blocks and batches.
        _ if part.starts_with("steps of ") || part.starts_with("batches of ") || part.contains(':') => {
            return None;
        }
        _ if ["memory order ", "parallel outer loops ", "loop order"]
            .iter()
            .any(|name| part.starts_with(name)) =>
        {
            "reordered".into()
        }
        _ if part.contains(" of ") => of_values(part),
        _ => match part.strip_prefix("tiles in ") {
            Some(cache) => format!("tiled for {}", cache.split('/').next().unwrap_or(cache).to_uppercase()),
            None if part == format!("{word} jammed") => format!("unrolled by {word}"),
            None => part.replace('_', " "),
        },
    };
    Some(text)
}
