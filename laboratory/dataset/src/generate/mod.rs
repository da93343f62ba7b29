//! Realistic random nests, each computation in one or several spellings.
//!
//! Everything is a function of the seed and the number of nests: every machine draws the same nests.

mod contraction;
mod draft;
mod elementwise;
mod indirect;
mod mixed;
mod recurrence;
mod reduction;
mod sizes;
mod stencil;
#[cfg(test)]
mod tests;
mod triangular;

pub use sizes::{estimated_seconds, footprint_bytes, shrunk};

use crate::nest::{Family, GeneratedNest};
use draft::{Spelling, Written};
use oxeye_ir::ScalarType;
use oxeye_random::Rng;

/// Draws computations until there are `n` nests, all spellings counted. The last computation may lack spellings.
pub fn generate(seed: u64, n: usize) -> Vec<GeneratedNest> {
    let mut nests = Vec::new();
    let mut index = 0;
    while nests.len() < n {
        nests.extend(computation(seed, index));
        index += 1;
    }
    nests.truncate(n);
    nests
}

/// Shares of the families, in the order of [`Family::ALL`].
const WEIGHTS: [f64; 8] = [0.22, 0.18, 0.1, 0.09, 0.07, 0.12, 0.1, 0.12];

/// Least and greatest estimate of one run, in seconds.
const SECONDS: (f64, f64) = (1.5e-3, 0.06);

/// One computation in one to three spellings; none if the draft is not a valid program, which tests rule out.
fn computation(seed: u64, index: u64) -> Vec<GeneratedNest> {
    let mut rng = Rng::new(seed, index);
    let mut draw = rng.unit();
    let family = Family::ALL.into_iter().zip(WEIGHTS).find(|(_, weight)| {
        draw -= weight;
        draw < 0.0
    });
    let family = family.map_or(Family::Mixed, |(family, _)| family);
    let float = if rng.chance(0.35) { ScalarType::F32 } else { ScalarType::F64 };
    let seconds = rng.log_uniform(SECONDS.0, SECONDS.1);
    let n_spellings = match rng.unit() {
        x if x < 0.6 => 1,
        x if x < 0.9 => 2,
        _ => 3,
    };
    let mut spellings = vec![Spelling { names: rng.within(0, 2), ..Spelling::default() }];
    while spellings.len() < n_spellings {
        let spelling = Spelling {
            order: rng.within(0, 5),
            distributed: rng.chance(0.5),
            backwards: rng.chance(0.5),
            names: rng.within(0, 2),
            shift: if rng.chance(0.25) { rng.within(1, 2) as i64 } else { 0 },
        };
        if !spellings.contains(&spelling) {
            spellings.push(spelling);
        }
    }
    let structure = rng.bits();
    let group = format!("{family}-{index:06}");
    let mut found: Vec<GeneratedNest> = Vec::new();
    let mut values = None;
    for (k, spelling) in spellings.iter().enumerate() {
        let Ok(written) = write(family, &mut Rng::new(structure, 0), spelling, float) else { continue };
        // All spellings have the sizes of the first, whose symbols come in the same order.
        let values =
            values.get_or_insert_with(|| sizes::choose(&written, seconds, &mut Rng::new(structure, 1)));
        let sizes =
            written.sizes.iter().zip(values.iter()).map(|((name, _), v)| (name.clone(), *v)).collect();
        let program = written.program.to_string();
        // A spelling may change nothing if there is only one order.
        if found.iter().any(|nest| nest.program == program) {
            continue;
        }
        found.push(GeneratedNest {
            id: if k == 0 { group.clone() } else { format!("{group}.{k}") },
            family,
            group: group.clone(),
            spelling: spelling.describe(),
            estimated_seconds: estimated_seconds(&written.program, &sizes) * written.cost_factor,
            program,
            sizes,
            fills: written.fills,
            seed,
        });
    }
    found
}

fn write(family: Family, rng: &mut Rng, spelling: &Spelling, float: ScalarType) -> Result<Written, String> {
    match family {
        Family::Contraction => contraction::write(rng, spelling, float),
        Family::Stencil => stencil::write(rng, spelling, float),
        Family::Reduction => reduction::write(rng, spelling, float),
        Family::Recurrence => recurrence::write(rng, spelling, float),
        Family::Indirect => indirect::write(rng, spelling, float),
        Family::Elementwise => elementwise::write(rng, spelling, float),
        Family::Triangular => triangular::write(rng, spelling, float),
        Family::Mixed => mixed::write(rng, spelling, float),
    }
}
