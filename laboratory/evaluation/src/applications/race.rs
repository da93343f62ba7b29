//! Timing in turns.

use anyhow::Result;

use super::oracle::Built;

/// Runs once and gives the seconds that took.
pub(super) type Contender<'a> = Box<dyn FnMut() -> Result<f64> + 'a>;

/// A program that was built, as a contender.
pub(super) fn program(built: &Built) -> Contender<'_> {
    Box::new(|| built.run(None))
}

/// The seconds of each contender in each round. Every round starts with another one, so that a slow moment of the
/// machine meets them all.
pub(super) fn race(contenders: &mut [Contender<'_>], rounds: usize) -> Result<Vec<Vec<f64>>> {
    let n = contenders.len();
    let mut times = vec![Vec::with_capacity(rounds); n];
    for round in 0..rounds {
        for turn in 0..n {
            let who = (turn + round) % n;
            times[who].push(contenders[who]()?);
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn contenders_take_turns_at_starting() {
        let order = RefCell::new(Vec::new());
        let one = |who: usize| -> Contender<'_> {
            let order = &order;
            Box::new(move || {
                order.borrow_mut().push(who);
                Ok(who as f64)
            })
        };
        let mut contenders = vec![one(0), one(1), one(2)];
        let times = race(&mut contenders, 2).expect("none fails");
        drop(contenders);
        assert_eq!(times, vec![vec![0.0; 2], vec![1.0; 2], vec![2.0; 2]]);
        assert_eq!(*order.borrow(), vec![0, 1, 2, 1, 2, 0]);
    }
}
