//! Placing labels so that they cover neither each other nor what they label.

/// A rectangle that may be turned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelBox {
    /// Middle.
    pub(crate) center: (f64, f64),
    /// Half of width and height.
    pub(crate) half: (f64, f64),
    /// Clockwise rotation in degrees.
    pub(crate) degrees: f64,
}

/// What is already occupied, and the borders.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    taken: Vec<(LabelBox, f64)>,
    border: LabelBox,
}

impl LabelBox {
    /// An upright box from its upper left corner and size.
    pub(crate) fn upright(corner: (f64, f64), size: (f64, f64)) -> LabelBox {
        LabelBox {
            center: (corner.0 + size.0 / 2.0, corner.1 + size.1 / 2.0),
            half: (size.0 / 2.0, size.1 / 2.0),
            degrees: 0.0,
        }
    }

    /// The box of a straight line of some thickness.
    pub(crate) fn line(from: (f64, f64), to: (f64, f64), thickness: f64) -> LabelBox {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        LabelBox {
            center: (from.0 + dx / 2.0, from.1 + dy / 2.0),
            half: (dx.hypot(dy) / 2.0, thickness / 2.0),
            degrees: dy.atan2(dx).to_degrees(),
        }
    }

    fn axes(&self) -> [(f64, f64); 2] {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        [(cos, sin), (-sin, cos)]
    }

    fn corners(&self) -> [(f64, f64); 4] {
        let [(ax, ay), (bx, by)] = self.axes();
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(s, t)| {
            let (u, v) = (s * self.half.0, t * self.half.1);
            (self.center.0 + u * ax + v * bx, self.center.1 + u * ay + v * by)
        })
    }

    /// Whether two boxes have an inner point in common: no side of either separates them.
    pub(crate) fn overlaps(&self, other: &LabelBox) -> bool {
        let (mine, theirs) = (self.corners(), other.corners());
        self.axes().iter().chain(other.axes().iter()).all(|axis| {
            let range = |corners: &[(f64, f64); 4]| {
                let along = corners.map(|(x, y)| x * axis.0 + y * axis.1);
                (
                    along.iter().copied().fold(f64::MAX, f64::min),
                    along.iter().copied().fold(f64::MIN, f64::max),
                )
            };
            let ((a, b), (c, d)) = (range(&mine), range(&theirs));
            a < d - 1e-9 && c < b - 1e-9
        })
    }
}

impl Placement {
    /// An empty picture. Labels stay inside the rectangle.
    pub(crate) fn inside(corner: (f64, f64), size: (f64, f64)) -> Placement {
        Placement { taken: Vec::new(), border: LabelBox::upright(corner, size) }
    }

    /// Takes a place: covering it costs `weight`.
    pub(crate) fn take(&mut self, place: LabelBox, weight: f64) {
        self.taken.push((place, weight));
    }

    /// The cheapest candidate, ties by position, with its cost: its own and that of what it covers. `None` if all leave
    /// the border. It does not become occupied.
    pub(crate) fn best(&self, candidates: impl Iterator<Item = (LabelBox, f64)>) -> Option<(LabelBox, f64)> {
        let mut best: Option<(LabelBox, f64)> = None;
        for (candidate, own) in candidates.filter(|(c, _)| self.holds(c)) {
            let covered = self.taken.iter().filter(|(place, _)| place.overlaps(&candidate));
            let cost = own + covered.map(|(_, weight)| weight).sum::<f64>();
            if cost == 0.0 {
                return Some((candidate, 0.0));
            }
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((candidate, cost));
            }
        }
        best
    }

    fn holds(&self, candidate: &LabelBox) -> bool {
        let ((x, y), (w, h)) = (self.border.center, self.border.half);
        candidate.corners().iter().all(|corner| (corner.0 - x).abs() <= w && (corner.1 - y).abs() <= h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turned_boxes_overlap_only_where_they_do() {
        let upright = LabelBox::upright((0.0, 0.0), (10.0, 10.0));
        let diamond = |x: f64, y: f64| LabelBox { center: (x, y), half: (5.0, 5.0), degrees: 45.0 };
        assert!(upright.overlaps(&diamond(15.0, 5.0)));
        // Its upright hull would overlap.
        assert!(!upright.overlaps(&diamond(15.0, 15.0)));
        assert!(!upright.overlaps(&LabelBox::upright((10.0, 0.0), (5.0, 5.0))));
        assert!(upright.overlaps(&LabelBox::line((-5.0, -5.0), (5.0, 5.0), 1.0)));
    }

    #[test]
    fn the_first_free_candidate_wins() {
        let mut placement = Placement::inside((0.0, 0.0), (100.0, 100.0));
        placement.take(LabelBox::upright((0.0, 0.0), (50.0, 100.0)), 3.0);
        let at = |x: f64| (LabelBox::upright((x, 10.0), (20.0, 10.0)), 0.0);
        let (free, cost) =
            placement.best([at(-5.0), at(10.0), at(60.0), at(70.0)].into_iter()).expect("one fits");
        assert_eq!((free.center.0, cost), (70.0, 0.0));
        let (covering, cost) = placement.best([at(10.0), at(95.0)].into_iter()).expect("one fits");
        assert_eq!((covering.center.0, cost), (20.0, 3.0));
        assert!(placement.best([at(95.0)].into_iter()).is_none());
    }
}
