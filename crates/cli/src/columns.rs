//! Text in columns, one line a row at any width.

use console::{Alignment, measure_text_width, pad_str, truncate_str};

/// Blanks between columns.
const GAP: usize = 2;
/// A column is not cut shorter than this.
const LEAST: usize = 8;

/// A column: its head, and how its cells are set.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    head: &'static str,
    alignment: Alignment,
    may_be_cut: bool,
}

impl Column {
    /// A column of words that may be cut where the line is too narrow.
    pub(crate) fn words(head: &'static str) -> Self {
        Column { head, alignment: Alignment::Left, may_be_cut: true }
    }

    /// A column of words that stay whole.
    pub(crate) fn whole(head: &'static str) -> Self {
        Column { head, alignment: Alignment::Left, may_be_cut: false }
    }

    /// A column of numbers.
    pub(crate) fn numbers(head: &'static str) -> Self {
        Column { head, alignment: Alignment::Right, may_be_cut: false }
    }
}

/// The lines of a table: its heads, then its rows, none wider than `width` as long as cutting words is enough. Cells
/// are words without line ends.
pub(crate) fn lines(columns: &[Column], rows: &[Vec<String>], width: usize) -> Vec<String> {
    let heads: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
    let all = || std::iter::once(&heads).chain(rows);
    let content = |k: usize| all().map(|row| row.get(k).map_or(0, |cell| measure_text_width(cell))).max();
    let mut widths: Vec<usize> = (0..columns.len()).map(|k| content(k).unwrap_or(0)).collect();
    let gaps = GAP * columns.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        // The widest gives way, of equals the last.
        let cut = (0..columns.len()).filter(|k| columns[*k].may_be_cut && widths[*k] > LEAST);
        let Some(widest) = cut.max_by_key(|k| widths[*k]) else { break };
        widths[widest] -= 1;
    }
    let line = |row: &Vec<String>| {
        let cells = columns.iter().zip(row).zip(&widths).map(|((column, cell), width)| {
            let cell = truncate_str(cell, *width, "…");
            pad_str(&cell, *width, column.alignment, None).into_owned()
        });
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    all().map(line).collect()
}

/// The lines of a table between rules.
pub(crate) fn table(columns: &[Column], rows: &[Vec<String>], width: usize) -> String {
    let mut lines = lines(columns, rows, width);
    let rule = "─".repeat(lines.iter().map(|line| measure_text_width(line)).max().unwrap_or(0));
    lines.insert(1, rule.clone());
    lines.insert(0, rule.clone());
    lines.push(rule);
    lines.join("\n") + "\n"
}

/// A sentence in lines of at most `width`, those after the first indented.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    const INDENT: &str = "  ";
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if measure_text_width(line) + 1 + measure_text_width(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{INDENT}{word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

/// A command in lines of at most `width` that a shell takes as one: they end with a backslash, between words.
pub(crate) fn continued(command: &str, width: usize) -> String {
    const INDENT: &str = "  ";
    const GOES_ON: &str = " \\";
    let (mut lines, mut quote) = (vec![INDENT.to_owned()], None);
    let mut words: Vec<String> = vec![String::new()];
    for letter in command.chars() {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            _ => {}
        }
        match words.last_mut() {
            Some(word) if letter != ' ' || quote.is_some() => word.push(letter),
            _ => words.push(String::new()),
        }
    }
    for word in words {
        let line = lines.last_mut().filter(|line| {
            let room = width.saturating_sub(GOES_ON.len() + 1 + measure_text_width(line));
            line.trim().is_empty() || measure_text_width(&word) <= room
        });
        match line {
            Some(line) if line.trim().is_empty() => line.push_str(&word),
            Some(line) => *line += &format!(" {word}"),
            None => lines.push(format!("{INDENT}{INDENT}{word}")),
        }
    }
    lines.join(&format!("{GOES_ON}\n")) + "\n"
}

/// A text cut to one line of `width`.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    truncate_str(&line, width, "…").into_owned()
}

/// A text of at most `room` characters: what is too long ends behind a whole word, in dots.
pub(crate) fn clipped(text: &str, room: usize) -> String {
    const DOTS: &str = " ...";
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if measure_text_width(&line) <= room {
        return line;
    }
    let mut ends = line.match_indices(' ').map(|(at, _)| &line[..at]);
    let longest = ends.rfind(|start| measure_text_width(start) + DOTS.len() <= room);
    match longest {
        Some(start) => start.trim_end_matches([',', ';', ':']).to_owned() + DOTS,
        None => middle_cut(&line, room),
    }
}

/// The first of the parts, as many as there is room for.
pub(crate) fn joined(parts: &[String], between: &str, room: usize) -> String {
    let fits = |n: &usize| measure_text_width(&parts[..*n].join(between)) <= room;
    match (1..=parts.len()).rev().find(fits) {
        Some(n) => parts[..n].join(between),
        None => parts.first().map(|part| clipped(part, room)).unwrap_or_default(),
    }
}

/// A text of at most `room` characters: what is too long has dots in its middle.
pub(crate) fn middle_cut(text: &str, room: usize) -> String {
    const DOTS: &str = "...";
    let letters: Vec<char> = text.chars().collect();
    if measure_text_width(text) <= room {
        return text.to_owned();
    }
    let kept = room.saturating_sub(DOTS.len());
    let (head, tail) = (kept.div_ceil(2), letters.len() - kept / 2);
    let part = |letters: &[char]| letters.iter().collect::<String>();
    format!("{}{DOTS}{}", part(&letters[..head]), part(&letters[tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_words_give_way_and_numbers_stay() {
        let columns = [Column::words("name"), Column::numbers("time"), Column::words("what")];
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["a", "1.25 ms", "a rather long text"]), row(["another_name", "10 s", "short"])];
        assert_eq!(
            lines(&columns, &rows, 80),
            [
                "name             time  what",
                "a             1.25 ms  a rather long text",
                "another_name     10 s  short"
            ]
        );
        let narrow = lines(&columns, &rows, 32);
        assert_eq!(
            narrow,
            ["name            time  what", "a            1.25 ms  a rather …", "another_na…     10 s  short"]
        );
        assert!(narrow.iter().all(|line| measure_text_width(line) <= 32));
    }

    #[test]
    fn what_is_too_long_ends_behind_a_word_or_gives_up_its_middle() {
        assert_eq!(clipped("one, two three", 20), "one, two three");
        assert_eq!(clipped("one, two three", 13), "one, two ...");
        assert_eq!(clipped("one, two three", 8), "one ...");
        assert_eq!(clipped("abcdefghij", 8), "abc...ij");
        assert_eq!(
            (middle_cut("abcdefghij", 10), middle_cut("äbcdefghij", 7)),
            ("abcdefghij".into(), "äb...ij".into())
        );
    }

    #[test]
    fn commands_go_on_behind_a_backslash() {
        let command = "oxeye tune main.c --run './main -n 12 < deck' -- gcc -O3";
        let text = continued(command, 32);
        assert_eq!(text, "  oxeye tune main.c --run \\\n    './main -n 12 < deck' -- \\\n    gcc -O3\n");
        // A shell takes the ends of these lines out.
        assert_eq!(shlex::split(&text.replace("\\\n", "")), shlex::split(command));
        assert_eq!(continued("oxeye tune a.c", 80), "  oxeye tune a.c\n");
    }

    #[test]
    fn sentences_are_wrapped_between_words() {
        assert_eq!(wrapped("one two three", 9), "one two\n  three\n");
        assert_eq!(wrapped("one", 2), "one\n");
        assert_eq!(cut("one\n  two three", 9), "one two …");
        assert_eq!((cut("äöüß", 4), cut("äöüßa", 4)), ("äöüß".into(), "äöü…".into()));
    }
}
