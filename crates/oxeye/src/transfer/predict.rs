//! What the encoder thinks that a schedule would gain.

use crate::NestDescription;
use oxeye_embed::ModelInfo;
use oxeye_transform::template::{PANEL_VERSION, Template, panel};
use std::collections::BTreeMap;

/// A schedule of the nest.
pub(crate) struct Schedule<'s> {
    /// The templates that make it.
    pub(crate) templates: &'s [Template],
}

/// Predictions for the schedules of one nest.
pub(crate) trait Predict: Sync {
    /// log2 of the speedup over the nest as it is; `None` where nothing can be said.
    fn log_speedup(&self, schedule: &Schedule<'_>) -> Option<f64>;
}

/// What the encoder's heads say of the templates of the panel.
pub(crate) struct OfPanel(BTreeMap<Template, f64>);

impl OfPanel {
    /// `None` for an encoder that was not trained on this panel.
    pub(crate) fn of(info: &ModelInfo, nest: &NestDescription) -> Option<Self> {
        let is_ours = info.panel_version == PANEL_VERSION.to_string();
        let known = panel().iter().zip(&nest.embedding.panel);
        let heads = known.map(|(template, head)| (*template, f64::from(head.log_speedup)));
        (is_ours && nest.embedding.panel.len() == panel().len()).then(|| Self(heads.collect()))
    }
}

impl Predict for OfPanel {
    fn log_speedup(&self, schedule: &Schedule<'_>) -> Option<f64> {
        let known: Vec<f64> = schedule.templates.iter().filter_map(|t| self.0.get(t).copied()).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }
}
