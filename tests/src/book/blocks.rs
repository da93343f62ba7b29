//! Fenced blocks of a chapter.

/// A fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The words behind the opening fence.
    pub words: Vec<String>,
    /// Its text.
    pub text: String,
    /// The lines of the quotation behind it, without `> `.
    pub quoted: Vec<String>,
    /// The line of the opening fence.
    pub line: usize,
}

/// The fenced blocks of a chapter in their order.
pub fn blocks(chapter: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut lines = chapter.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(words) = line.strip_prefix("```") {
            let words = words.split([',', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
            let text = lines.by_ref().map(|(_, line)| line).take_while(|line| !line.starts_with("```"));
            let text = text.map(|line| format!("{line}\n")).collect();
            found.push(Block { words, text, quoted: Vec::new(), line: number + 1 });
        } else if let (Some(quoted), Some(block)) = (line.strip_prefix("> "), found.last_mut()) {
            block.quoted.push(quoted.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_their_words_and_quotations() {
        let text = "a\n```c,refused\nint i;\n```\n\n> why\n> help: so\n\n```c\n```\n";
        let found = blocks(text);
        assert_eq!(found[0].words, ["c", "refused"]);
        assert_eq!((found[0].text.as_str(), found[0].line), ("int i;\n", 2));
        assert_eq!(found[0].quoted, ["why", "help: so"]);
        assert_eq!((found[1].text.as_str(), found.len()), ("", 2));
    }
}
