//! Messages about a file.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use oxeye_ir::Span;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information; nothing is lost.
    Note,
    /// A loop nest or function is left unchanged.
    Warning,
    /// Part of the file is not valid C.
    Error,
}

/// A message about the user's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// The message: lower case, no final period.
    pub message: String,
    /// What would help.
    pub help: Option<String>,
    /// The place in the user's file.
    pub span: Option<Span>,
    /// The text next to the place.
    pub label: Option<String>,
    /// The function concerned.
    pub function: Option<String>,
    /// The line of the loop nest that is left unchanged because of this.
    pub nest_line: Option<u32>,
    /// The last line of that loop nest.
    pub nest_end: Option<u32>,
}

impl Diagnostic {
    /// A warning of which nothing else is known.
    pub(crate) fn warning(message: String) -> Self {
        Self {
            severity: Severity::Warning,
            message,
            help: None,
            span: None,
            label: None,
            function: None,
            nest_line: None,
            nest_end: None,
        }
    }

    /// The diagnostic with its source lines, as plain text.
    pub fn render(&self, path: &Path, source: &str) -> String {
        let level = match self.severity {
            Severity::Note => Level::NOTE,
            Severity::Warning => Level::WARNING,
            Severity::Error => Level::ERROR,
        };
        let path = path.to_string_lossy();
        let mut group =
            level.primary_title(self.message.as_str()).elements([] as [annotate_snippets::Message; 0]);
        if let Some(span) = self.span {
            let end = span.end.min(source.len());
            let span = span.start.min(end)..end;
            let mut annotation = AnnotationKind::Primary.span(span);
            if let Some(label) = &self.label {
                annotation = annotation.label(label.as_str());
            }
            group = group.element(Snippet::source(source).path(path.as_ref()).annotation(annotation));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        Renderer::plain().render(&[group]).to_string()
    }
}
