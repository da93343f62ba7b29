//! The share of the program's time that each nest has, of one and the same run.
//!
//! A nest's clock has run in an observed run of the program, so that the seconds of that run are what it is divided by. Where the
//! clock is not to be believed, the samples of another run take its place (`capture::keep`); [`settle`] makes these fit beside
//! each other.

use crate::nest::TunedNest;
use oxeye_measure::CaptureRun;

/// A nest may take so many times as long as one that does its work by measurements alone.
const MEASURED_WITHIN: f64 = 1.05;

/// Wall-clock seconds that an observed run took, without what observing took. Of threads that are observed at the same time, that
/// may be more than the run.
pub(super) fn seconds_of(run: &CaptureRun) -> f64 {
    let observed = run.outcome.elapsed_ns as f64 * 1e-9;
    (observed - run.overhead_seconds).max(0.1 * observed)
}

/// Makes the shares of nests fit: a loop has no more than the one that it is in, neighbours taken as one have as much as they
/// have by themselves, and all together have no more than all of the time.
pub(super) fn settle(nests: &mut [TunedNest]) {
    let all: Vec<usize> = (0..nests.len()).collect();
    let is_group = |nest: &TunedNest| nest.place.joined > 0;
    let groups: Vec<usize> = all.iter().copied().filter(|k| is_group(&nests[*k])).collect();
    for group in groups {
        let members = all.iter().filter(|k| !is_group(&nests[**k]) && is_loop_of(nests, **k, group));
        let members: Vec<usize> = members.copied().collect();
        let outermost =
            members.iter().filter(|k| !members.iter().any(|other| is_loop_of(nests, **k, *other)));
        let sum: f64 = outermost.filter_map(|k| nests[*k].calls.share).sum();
        let share = &mut nests[group].calls.share;
        *share = share.map(|share| share.max(sum));
    }
    let roots = all.iter().filter(|k| !all.iter().any(|outer| is_in_time_of(nests, **k, *outer)));
    let sum: f64 = roots.filter_map(|k| nests[*k].calls.share).sum();
    let shares = nests.iter_mut().filter_map(|nest| nest.calls.share.as_mut());
    shares.for_each(|share| *share = (*share / sum.max(1.0)).min(1.0));
    // From the outside in.
    let mut outward = all.clone();
    outward.sort_by_key(|k| std::cmp::Reverse(nests[*k].place.span.end - nests[*k].place.span.start));
    for outer in outward {
        let Some(share) = nests[outer].calls.share else { continue };
        let inside: Vec<usize> = all.iter().copied().filter(|k| is_loop_of(nests, *k, outer)).collect();
        let is_next = |k: &usize| {
            !is_group(&nests[*k])
                && !inside.iter().any(|other| is_loop_of(nests, *k, *other) && !is_group(&nests[*other]))
        };
        let next: Vec<usize> = inside.iter().copied().filter(is_next).collect();
        let sum: f64 = next.iter().filter_map(|k| nests[*k].calls.share).sum();
        if sum > share {
            for k in inside {
                let inner = &mut nests[k].calls.share;
                *inner = inner.map(|inner| inner * share / sum);
            }
        }
    }
}

/// Whether the text of a nest is part of that of another one.
fn is_loop_of(nests: &[TunedNest], inner: usize, outer: usize) -> bool {
    let (inner, outer) = (nests[inner].place.span, nests[outer].place.span);
    outer.start <= inner.start
        && inner.end <= outer.end
        && (inner.start, inner.end) != (outer.start, outer.end)
}

/// Whether the time of a nest is in that of another one that does its work, or whose work it does most of.
fn is_in_time_of(nests: &[TunedNest], nest: usize, other: usize) -> bool {
    let share = |k: usize| nests[k].calls.share.unwrap_or(0.0);
    let does_work_of = |outer: usize, inner: usize| nests[outer].place.inside.contains(&inner);
    let fits = |outer: usize, inner: usize| {
        share(inner) <= MEASURED_WITHIN * share(outer) || is_loop_of(nests, inner, outer)
    };
    (does_work_of(other, nest) && fits(other, nest)) || (does_work_of(nest, other) && !fits(nest, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nest::Place;
    use oxeye_ir::{NestId, Span};

    /// Nests with these bytes, shares, and others inside.
    fn nests(all: &[(usize, usize, f64, &[usize])]) -> Vec<TunedNest> {
        let nest = |(start, end, share, inside): &(usize, usize, f64, &[usize])| {
            let (nest_id, span) = (NestId(0), Span { start: *start, end: *end, line: 1 });
            let (inside, within) = (inside.to_vec(), Vec::new());
            let place = Place { function_idx: 0, nest_id, ordinal: 0, span, inside, within, joined: 0 };
            let mut nest = TunedNest::new(place, Vec::new());
            nest.calls.share = Some(*share);
            nest
        };
        all.iter().map(nest).collect()
    }

    fn settled(mut nests: Vec<TunedNest>) -> Vec<f64> {
        settle(&mut nests);
        nests.iter().map(|nest| (100.0 * nest.calls.share.unwrap_or(0.0)).round()).collect()
    }

    #[test]
    fn nests_beside_each_other_have_no_more_than_all_of_the_time() {
        // As seen of a matrix product: one run's seconds by those of a faster one.
        let shares = settled(nests(&[
            (0, 9, 0.03, &[]),
            (10, 19, 0.04, &[]),
            (20, 29, 0.04, &[]),
            (30, 39, 1.0, &[]),
        ]));
        assert_eq!(shares, [3.0, 4.0, 4.0, 90.0]);
        assert_eq!(settled(nests(&[(0, 9, 0.3, &[]), (10, 19, 0.4, &[])])), [30.0, 40.0]);
    }

    #[test]
    fn loops_have_no_more_than_the_one_that_they_are_in() {
        let shares = settled(nests(&[(0, 50, 0.5, &[1, 2]), (10, 19, 0.4, &[]), (20, 29, 0.2, &[])]));
        assert_eq!(shares, [50.0, 33.0, 17.0]);
        // One that takes longer than the nest that has its function inlined is for others, too.
        let shares = settled(nests(&[(0, 50, 0.2, &[1]), (60, 70, 0.8, &[]), (80, 90, 0.4, &[])]));
        assert_eq!(shares, [17.0, 67.0, 33.0]);
    }

    #[test]
    fn neighbours_taken_as_one_have_the_time_of_each() {
        let mut all = nests(&[(0, 9, 0.2, &[]), (10, 19, 0.3, &[]), (0, 19, 0.4, &[0, 1])]);
        all[2].place.joined = 1;
        assert_eq!(settled(all), [20.0, 30.0, 50.0]);
    }
}
