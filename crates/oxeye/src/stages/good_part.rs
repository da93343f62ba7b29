//! What of a set is good together, found by halving.

/// Looks at sets of numbers.
pub(super) trait Judge {
    /// What is known of a good set.
    type Good;
    /// What is wrong with another.
    type Trouble;
    /// Why nothing can be found out any more.
    type Error;

    /// Whether a set is good.
    fn check(&mut self, set: &[usize]) -> Result<Result<Self::Good, Self::Trouble>, Self::Error>;

    /// Puts something else behind numbers of a set that is not good, so that it is worth another look. Whether there was any.
    fn replace(&mut self, set: &[usize], trouble: &Self::Trouble) -> bool;

    /// Takes out a set that is not good.
    fn take_out(&mut self, set: &[usize], trouble: &Self::Trouble);

    /// Whether there is time for another look after this trouble.
    fn has_time(&mut self, trouble: &Self::Trouble) -> bool;
}

/// Numbers that are good together, and what is known of them.
pub(super) type Part<J> = (Vec<usize>, <J as Judge>::Good);

/// A part of a set that is good. A set that is not good is halved, until what is at fault is alone; what
/// nobody has time to look at is taken out. Numbers that come first are rather kept than others.
///
/// # Errors
/// As [`Judge::check`].
pub(super) fn good_part<J: Judge>(judge: &mut J, set: &[usize]) -> Result<Option<Part<J>>, J::Error> {
    if set.is_empty() {
        return Ok(None);
    }
    let trouble = match judge.check(set)? {
        Ok(good) => return Ok(Some((set.to_vec(), good))),
        Err(trouble) => trouble,
    };
    let has_time = judge.has_time(&trouble);
    if has_time && judge.replace(set, &trouble) {
        return good_part(judge, set);
    }
    if !has_time || set.len() == 1 {
        judge.take_out(set, &trouble);
        return Ok(None);
    }
    let (first, second) = set.split_at(set.len() / 2);
    let first = good_part(judge, first)?;
    let second = good_part(judge, second)?;
    let (first, good, second) = match (first, second) {
        (Some((first, good)), Some((second, _))) => (first, good, second),
        (first, second) => return Ok(first.or(second)),
    };
    let both = [first.as_slice(), second.as_slice()].concat();
    match judge.check(&both)? {
        Ok(good) => Ok(Some((both, good))),
        Err(trouble) => {
            judge.take_out(&second, &trouble);
            Ok(Some((first, good)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    /// Sets are good that have none of the bad numbers, and not both of a pair.
    struct Bad {
        bad: BTreeSet<usize>,
        pair: (usize, usize),
        /// What is not bad any more once it is replaced.
        replaceable: BTreeSet<usize>,
        taken_out: Vec<usize>,
        n_checks: usize,
        most: usize,
    }

    impl Bad {
        fn new(bad: &[usize]) -> Self {
            let bad = bad.iter().copied().collect();
            let (replaceable, taken_out) = (BTreeSet::new(), Vec::new());
            Self { bad, pair: (100, 100), replaceable, taken_out, n_checks: 0, most: 100 }
        }

        fn part(&mut self, n: usize) -> Vec<usize> {
            let set: Vec<usize> = (0..n).collect();
            let Ok(found) = good_part(self, &set);
            let kept = found.map(|(kept, n)| {
                assert_eq!(kept.len(), n, "what is known is of another set");
                kept
            });
            let kept = kept.unwrap_or_default();
            let mut all = [kept.clone(), self.taken_out.clone()].concat();
            all.sort_unstable();
            assert_eq!(all, set, "all are kept or taken out");
            kept
        }
    }

    impl Judge for Bad {
        type Good = usize;
        type Trouble = ();
        type Error = Infallible;

        fn check(&mut self, set: &[usize]) -> Result<Result<usize, ()>, Infallible> {
            self.n_checks += 1;
            let has_pair = set.contains(&self.pair.0) && set.contains(&self.pair.1);
            let is_bad = has_pair || set.iter().any(|k| self.bad.contains(k));
            Ok(if is_bad { Err(()) } else { Ok(set.len()) })
        }

        fn replace(&mut self, set: &[usize], (): &()) -> bool {
            let found: Vec<usize> = set.iter().copied().filter(|k| self.replaceable.remove(k)).collect();
            found.iter().for_each(|k| _ = self.bad.remove(k));
            !found.is_empty()
        }

        fn take_out(&mut self, set: &[usize], (): &()) {
            self.taken_out.extend(set);
        }

        fn has_time(&mut self, (): &()) -> bool {
            self.n_checks < self.most
        }
    }

    #[test]
    fn a_good_set_needs_one_look() {
        let mut none = Bad::new(&[]);
        assert_eq!((none.part(9), none.n_checks), ((0..9).collect(), 1));
        assert_eq!(Bad::new(&[]).part(0), [0usize; 0]);
    }

    #[test]
    fn what_is_at_fault_is_found_by_halving() {
        let mut one = Bad::new(&[11]);
        assert_eq!(one.part(16), (0..16).filter(|k| *k != 11).collect::<Vec<_>>());
        assert!(one.n_checks <= 14, "{}", one.n_checks);
        assert_eq!(Bad::new(&[0, 1, 2]).part(3), [0usize; 0]);
        assert_eq!(Bad::new(&[0, 3]).part(5), [1, 2, 4]);
    }

    #[test]
    fn of_two_that_do_not_go_together_the_first_stays() {
        let mut pair = Bad { pair: (1, 6), ..Bad::new(&[]) };
        let kept = pair.part(8);
        assert!(kept.contains(&1) && !kept.contains(&6), "{kept:?}");
    }

    #[test]
    fn another_candidate_takes_the_place_of_a_bad_one() {
        let mut bad = Bad { replaceable: [2, 5].into(), ..Bad::new(&[2, 4]) };
        assert_eq!(bad.part(6), [0, 1, 2, 3, 5]);
    }

    #[test]
    fn without_time_nothing_is_kept_that_nobody_looked_at() {
        let mut bad = Bad { most: 1, replaceable: [2].into(), ..Bad::new(&[2]) };
        assert_eq!((bad.part(8), bad.n_checks), (Vec::new(), 1));
        let mut bad = Bad { most: 3, ..Bad::new(&[7]) };
        assert_eq!(bad.part(8), [0, 1, 2, 3]);
    }
}
