//! How good the neighbours of a nest are as donors: how similar the responses of near nests are, and how much of the
//! best speedup their best templates reach.

use crate::example::{Example, response_distance};
use crate::metrics::{PanelGuess, mean, reached};
use oxeye_embed::{N_HAND_MADE, hand_made};
use oxeye_random::Rng;
use serde::{Deserialize, Serialize};

/// Templates that are tried.
const TRIED: usize = 3;
/// Number of random donors, as a sample of all.
const RANDOM: usize = 20;
/// Fewest nests from which a distance is judged.
const ENOUGH: usize = 20;

/// A way to choose templates, on nests of families that it has not seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// In words.
    pub name: String,
    /// Mean distance of the responses of nest and donor; `None` if there is no donor.
    pub response_distance: Option<f64>,
    /// Share of the best speedup that the best of three templates reaches, as a mean of log2.
    pub reached: f64,
}

/// How good one nest's nearest donor is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Nearest {
    /// Distance of the embeddings, from 0 to 2.
    pub distance: f32,
    /// Distance of the responses.
    pub response: f32,
    /// Mean distance of the responses of random donors.
    pub random: f32,
}

/// Vectors of donors and of nests.
pub struct Vectors {
    /// Their description.
    pub name: &'static str,
    /// One per donor.
    pub donors: Vec<Vec<f32>>,
    /// One per nest.
    pub nests: Vec<Vec<f32>>,
}

impl Vectors {
    /// Features without learning, each in units of its spread over the donors.
    pub fn hand_made(donors: &[&Example], nests: &[&Example]) -> Self {
        let raw = |examples: &[&Example]| -> Vec<Vec<f32>> {
            examples.iter().map(|e| hand_made(&e.graph)).collect()
        };
        let of_donors = raw(donors);
        let spread: Vec<(f32, f32)> = (0..N_HAND_MADE)
            .map(|k| {
                let values: Vec<f64> = of_donors.iter().map(|v| f64::from(v[k])).collect();
                let middle = mean(&values);
                let variance = mean(&values.iter().map(|v| (v - middle).powi(2)).collect::<Vec<_>>());
                (middle as f32, variance.sqrt().max(1e-3) as f32)
            })
            .collect();
        let scaled = |vectors: Vec<Vec<f32>>| {
            let scale = |v: Vec<f32>| v.iter().zip(&spread).map(|(x, (m, s))| (x - m) / s).collect();
            vectors.into_iter().map(scale).collect()
        };
        Self { name: "nearest by hand-made features", nests: scaled(raw(nests)), donors: scaled(of_donors) }
    }

    /// The position of the donor nearest to a nest, and its distance.
    fn nearest(&self, nest: usize) -> Option<(usize, f32)> {
        let distance = |donor: &Vec<f32>| {
            donor.iter().zip(&self.nests[nest]).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
        };
        let all = self.donors.iter().map(distance).enumerate();
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Compares ways to choose: `guesses` are a model's predictions for the nests.
pub fn choices(
    donors: &[&Example],
    nests: &[&Example],
    vectors: &[Vectors],
    guesses: &[PanelGuess],
) -> Vec<Choice> {
    let mut found = Vec::new();
    let mut add = |name: &str, of: &dyn Fn(usize) -> Option<Vec<usize>>| {
        let (mut distances, mut shares) = (Vec::new(), Vec::new());
        for (k, nest) in nests.iter().enumerate() {
            for donor in of(k).into_iter().flatten() {
                distances.extend(response_distance(nest, donors[donor]).map(f64::from));
                shares.extend(reached(nest, &best_templates(donors[donor])));
            }
        }
        found.push(Choice {
            name: name.to_owned(),
            response_distance: Some(mean(&distances)),
            reached: mean(&shares),
        });
    };
    add("random donor", &|k| Some(random(donors.len(), k)));
    for vectors in vectors {
        add(vectors.name, &|k| vectors.nearest(k).map(|(donor, _)| vec![donor]));
    }
    add("donor that responds most alike", &|k| {
        let distance = |donor: &usize| response_distance(nests[k], donors[*donor]).unwrap_or(f32::INFINITY);
        (0..donors.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|donor| vec![donor])
    });
    let fixed = fixed_list(donors);
    let without_donor = |name: &str, of: &dyn Fn(usize) -> Vec<usize>| {
        let shares: Vec<f64> =
            nests.iter().enumerate().filter_map(|(k, nest)| reached(nest, &of(k))).collect();
        Choice { name: name.to_owned(), response_distance: None, reached: mean(&shares) }
    };
    let last = [
        without_donor("the templates that are best on the whole", &|_| fixed.clone()),
        without_donor("the model's predictions", &|k| {
            let mut order: Vec<usize> = (1..nests[k].log_speedups.len()).collect();
            order.retain(|t| nests[k].log_speedups[*t].is_some());
            order.sort_by(|a, b| guesses[k].log_speedups[*b].total_cmp(&guesses[k].log_speedups[*a]));
            order.truncate(TRIED);
            order
        }),
    ];
    found.extend(last);
    found
}

/// How good the nearest donors of nests are.
pub fn nearest(donors: &[&Example], nests: &[&Example], vectors: &Vectors) -> Vec<Nearest> {
    let of = |(k, nest): (usize, &&Example)| {
        let (donor, distance) = vectors.nearest(k)?;
        let others = random(donors.len(), k).into_iter();
        let others: Vec<f64> =
            others.filter_map(|d| response_distance(nest, donors[d])).map(f64::from).collect();
        Some(Nearest {
            distance,
            response: response_distance(nest, donors[donor])?,
            random: mean(&others) as f32,
        })
    };
    nests.iter().enumerate().filter_map(of).collect()
}

/// The distance beyond which donors are useless: the least one such that nests whose nearest donor is farther away
/// respond no more like it than like any other. If even the farthest donors are useful, a little more than the
/// farthest.
pub fn far(nearest: &[Nearest]) -> Option<f32> {
    let mut sorted: Vec<&Nearest> = nearest.iter().filter(|n| n.random.is_finite()).collect();
    sorted.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    let gain = |from: usize| sorted[from..].iter().map(|n| n.random - n.response).sum::<f32>();
    let last = sorted.len().checked_sub(ENOUGH)?;
    let first = (0..=last).find(|from| gain(*from) <= 0.0);
    first.map(|from| sorted[from].distance).or_else(|| Some(1.05 * sorted.last()?.distance))
}

/// The best templates of a nest, without the one that changes nothing.
fn best_templates(example: &Example) -> Vec<usize> {
    let mut timed: Vec<(usize, f32)> =
        example.log_speedups.iter().enumerate().skip(1).filter_map(|(t, s)| Some((t, (*s)?))).collect();
    timed.sort_by(|a, b| b.1.total_cmp(&a.1));
    // Templates with the same text are one trial.
    timed.dedup_by_key(|(_, speedup)| *speedup);
    timed.into_iter().take(TRIED).map(|(t, _)| t).collect()
}

/// The templates that together reach most on the donors, chosen greedily.
fn fixed_list(donors: &[&Example]) -> Vec<usize> {
    let n_templates = donors.first().map_or(0, |e| e.log_speedups.len());
    let mut chosen = Vec::new();
    for _ in 0..TRIED {
        let with = |t: usize| {
            let list: Vec<usize> = chosen.iter().copied().chain([t]).collect();
            mean(&donors.iter().filter_map(|e| reached(e, &list)).collect::<Vec<_>>())
        };
        let best = (1..n_templates).max_by(|a, b| with(*a).total_cmp(&with(*b)));
        chosen.extend(best);
    }
    chosen
}

/// The same random donors for a nest each time.
fn random(n_donors: usize, nest: usize) -> Vec<usize> {
    let mut rng = Rng::new(17, nest as u64);
    (0..RANDOM.min(n_donors)).map(|_| rng.within(0, n_donors - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

    fn examples() -> Vec<Example> {
        (0..30).map(example).collect()
    }

    #[test]
    fn who_responds_alike_is_the_better_donor() {
        let examples = examples();
        let (nests, donors): (Vec<&Example>, Vec<&Example>) =
            (examples[..10].iter().collect(), examples[10..].iter().collect());
        // Vectors that determine the response.
        let tell = |all: &[&Example]| -> Vec<Vec<f32>> {
            all.iter().map(|e| e.log_speedups.iter().map(|s| s.unwrap_or(-3.0)).collect()).collect()
        };
        let telling = Vectors { name: "telling", donors: tell(&donors), nests: tell(&nests) };
        let guesses: Vec<PanelGuess> = nests
            .iter()
            .map(|e| PanelGuess {
                log_speedups: e.log_speedups.iter().map(|s| s.unwrap_or(-9.0)).collect(),
                applicable: vec![1.0; e.log_speedups.len()],
                log_seconds: 0.0,
            })
            .collect();
        let worth = nearest(&donors, &nests, &telling);
        let vectors = [Vectors::hand_made(&donors, &nests), telling];
        let found = choices(&donors, &nests, &vectors, &guesses);
        let of = |name: &str| found.iter().find(|c| c.name.contains(name)).unwrap();
        assert!(of("telling").response_distance <= of("random").response_distance);
        assert!(of("most alike").response_distance <= of("telling").response_distance);
        assert!(of("predictions").reached.abs() < 1e-6, "the right predictions reach all");
        assert!(found.iter().all(|c| c.reached <= 1e-9));
        assert_eq!(worth.len(), 10);
    }

    #[test]
    fn far_is_where_donors_say_nothing() {
        let at = |k: u8, response: f32| Nearest { distance: 0.01 * f32::from(k), response, random: 1.0 };
        let telling: Vec<Nearest> = (0..60).map(|k| at(k, 0.5)).collect();
        assert!(far(&telling).unwrap() > 0.59);
        let mixed: Vec<Nearest> = (0..60).map(|k| at(k, if k < 30 { 0.5 } else { 1.2 })).collect();
        let distance = far(&mixed).unwrap();
        assert!(distance > 0.1 && distance <= 0.3, "{distance}");
        assert_eq!(far(&telling[..5]), None);
    }
}
