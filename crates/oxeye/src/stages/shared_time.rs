//! Which nests have the work of others in their time, so that their shares are not to be added: in the words of every report.

use super::nest_time::InlinedReport;
use super::report::NestReport;

/// A sentence for each of these nests that does the work of others, too. `name` has some of them in words.
pub fn shared_time(nests: &[&NestReport], name: &dyn Fn(&[&NestReport]) -> String) -> Vec<String> {
    let mut groups: Vec<(&NestReport, Vec<&NestReport>)> = Vec::new();
    for nest in nests {
        let is_outermost = |outer: &&&NestReport| is_inside(nest, outer) && is_outermost(outer, nests);
        let Some(outer) = nests.iter().find(is_outermost) else { continue };
        match groups.iter_mut().find(|(known, _)| known.id == outer.id) {
            Some((_, inside)) => inside.push(nest),
            None => groups.push((outer, vec![nest])),
        }
    }
    let of_own = groups.into_iter().map(|(outer, inside)| {
        let whose = if inside.len() == 1 { "its" } else { "their" };
        format!("{} includes the work of {}, and {whose} time", name(&[outer]), name(&inside))
    });
    let of_others = nests.iter().filter(|nest| !nest.time.inlined.is_empty()).map(|nest| {
        let in_words = |found: &InlinedReport| {
            let file = found.file.file_name().unwrap_or_default().to_string_lossy();
            format!("{}() of {file}", found.function)
        };
        let names: Vec<String> = nest.time.inlined.iter().map(in_words).collect();
        format!("{} includes the work of {}, and its time", name(&[nest]), names.join(", "))
    });
    of_own.chain(of_others).collect()
}

/// The names of nests, as pages have them: `f:7`, `f:7, f:12 and g:30`.
pub(crate) fn names(nests: &[&NestReport]) -> String {
    let all: Vec<String> = nests.iter().map(|nest| nest.name()).collect();
    match all.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => all.concat(),
    }
}

/// Whether no other of the nests does its work as well.
fn is_outermost(nest: &NestReport, nests: &[&NestReport]) -> bool {
    !nests.iter().any(|outer| is_inside(nest, outer))
}

/// Whether another nest does the work of one, and has its time.
fn is_inside(nest: &NestReport, outer: &NestReport) -> bool {
    nest.time.within.contains(&outer.id) && nest.is_in_time_of(outer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::LineReport;
    use crate::stages::TimeReport;

    #[test]
    fn nests_that_do_the_work_of_others_are_told_of_once() {
        let nest = |id: usize, share: f64, within: &[usize]| NestReport {
            id,
            function: format!("f{id}"),
            line: LineReport { line: 4, column: Some(10 * id as u32 + 8), ..LineReport::default() },
            time: TimeReport { share: Some(share), within: within.to_vec(), ..TimeReport::default() },
            ..NestReport::default()
        };
        let told = |nests: &[NestReport]| shared_time(&nests.iter().collect::<Vec<_>>(), &names);
        let all = [nest(0, 0.78, &[2]), nest(1, 0.19, &[]), nest(2, 0.79, &[]), nest(3, 0.1, &[0, 2])];
        assert_eq!(told(&all), ["f2:4:28 includes the work of f0:4:8 and f3:4:38, and their time"]);
        assert_eq!(told(&all[..3]), ["f2:4:28 includes the work of f0:4:8, and its time"]);
        assert!(told(&all[..2]).is_empty());
    }
}
