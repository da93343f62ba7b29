//! The card of a model: what it was trained on, how good it is, how to train it again.

use crate::donors::Choice;
use crate::metrics::{Floor, Metrics};
use oxeye_dataset::nest::Family;
use oxeye_dataset::statistics::{Statistics, percentile};
use oxeye_embed::ModelInfo;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The schema of [`Card::json`].
pub const CARD_SCHEMA: &str = "oxeye.card/1";

/// The contents of a card.
pub struct Card<'a> {
    /// The description of the weights.
    pub info: &'a ModelInfo,
    /// Of the dataset.
    pub data: &'a Statistics,
    /// Nests to train on, and held out.
    pub n_nests: (usize, usize),
    /// How the held-out nests were chosen, in words.
    pub held_out: String,
    /// Passes over the data.
    pub epochs: usize,
    /// On the held-out nests, without and with the profile of a run.
    pub metrics: [&'a Metrics; 2],
    /// Where and how the data was measured, in words.
    pub measured: String,
    /// The command line that trains it.
    pub command: String,
    /// Options as JSON.
    pub options: String,
    /// Metrics of models trained without one family, on that family, without and with the profile of a run.
    pub left_out: &'a BTreeMap<Family, [Metrics; 2]>,
    /// The same over all families.
    pub left_out_all: Option<&'a [Metrics; 2]>,
    /// Ways to choose templates for nests of a family that was left out.
    pub choices: &'a [Choice],
    /// The noise, below which no model can get.
    pub floor: Floor,
}

/// A name and the figure it stands for.
type Row = (&'static str, fn(&Metrics) -> f64);

impl Card<'_> {
    /// As Markdown.
    pub fn markdown(&self) -> String {
        let a = &self.info.architecture;
        let mut text = format!(
            "# Encoder {}\n\n\
             Embeds the normal form of a loop nest so that nests which respond alike to recipes are near, and predicts from \
             the features of a schedule what it gains.\n\n\
             - features: `{}`, panel version {}\n\
             - architecture: {} rounds of {} wide messages, embedding {}, {} templates\n\
             - data: {} nests of the generator, {}; {} to train on, {} held out ({})\n\
             - training: {} epochs, weights of the last\n\n",
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
            self.epochs,
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
        let floor = self.floor;
        let _ = writeln!(
            text,
            "On the scale of the metrics, the second measurement against the first ({} speedups): rank correlation {:.3}, mean \
             error {:.3}, median error {:.3}.",
            floor.n, floor.spearman, floor.mape, floor.median_ape
        );
        self.families_left_out(&mut text);
        text +=
            "\n## Error by template\n\n| template | timed | mean absolute relative error |\n|---|--:|--:|\n";
        for (template, error) in self.data.templates.iter().zip(&self.metrics[0].mape_by_template).skip(1) {
            let _ =
                writeln!(text, "| `{}` | {} | {error:.3} |", template.template, template.log_speedups.len());
        }
        let _ = write!(text, "\n## Again\n\n```\n{}\n```\n\nOptions: `{}`\n", self.command, self.options);
        text
    }

    /// The tables as JSON, to compare models.
    pub fn json(&self) -> serde_json::Value {
        let [plain, profiled] = [0, 1].map(|k| {
            let families = self.left_out.iter().map(|(family, metrics)| (family.name(), &metrics[k]));
            let all = self.left_out_all.map(|metrics| ("all", &metrics[k]));
            families.chain(all).collect::<BTreeMap<&str, &Metrics>>()
        });
        let choices: BTreeMap<&str, serde_json::Value> = self
            .choices
            .iter()
            .map(|choice| {
                let figures =
                    json!({ "response_distance": choice.response_distance, "reached": choice.reached.exp2() });
                (choice.name.as_str(), figures)
            })
            .collect();
        json!({
            "schema": CARD_SCHEMA,
            "model_id": self.info.model_id,
            "features": self.info.schema,
            "far": self.info.far,
            "held_out": { "static": self.metrics[0], "with_profile": self.metrics[1] },
            "families_left_out": { "static": plain, "with_profile": profiled },
            "neighbours_of_families_left_out": choices,
            "repetition": { "second_measurement": self.floor },
        })
    }

    fn families_left_out(&self, text: &mut String) {
        if self.left_out.is_empty() {
            return;
        }
        *text += "\n## Families left out\n\nTrained without a family, on that family: without a profile, and with the measured \
                  time of the nest as it is. Errors are of the speedup, relative to the measured one.\n\n\
                  | family | nests | rank correlation | with profile | within a nest | with profile | error | with profile | \
                  median error | with profile | top 3 | with profile |\n\
                  |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
        let rows = self.left_out.iter().map(|(family, metrics)| (family.name(), metrics));
        for (name, [plain, profiled]) in rows.chain(self.left_out_all.map(|metrics| ("all", metrics))) {
            let of: [fn(&Metrics) -> f64; 5] =
                [|m| m.spearman, |m| m.spearman_within, |m| m.mape, |m| m.median_ape, |m| m.top3];
            let _ = write!(text, "| {name} | {} |", plain.n_nests);
            for of in of {
                let _ = write!(text, " {:.3} | {:.3} |", of(plain), of(profiled));
            }
            text.push('\n');
        }
        *text += "\n## Neighbours of families left out\n\nWhat is tried on a nest of a family that training did not see, and \
                  what donors of the other families tell about it. Distances of responses are root mean squares of log2 \
                  speedups.\n\n| choice | response distance | best of three, share of the best |\n|---|--:|--:|\n";
        for choice in self.choices {
            let distance = choice.response_distance.map_or("–".into(), |d| format!("{d:.3}"));
            let _ = writeln!(text, "| {} | {distance} | {:.3} |", choice.name, choice.reached.exp2());
        }
        if let Some(far) = self.info.far {
            let _ = writeln!(
                text,
                "\nDonors farther than {far:.3} say nothing: of the nests of families left out, those whose nearest donor is \
                 farther respond no more like it than like a random one (or there are none so far)."
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye_dataset::testing::record;
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
            epochs: 10,
            metrics: [&metrics, &metrics],
            measured: "on a test".into(),
            command: "oxeye-train train".into(),
            options: "{}".into(),
            left_out: &BTreeMap::from([(Family::Mixed, [metrics.clone(), metrics.clone()])]),
            left_out_all: None,
            choices: &[Choice { name: "random donor".into(), response_distance: Some(1.5), reached: -1.0 }],
            floor: Floor::default(),
        };
        let text = card.markdown();
        assert!(text.contains("# Encoder model-1") && text.contains("| mixed | 0 | 0.930"), "{text}");
        assert!(text.contains("| random donor | 1.500 | 0.500 |"), "{text}");
        assert_eq!(text.matches("| 0.100 |").count(), n - 1);
        let json = card.json();
        assert_eq!(json["families_left_out"]["static"]["mixed"]["spearman"], 0.93);
        assert_eq!(json["neighbours_of_families_left_out"]["random donor"]["reached"], 0.5);
    }
}
