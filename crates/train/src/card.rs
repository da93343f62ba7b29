//! The card of a model: what it was trained on, how well it does, how to make it again.

use crate::dataset::{Statistics, percentile};
use crate::metrics::Metrics;
use crate::nest::Family;
use oxeye_embed::ModelInfo;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a card is written from.
pub struct Card<'a> {
    /// What the weights say of themselves.
    pub info: &'a ModelInfo,
    /// Of the dataset.
    pub data: &'a Statistics,
    /// Nests to train on, and held out.
    pub n_nests: (usize, usize),
    /// How the held-out nests were chosen, in words.
    pub held_out: String,
    /// Passes over the data, and the best of them.
    pub epochs: (usize, usize),
    /// On the held-out nests, without and with the profile of a run.
    pub metrics: [&'a Metrics; 2],
    /// Where and how the data was measured, in words.
    pub measured: String,
    /// The command line that trains it.
    pub command: String,
    /// Options as JSON.
    pub options: String,
    /// Metrics of models trained without one family, on that family.
    pub left_out: &'a BTreeMap<Family, Metrics>,
}

/// A name and the figure it stands for.
type Row = (&'static str, fn(&Metrics) -> f64);

impl Card<'_> {
    /// As Markdown.
    pub fn markdown(&self) -> String {
        let a = &self.info.architecture;
        let mut text = format!(
            "# Encoder {}\n\n\
             Predicts from the normal form of a loop nest how it responds to the panel of recipe templates; its last layer but \
             one is the nest's performance embedding.\n\n\
             - features: `{}`, panel version {}\n\
             - architecture: {} rounds of {} wide messages, embedding {}, {} templates\n\
             - data: {} nests of the generator, {}; {} to train on, {} held out ({})\n\
             - training: {} epochs, weights of epoch {}\n\n",
            self.info.model_id,
            self.info.schema,
            self.info.panel_version,
            a.rounds,
            a.hidden,
            a.embedding,
            a.panel,
            self.data.n_nests,
            self.measured,
            self.n_nests.0,
            self.n_nests.1,
            self.held_out,
            self.epochs.0,
            self.epochs.1,
        );
        text += "## Held-out nests\n\n| | static | with profile |\n|---|--:|--:|\n";
        let rows: [Row; 8] = [
            ("rank correlation of speedups", |m| m.spearman),
            ("the same within a nest, mean", |m| m.spearman_within),
            ("mean absolute relative error of speedups", |m| m.mape),
            ("its median", |m| m.median_ape),
            ("right about applicability", |m| m.applicable_accuracy),
            ("error of log10 seconds", |m| m.log_seconds_error),
            ("best of the three most promising, share of the best", |m| m.top3),
            ("responses", |m| m.n_responses as f64),
        ];
        for (name, of) in rows {
            let _ = writeln!(text, "| {name} | {:.3} | {:.3} |", of(self.metrics[0]), of(self.metrics[1]));
        }
        let ratio = |values: &[f64], share| 100.0 * (percentile(values, share).exp2() - 1.0);
        let _ = writeln!(
            text,
            "\nThe noise floor: a speedup measured again right afterwards differs by {:.1} % in the middle and {:.1} % at \
             90 %; in another spelling and later by {:.1} % and {:.1} %.",
            ratio(&self.data.retest, 0.5),
            ratio(&self.data.retest, 0.9),
            ratio(&self.data.spellings, 0.5),
            ratio(&self.data.spellings, 0.9)
        );
        if !self.left_out.is_empty() {
            text += "\n## Families left out\n\nTrained without a family, on that family.\n\n\
                     | family | nests | rank correlation | within a nest | error | median error | top 3 |\n\
                     |---|--:|--:|--:|--:|--:|--:|\n";
            for (family, m) in self.left_out {
                let _ = writeln!(
                    text,
                    "| {family} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
                    m.n_nests, m.spearman, m.spearman_within, m.mape, m.median_ape, m.top3
                );
            }
        }
        text +=
            "\n## Error by template\n\n| template | timed | mean absolute relative error |\n|---|--:|--:|\n";
        for (template, error) in self.data.templates.iter().zip(&self.metrics[0].mape_by_template).skip(1) {
            let _ =
                writeln!(text, "| `{}` | {} | {error:.3} |", template.template, template.log_speedups.len());
        }
        let _ = write!(text, "\n## Again\n\n```\n{}\n```\n\nOptions: `{}`\n", self.command, self.options);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record;
    use oxeye_embed::Architecture;

    #[test]
    fn a_card_says_what_the_model_is() {
        let data = Statistics::of(&(0..4).map(record).collect::<Vec<_>>());
        let n = data.templates.len();
        let metrics = Metrics { spearman: 0.93, mape_by_template: vec![0.1; n], ..Metrics::default() };
        let info = ModelInfo::new("model-1", "1", Architecture::with_panel(n));
        let card = Card {
            info: &info,
            data: &data,
            n_nests: (3, 1),
            held_out: "every tenth".into(),
            epochs: (10, 7),
            metrics: [&metrics, &metrics],
            measured: "on a test".into(),
            command: "oxeye-train train".into(),
            options: "{}".into(),
            left_out: &BTreeMap::from([(Family::Mixed, metrics.clone())]),
        };
        let text = card.markdown();
        assert!(text.contains("# Encoder model-1") && text.contains("| mixed | 0 | 0.930"), "{text}");
        assert_eq!(text.matches("| 0.100 |").count(), n - 1);
    }
}
