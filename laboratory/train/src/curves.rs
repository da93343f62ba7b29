//! Training curves as CSV and SVG.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Number of objectives.
pub const N_PARTS: usize = 8;

/// The objectives.
pub const PARTS: [&str; N_PARTS] =
    ["speedup", "relative", "seconds", "panel", "applicable", "runtime", "contrastive", "metric"];

/// One epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counted from 1.
    pub epoch: usize,
    /// Weighted sum of the objectives on the training nests.
    pub loss: f64,
    /// In the order of [`PARTS`].
    pub parts: [f64; N_PARTS],
    /// Huber loss of log2 speedups on the held-out nests.
    pub held_out_loss: f64,
    /// Rank correlation on the held-out nests; NaN is written as `null`.
    #[serde(deserialize_with = "nan_if_null")]
    pub spearman: f64,
    /// Mean absolute relative error of speedups on the held-out nests.
    #[serde(deserialize_with = "nan_if_null")]
    pub mape: f64,
}

fn nan_if_null<'de, D: serde::Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(d)?.unwrap_or(f64::NAN))
}

/// A table with a heading.
pub fn csv(epochs: &[Epoch]) -> String {
    let mut text =
        format!("epoch,loss,{},held_out_speedup,held_out_spearman,held_out_mape\n", PARTS.join(","));
    for e in epochs {
        let parts = e.parts.map(|p| p.to_string()).join(",");
        let _ =
            writeln!(text, "{},{},{parts},{},{},{}", e.epoch, e.loss, e.held_out_loss, e.spearman, e.mape);
    }
    text
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 220.0;
const MARGIN: f64 = 46.0;

/// A curve: name, colour, and its value in an epoch.
type Curve = (&'static str, &'static str, fn(&Epoch) -> f64);

/// Two plots: loss of speedups on training and on held-out nests, and the held-out metrics.
pub fn svg(epochs: &[Epoch]) -> String {
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        2.0 * HEIGHT
    );
    let losses: [Curve; 2] =
        [("speedup loss, training", "#1f77b4", |e| e.parts[0]), ("held out", "#d62728", |e| e.held_out_loss)];
    let metrics: [Curve; 2] =
        [("held-out Spearman", "#2ca02c", |e| e.spearman), ("held-out MAPE", "#9467bd", |e| e.mape.min(2.0))];
    plot(&mut text, epochs, &losses, 0.0);
    plot(&mut text, epochs, &metrics, HEIGHT);
    text + "</svg>\n"
}

fn plot(text: &mut String, epochs: &[Epoch], curves: &[Curve], top: f64) {
    let values = || curves.iter().flat_map(|(_, _, of)| epochs.iter().map(of)).filter(|v| v.is_finite());
    let high = values().fold(f64::MIN_POSITIVE, f64::max) * 1.05;
    let low = values().fold(0.0, f64::min);
    let last = epochs.len().saturating_sub(1).max(1) as f64;
    let x = |k: usize| MARGIN + (WIDTH - 2.0 * MARGIN) * k as f64 / last;
    let y = |v: f64| top + HEIGHT - MARGIN / 2.0 - (HEIGHT - MARGIN) * (v - low) / (high - low);
    for step in 0..=4 {
        let value = low + (high - low) * f64::from(step) / 4.0;
        let at = y(value);
        let _ = writeln!(
            text,
            "<line x1=\"{MARGIN}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value:.2}</text>",
            WIDTH - MARGIN,
            MARGIN - 6.0,
            at + 4.0
        );
    }
    for (k, (name, colour, of)) in curves.iter().enumerate() {
        let points: Vec<String> = epochs
            .iter()
            .enumerate()
            .filter(|(_, e)| of(e).is_finite())
            .map(|(k, e)| format!("{:.1},{:.1}", x(k), y(of(e))))
            .collect();
        let _ = writeln!(
            text,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" points=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>",
            points.join(" "),
            MARGIN + 10.0 + 220.0 * k as f64,
            top + 16.0
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_epoch_is_drawn() {
        let epoch = |k: usize| Epoch {
            epoch: k,
            loss: 1.0 / k as f64,
            parts: [0.5; N_PARTS],
            held_out_loss: 0.25,
            spearman: if k == 2 { f64::NAN } else { 0.5 },
            mape: 0.3,
        };
        let epochs: Vec<Epoch> = (1..=3).map(epoch).collect();
        assert_eq!(csv(&epochs).lines().count(), 4);
        let text = svg(&epochs);
        assert_eq!(text.matches("<polyline").count(), 4);
        assert!(!text.contains("NaN"));
        let json = serde_json::to_string(&epochs[1]).unwrap();
        assert!(serde_json::from_str::<Epoch>(&json).unwrap().spearman.is_nan());
    }
}
