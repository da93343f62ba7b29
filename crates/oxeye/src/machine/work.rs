//! What all calls of a nest do together.

use super::counts::{flops_of, points_of};
use super::sizes::Sizes;
use oxeye_analysis::footprints;
use oxeye_host::{Provenance, Quantity};
use oxeye_ir::{Nest, Program};

/// What a call does: points, floating-point operations, and bytes of array elements that it touches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CallWork {
    pub(crate) points: Option<Quantity>,
    pub(crate) flops: Option<Quantity>,
    pub(crate) bytes: Option<Quantity>,
}

impl CallWork {
    /// Of a call with these sizes.
    pub(crate) fn of(program: &Program, nest: &Nest, sizes: &Sizes) -> Self {
        let value_of = |sym| sizes.get(sym);
        let bytes = footprints(program, nest, &value_of).map(|found| {
            let arrays = || found.iter().filter(|f| !program.array(f.array).shape.is_empty());
            let exact = arrays().all(|f| f.touched.exact);
            count(arrays().map(|f| f.bytes()).sum(), exact)
        });
        let counted = |found: Option<(f64, bool)>| found.map(|(value, exact)| count(value, exact));
        Self {
            points: counted(points_of(nest, sizes)),
            flops: counted(flops_of(program, nest, sizes)),
            bytes,
        }
    }

    /// The same so many times; a number of calls that is not whole is a model's.
    pub(crate) fn times(self, n: f64) -> Self {
        let scaled = |figure: Option<Quantity>| {
            let exact = |figure: &Quantity| figure.provenance == Provenance::Counted && n.fract() == 0.0;
            figure.map(|figure| count(figure.value * n, exact(&figure)))
        };
        Self { points: scaled(self.points), flops: scaled(self.flops), bytes: scaled(self.bytes) }
    }

    /// The same as a model's.
    pub(crate) fn modelled(self) -> Self {
        let modelled = |figure: Option<Quantity>| figure.map(|figure| count(figure.value, false));
        Self { points: modelled(self.points), flops: modelled(self.flops), bytes: modelled(self.bytes) }
    }

    /// Both together; what is not known of one is not known of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = |a: Option<Quantity>, b: Option<Quantity>| {
            let (a, b) = a.zip(b)?;
            let exact = [a, b].iter().all(|figure| figure.provenance == Provenance::Counted);
            Some(count(a.value + b.value, exact))
        };
        Self {
            points: sum(self.points, other.points),
            flops: sum(self.flops, other.flops),
            bytes: sum(self.bytes, other.bytes),
        }
    }
}

/// A count; one that over-approximates what only the data know is a model's.
fn count(value: f64, exact: bool) -> Quantity {
    let provenance = if exact { Provenance::Counted } else { Provenance::Modelled };
    Quantity { value, spread: 0.0, samples: 0, provenance }
}
