//! The report on values as a page.

use super::{Finding, Pattern, ValuesReport};
use oxeye_profile::{Page, ShareBar, format_number, format_percent, share_bars};

impl ValuesReport {
    /// The report as one HTML file with a picture, that needs nothing else.
    pub fn to_html(&self) -> String {
        let mut page =
            Page::new(&self.input.display().to_string(), "values", std::slice::from_ref(&self.compiler));
        let looked = &self.looked;
        page.tiles(&[
            ("Findings", self.findings.len().to_string(), "arrays in nests".to_owned()),
            ("Accesses", format_number(looked.accesses as f64), "of watched nests".to_owned()),
            ("Looked at", format_percent(looked.share()), "of them".to_owned()),
            (
                "Overhead",
                format!("{:.1}×", looked.overhead()),
                format!("{:.2} s → {:.2} s", looked.plain_seconds, looked.watched_seconds),
            ),
        ]);
        if !self.findings.is_empty() {
            let bars = self.bars();
            let kinds = self.kinds();
            page.figure("What was found", |size| share_bars(&bars, &kinds, size));
            let heads = ["Array", "Nest", "Accesses", "Found", "What", "Recipe", "What could be done"];
            page.table("Findings", &heads, &[2], &self.findings.iter().map(Finding::row).collect::<Vec<_>>());
        }
        let nests = self.nests.iter().map(|nest| {
            vec![
                format!("{}:{}", nest.function, nest.line),
                format!("{} of {}", nest.watched_runs, nest.runs),
                format_percent(nest.share),
            ]
        });
        page.table("Nests", &["Nest", "Runs watched", "Accesses"], &[1, 2], &nests.collect::<Vec<_>>());
        let skipped = self.skipped.iter().map(|nest| format!("{} was not watched: {}", nest.name, nest.why));
        let notes: Vec<String> =
            std::iter::once(looked.in_words()).chain(self.notes.iter().cloned()).chain(skipped).collect();
        page.sentences("About this run", &notes);
        page.finish()
    }

    /// The patterns that were found, in the order of their numbers in the picture.
    fn kinds(&self) -> Vec<&'static str> {
        let is_found = |pattern: &Pattern| self.findings.iter().any(|finding| finding.pattern == *pattern);
        Pattern::ALL.into_iter().filter(is_found).map(Pattern::name).collect()
    }

    /// The picture of the findings, for a file of its own.
    pub fn to_svg(&self) -> String {
        share_bars(&self.bars(), &self.kinds(), oxeye_profile::PlotSize::Wide).standalone()
    }

    fn bars(&self) -> Vec<ShareBar> {
        let kinds = self.kinds();
        let bar = |finding: &Finding| ShareBar {
            label: format!("{} in {}:{}", finding.array, finding.function, finding.line),
            text: format!("{}: {}", finding.pattern.name(), finding.detail),
            share: finding.share,
            part: finding.holds,
            kind: kinds.iter().position(|kind| *kind == finding.pattern.name()).unwrap_or(0),
        };
        self.findings.iter().map(bar).collect()
    }
}

impl Finding {
    fn row(&self) -> Vec<String> {
        let lines: Vec<String> = self.lines.iter().map(u32::to_string).collect();
        vec![
            format!("{} ({})", self.array, if self.is_store { "stored" } else { "read" }),
            format!("{}:{} (lines {})", self.function, self.line, lines.join(", ")),
            format_percent(self.share),
            self.pattern.name().to_owned(),
            self.detail.clone(),
            self.recipe.map_or_else(|| "–".into(), |recipe| recipe.to_string()),
            self.advice.clone(),
        ]
    }
}
