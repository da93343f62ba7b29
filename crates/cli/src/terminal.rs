//! Where reports are printed: how wide a line is, whether it may have colours, and standard output itself.

use anyhow::bail;
use clap::ColorChoice;
use console::{Style, Term};
use std::io::Write;

/// Where the width is unknown.
const USUAL_WIDTH: usize = 80;
/// Tables have no room below this.
const LEAST_WIDTH: usize = 60;

/// How a report is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// Characters in a line.
    pub(crate) width: usize,
    /// Whether colours may be used.
    pub(crate) colour: bool,
    /// Whether everything is shown.
    pub(crate) verbose: bool,
}

impl View {
    /// For standard output: as wide as `COLUMNS` says, else as the terminal, else 80 characters; colours on a terminal only,
    /// and not where `NO_COLOR` is set.
    pub(crate) fn of_stdout(verbose: bool, color: ColorChoice) -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let terminal = Term::stdout();
        let columns = terminal.size_checked().map(|(_, columns)| columns);
        Self::from(variable, terminal.is_term(), columns, (verbose, color))
    }

    /// For what goes to standard error beside a report that a program reads.
    pub(crate) fn of_stderr(verbose: bool, color: ColorChoice) -> Self {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let terminal = Term::stderr();
        let columns = terminal.size_checked().map(|(_, columns)| columns);
        Self::from(variable, terminal.is_term(), columns, (verbose, color))
    }

    fn from(
        variable: impl Fn(&str) -> Option<String>,
        is_terminal: bool,
        columns: Option<u16>,
        (verbose, color): (bool, ColorChoice),
    ) -> Self {
        let told = variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let width = told.or(columns.filter(|_| is_terminal).map(usize::from)).unwrap_or(USUAL_WIDTH);
        let colour = match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                is_terminal
                    && variable("NO_COLOR").is_none()
                    && variable("TERM").is_none_or(|terminal| terminal != "dumb")
            }
        };
        Self { width: width.max(LEAST_WIDTH), colour, verbose }
    }

    /// Text in a style, if there are any.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        style.force_styling(self.colour).apply_to(text).to_string()
    }
}

/// Writes to standard output. A closed pipe is not an error.
pub(crate) fn print_or_quit(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(&oxeye::encoded(text)) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => bail!("cannot write to standard output: {e}"),
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(set: &[(&str, &str)], is_terminal: bool) -> (usize, bool) {
        let find = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        let view = View::from(find, is_terminal, Some(132), (false, ColorChoice::Auto));
        (view.width, view.colour)
    }

    #[test]
    fn the_width_is_the_variables_then_the_terminals() {
        assert_eq!(view(&[], true), (132, true));
        assert_eq!(view(&[], false), (80, false));
        assert_eq!(view(&[("COLUMNS", "100")], true).0, 100);
        assert_eq!(view(&[("COLUMNS", "100")], false).0, 100);
        assert_eq!(view(&[("COLUMNS", "wide")], true).0, 132);
        assert_eq!(view(&[("COLUMNS", "7")], true).0, 60);
    }

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        assert!(!view(&[("NO_COLOR", "1")], true).1 && !view(&[("TERM", "dumb")], true).1);
        assert!(View::from(|_| None, false, None, (false, ColorChoice::Always)).colour);
        let plain = View { width: 80, colour: false, verbose: false };
        assert_eq!(plain.styled(Style::new().bold(), "x"), "x");
        assert_ne!(View { colour: true, ..plain }.styled(Style::new().bold(), "x"), "x");
    }
}
