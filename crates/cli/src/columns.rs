//! Text in columns, at any width: what is too wide for its column goes on in the line below.

use console::{Alignment, measure_text_width, pad_str};

/// Blanks between columns.
const GAP: usize = 2;
/// A column is not made narrower than this.
const LEAST: usize = 8;

/// A column: its head, and how its cells are set.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    head: &'static str,
    alignment: Alignment,
    may_be_narrow: bool,
}

impl Column {
    /// A column of words that take several lines where one is too narrow.
    pub(crate) fn words(head: &'static str) -> Self {
        Column { head, alignment: Alignment::Left, may_be_narrow: true }
    }

    /// A column of words that stay whole.
    pub(crate) fn whole(head: &'static str) -> Self {
        Column { head, alignment: Alignment::Left, may_be_narrow: false }
    }

    /// A column of numbers.
    pub(crate) fn numbers(head: &'static str) -> Self {
        Column { head, alignment: Alignment::Right, may_be_narrow: false }
    }
}

/// The rows of a table, each in its lines: its heads, then the others, none wider than `width` as long as narrow words are enough.
/// Cells are words without line ends.
pub(crate) fn lines(columns: &[Column], rows: &[Vec<String>], width: usize) -> Vec<Vec<String>> {
    let heads: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
    let all = || std::iter::once(&heads).chain(rows);
    let widest = |k: usize, of: &dyn Fn(&str) -> usize| {
        all().filter_map(|row| Some(of(row.get(k)?))).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns.len()).map(|k| widest(k, &measure_text_width)).collect();
    let longest_word = |cell: &str| cell.split(' ').map(measure_text_width).max().unwrap_or(0);
    let gaps = GAP * columns.len().saturating_sub(1);
    let words = |k: usize| match columns[k].may_be_narrow {
        true => widest(k, &longest_word).max(LEAST).min(widths[k]),
        false => widths[k],
    };
    let words: Vec<usize> = (0..columns.len()).map(words).collect();
    // Words stay whole where all of them can.
    let has_room = words.iter().sum::<usize>() + gaps <= width;
    let least = |k: usize| if has_room { words[k] } else { LEAST };
    while widths.iter().sum::<usize>() + gaps > width {
        // The widest gives way, of equals the last.
        let wide = (0..columns.len()).filter(|k| columns[*k].may_be_narrow && widths[*k] > least(*k));
        let Some(widest) = wide.max_by_key(|k| widths[*k]) else { break };
        widths[widest] -= 1;
    }
    let row = |row: &Vec<String>| {
        let cells: Vec<Vec<String>> =
            row.iter().zip(&widths).map(|(cell, width)| folded(cell, *width)).collect();
        let n_lines = cells.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let line = |at: usize| {
            let parts = columns.iter().zip(&cells).zip(&widths).map(|((column, cell), width)| {
                let part = cell.get(at).map_or("", String::as_str);
                pad_str(part, *width, column.alignment, None).into_owned()
            });
            parts.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
        };
        (0..n_lines).map(line).collect()
    };
    all().map(row).collect()
}

/// A text in lines of at most `width`, broken between words, and within those that are longer.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let room = |line: &&mut String| measure_text_width(line) + 1 + measure_text_width(word) <= width;
        if let Some(line) = lines.last_mut().filter(room) {
            *line += &format!(" {word}");
            continue;
        }
        let letters: Vec<char> = word.chars().collect();
        lines.extend(letters.chunks(width.max(1)).map(|part| part.iter().collect()));
    }
    lines
}

/// The lines of a table between rules.
pub(crate) fn table(columns: &[Column], rows: &[Vec<String>], width: usize) -> String {
    let mut lines = lines(columns, rows, width);
    let widest = lines.iter().flatten().map(|line| measure_text_width(line)).max().unwrap_or(0);
    let rule = vec!["─".repeat(widest)];
    lines.insert(1, rule.clone());
    lines.insert(0, rule.clone());
    lines.push(rule);
    lines.concat().join("\n") + "\n"
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
            lines(&columns, &rows, 80).concat(),
            [
                "name             time  what",
                "a             1.25 ms  a rather long text",
                "another_name     10 s  short"
            ]
        );
        let narrow = lines(&columns, &rows, 32);
        assert_eq!(
            narrow.concat(),
            [
                "name             time  what",
                "a             1.25 ms  a rather",
                "                       long text",
                "another_name     10 s  short"
            ]
        );
        assert!(narrow.concat().iter().all(|line| measure_text_width(line) <= 32));
    }

    #[test]
    fn no_letter_is_lost_in_a_narrow_column() {
        assert_eq!(folded("memory order, 4 jammed", 8), ["memory", "order, 4", "jammed"]);
        assert_eq!(folded("relax_with_a_name x", 8), ["relax_wi", "th_a_nam", "e x"]);
        assert_eq!((folded("", 8), folded("äöü", 2)), (vec![], vec!["äö".to_owned(), "ü".into()]));
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
    }
}
