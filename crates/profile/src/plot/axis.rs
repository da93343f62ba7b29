//! Logarithmic and linear axes.

/// A logarithmic axis between two values, over a range of pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogAxis {
    low: f64,
    high: f64,
    from_px: f64,
    to_px: f64,
}

impl LogAxis {
    /// Holds all positive finite `values`, `margin` (a factor above 1) further at either end; 1 to 10 without any.
    pub(crate) fn around(values: impl Iterator<Item = f64>, margin: f64, pixels: (f64, f64)) -> LogAxis {
        let sound = values.filter(|v| v.is_normal() && *v > 0.0);
        let (low, high) = sound.fold((f64::MAX, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if high == 0.0 { (1.0, 10.0) } else { (low, high) };
        // Stays far from overflow.
        let (low, high) = (low.clamp(1e-200, 1e200), high.clamp(1e-200, 1e200));
        LogAxis { low: low / margin, high: high * margin, from_px: pixels.0, to_px: pixels.1 }
    }

    /// Least and greatest value.
    pub(crate) fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The pixel of a value. Values beyond the ends are at the end.
    pub(crate) fn px(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE).log10() - self.low.log10())
            / (self.high.log10() - self.low.log10());
        self.from_px + share.clamp(0.0, 1.0) * (self.to_px - self.from_px)
    }

    /// Pixels of a factor of ten.
    pub(crate) fn decade_px(&self) -> f64 {
        (self.to_px - self.from_px) / (self.high.log10() - self.low.log10())
    }

    /// Values to write at the axis, as far apart as `least_px`: powers of ten, with 2 and 5 between where there is
    /// room.
    pub(crate) fn ticks(&self, least_px: f64) -> Vec<f64> {
        let decade = self.decade_px().abs();
        let (steps, stride): (&[f64], i32) = if decade * 2f64.log10() >= least_px {
            (&[1.0, 2.0, 5.0], 1)
        } else {
            (&[1.0], (least_px / decade.max(1e-9)).ceil().clamp(1.0, 400.0) as i32)
        };
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let decades = (first..=last).filter(|exponent| exponent.rem_euclid(stride) == 0);
        decades
            .flat_map(|exponent| steps.iter().map(move |step| step * 10f64.powi(exponent)))
            .filter(|tick| (self.low..=self.high).contains(tick))
            .collect()
    }

    /// Powers of two to write at the axis, as far apart as `least_px`.
    pub(crate) fn binary_ticks(&self, least_px: f64) -> Vec<f64> {
        let octave = self.decade_px().abs() * 2f64.log10();
        let stride = (least_px / octave.max(1e-9)).ceil().clamp(1.0, 1000.0) as i32;
        let (first, last) = (self.low.log2().ceil() as i32, self.high.log2().floor() as i32);
        (first..=last).filter(|e| e.rem_euclid(stride) == 0).map(|e| 2f64.powi(e)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_leave_room() {
        let axis = LogAxis::around([0.01, 100.0].into_iter(), 1.0, (0.0, 400.0));
        assert_eq!(axis.ticks(50.0), [0.01, 0.1, 1.0, 10.0, 100.0]);
        assert_eq!(axis.ticks(150.0).len(), 3);
        let fine = LogAxis::around([1.0, 10.0].into_iter(), 1.0, (0.0, 400.0));
        assert_eq!(fine.ticks(50.0), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(fine.px(10f64.sqrt()).round(), 200.0);
        let sizes = LogAxis::around([1024.0, 1048576.0].into_iter(), 1.0, (0.0, 100.0));
        assert_eq!(sizes.binary_ticks(40.0), [4096.0, 65536.0, 1048576.0]);
    }

    #[test]
    fn absurd_values_do_no_harm() {
        for values in [&[][..], &[f64::NAN, -1.0], &[1e-300, 1e300], &[f64::INFINITY]] {
            let axis = LogAxis::around(values.iter().copied(), 2.0, (0.0, 100.0));
            assert!((0.0..=100.0).contains(&axis.px(0.0)) && axis.px(1.0).is_finite());
            assert!(axis.ticks(30.0).len() < 10);
        }
    }
}
