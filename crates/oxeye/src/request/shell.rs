//! Commands as a shell reads them: their words, the programs that they start, and the files that they write. In goes the text of
//! a command; out comes a [`Script`], or what is wrong with the text.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// The shell that runs what only a shell understands, and its option for that.
pub(super) const SHELL: &str = "sh";
pub(super) const OPTION: &str = "-c";

/// The text of a command, and what it consists of.
#[derive(Debug)]
pub(super) struct Script<'t> {
    text: &'t str,
    pub(super) tokens: Vec<Token<'t>>,
}

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Word(Word),
    /// The number of a file descriptor before a redirection.
    Descriptor(&'t str),
    /// What stands between words: `|`, `>`, `&&`.
    Sign(&'static str),
}

/// A word without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether it means itself: it has no variables, patterns or output of commands.
    is_plain: bool,
    at: Range<usize>,
}

/// Longer ones stand before those that they begin with.
const SIGNS: [&str; 20] = [
    "&>>", "<<<", "&&", "||", ";;", "|&", "&>", "<<", "<&", "<>", ">>", ">&", ">|", "&", "|", ";", "(", ")",
    "<", ">",
];
/// Words that a shell takes for itself where a command begins.
const BUILT_IN: [&str; 31] = [
    "cd", "export", "set", "unset", "ulimit", "umask", "exec", "eval", ".", "!", "{", "}", "if", "then",
    "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "time", "command",
    "wait", "trap", "exit", "read",
];

/// Those of them behind which a command begins.
const OPENING: [&str; 10] = ["{", "!", "if", "then", "elif", "else", "while", "until", "do", "time"];

impl<'t> Script<'t> {
    /// Takes a command apart.
    ///
    /// # Errors
    /// If a quote is not closed, or a sign is one that `sh` does not have.
    pub(super) fn of(text: &'t str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            if c == '#' {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if c == '\n' {
                tokens.push(Token::Sign(";"));
                at += 1;
            } else if c.is_whitespace() {
                at += c.len_utf8();
            } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
                if let Some(instead) = of_bash(sign) {
                    return Err(format!("`{sign}` is a sign of bash, and sh runs this; write {instead}"));
                }
                tokens.push(Token::Sign(sign));
                at += sign.len();
            } else {
                let (word, end) = word(text, at)?;
                let is_number = text[at..end].bytes().all(|byte| byte.is_ascii_digit());
                let token = match is_number && text[end..].starts_with(['<', '>']) {
                    true => Token::Descriptor(&text[at..end]),
                    false => Token::Word(word),
                };
                tokens.push(token);
                at = end;
            }
        }
        Ok(Self { text, tokens })
    }

    /// That a command stands wherever a shell wants one, and that what is opened is closed. `case` has brackets of its own.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn check(&self) -> Result<(), String> {
        let signs = self.tokens.iter().filter_map(|token| match token {
            Token::Sign(sign) => Some(*sign),
            _ => None,
        });
        let (opened, closed) = signs.fold((0, 0), |(opened, closed), sign| match sign {
            "(" => (opened + 1, closed),
            ")" => (opened, closed + 1),
            _ => (opened, closed),
        });
        let has_case = self.commands().iter().any(|word| word.text == "case");
        match self.tokens.last() {
            Some(Token::Sign(sign @ ("|" | "&&" | "||"))) => {
                Err(format!("no command stands behind `{sign}`"))
            }
            _ if opened > closed => Err("nothing closes `(`".into()),
            _ if opened < closed && !has_case => Err("nothing opens `)`".into()),
            _ => Ok(()),
        }
    }

    /// The first sign or word that only a shell understands. Where one program is started, its input and output need none.
    pub(super) fn needs_shell(&self) -> bool {
        self.tokens.iter().any(|token| match token {
            Token::Word(word) => !word.is_plain,
            Token::Sign(sign) => !["<", ">", ">>", ">|", ">&"].contains(sign),
            Token::Descriptor(_) => false,
        })
    }

    /// The words that begin commands, behind variables that are set for them.
    pub(super) fn commands(&self) -> Vec<&Word> {
        let mut found = Vec::new();
        let mut is_start = true;
        let mut tokens = self.tokens.iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                Token::Sign(sign) if is_redirection(sign) => {
                    tokens.next();
                }
                Token::Sign(_) => is_start = true,
                Token::Descriptor(_) => {}
                Token::Word(word) if is_start => {
                    let sets = |word: &Word| variable(&word.text).is_some();
                    let is_env =
                        word.text == "env" && matches!(tokens.peek(), Some(Token::Word(next)) if sets(next));
                    let is_before = is_env || sets(word);
                    if !is_before {
                        found.push(word);
                        is_start = OPENING.contains(&word.text.as_str());
                    }
                }
                Token::Word(_) => {}
            }
        }
        found
    }

    /// The word that names a program which is neither the shell's nor found among its commands; else the first that names one
    /// by a path relative to a folder, as in `mpirun -n 2 ./a.out`.
    pub(super) fn unknown_program(&self) -> Option<&str> {
        let is_unknown = |word: &&Word| {
            let name = word.text.as_str();
            word.is_plain && !BUILT_IN.contains(&name) && (name.contains('/') || !is_command(name))
        };
        let is_program = |word: &&Word| {
            let path = Path::new(&word.text);
            word.is_plain && (path.starts_with(".") || path.starts_with("..")) && !is_data(path)
        };
        let mut words = self.tokens.iter().filter_map(|token| match token {
            Token::Word(word) => Some(word),
            _ => None,
        });
        let found = self.commands().into_iter().find(is_unknown).or_else(|| words.find(is_program));
        found.map(|word| word.text.as_str())
    }

    /// The text with something else for each word that is this one.
    pub(super) fn with(&self, name: &str, instead: &str) -> String {
        let mut out = String::new();
        let mut from = 0;
        for token in &self.tokens {
            if let Token::Word(word) = token
                && word.is_plain
                && word.text == name
            {
                out += &self.text[from..word.at.start];
                out += instead;
                from = word.at.end;
            }
        }
        out + &self.text[from..]
    }

    /// The files that what is printed is sent to, and that are still there in the end, as seen from where the command runs.
    ///
    /// # Errors
    /// If it is not clear which file one is, or where what is printed is thrown away.
    pub(super) fn written(&self) -> Result<Vec<PathBuf>, String> {
        let mut files: Vec<PathBuf> = Vec::new();
        // The folder of the command, and of those around it; `None` if it is not known.
        let mut folder = Some(PathBuf::new());
        let mut outer = Vec::new();
        let mut command = "";
        // What is said if nothing is printed behind it.
        let mut thrown_away = None;
        let (mut is_start, mut descriptor) = (true, "1");
        let mut tokens = self.tokens.iter();
        while let Some(token) = tokens.next() {
            match token {
                Token::Sign("(") => {
                    outer.push(folder.clone());
                    is_start = true;
                }
                Token::Sign(")") => folder = outer.pop().unwrap_or(folder),
                Token::Sign(sign) if is_redirection(sign) => {
                    let Some(Token::Word(file)) = tokens.next() else {
                        return Err(format!("no file is named behind `{sign}`"));
                    };
                    if sign.starts_with('>')
                        && descriptor == "1"
                        && !(*sign == ">&" && is_descriptor(&file.text))
                    {
                        match file.is_thrown_away() {
                            true => thrown_away = Some((sign, &file.text)),
                            false => files.extend(file.place(sign, folder.as_deref())?),
                        }
                    }
                    descriptor = "1";
                }
                Token::Sign(_) => is_start = true,
                Token::Descriptor(number) => descriptor = number,
                Token::Word(word) if std::mem::take(&mut is_start) => {
                    command = &word.text;
                    is_start = OPENING.contains(&command);
                    thrown_away = thrown_away.filter(|_| !may_print(command));
                }
                Token::Word(word) if command == "cd" => {
                    let is_clear = word.is_plain && !word.text.starts_with('-');
                    folder = folder.filter(|_| is_clear).map(|folder| folder.join(&word.text));
                }
                Token::Word(word) if command == "rm" => {
                    let gone = folder.as_ref().map(|folder| folder.join(&word.text));
                    files.retain(|file| Some(file) != gone.as_ref());
                }
                Token::Word(_) => {}
            }
        }
        if let Some((sign, file)) = thrown_away {
            return Err(format!("`{sign} {file}`: what is printed is compared, so leave that out"));
        }
        files.sort();
        files.dedup();
        Ok(files)
    }
}

impl Word {
    /// Whether nobody reads what is sent to the file of this name.
    fn is_thrown_away(&self) -> bool {
        self.is_plain && self.text.starts_with("/dev/") && self.text != "/dev/stdout"
    }

    /// The file that output is sent to; `None` if that is where it would go anyway.
    fn place(&self, sign: &str, folder: Option<&Path>) -> Result<Option<PathBuf>, String> {
        let Word { text, is_plain, .. } = self;
        match folder {
            _ if !is_plain => Err(format!("`{sign} {text}`: name the file itself, since it is compared")),
            _ if text == "/dev/stdout" => Ok(None),
            Some(folder) => Ok(Some(folder.join(text))),
            None => Err(format!(
                "`{sign} {text}`: the file is compared, but its folder is not clear; name that itself behind `cd`"
            )),
        }
    }
}

/// Whether a command is one that prints something, as far as its name tells.
fn may_print(command: &str) -> bool {
    const SILENT: [&str; 7] = ["rm", "mv", "cp", "mkdir", "touch", "true", "sleep"];
    !BUILT_IN.contains(&command) && !SILENT.contains(&command) && variable(command).is_none()
}

/// What `sh` has instead of a sign of bash.
fn of_bash(sign: &str) -> Option<&'static str> {
    match sign {
        "&>" => Some("`> FILE 2>&1`"),
        "&>>" => Some("`>> FILE 2>&1`"),
        "|&" => Some("`2>&1 |`"),
        "<<<" => Some("`echo TEXT |` before the program"),
        _ => None,
    }
}

fn is_redirection(sign: &str) -> bool {
    sign.starts_with(['<', '>'])
}

fn is_descriptor(text: &str) -> bool {
    text == "-" || text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The word that begins at a position, and its end.
fn word(text: &str, start: usize) -> Result<(Word, usize), String> {
    let (mut out, mut is_plain, mut is_quoted) = (String::new(), true, false);
    let mut at = start;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        match c {
            '\'' if !is_quoted => {
                let end = rest[1..].find('\'').ok_or(NOT_CLOSED)?;
                out += &rest[1..=end];
                at += end + 2;
                continue;
            }
            '"' => {
                is_quoted = !is_quoted;
                at += 1;
                continue;
            }
            '\\' => {
                let next = rest[1..].chars().next().ok_or("it ends in a backslash")?;
                if is_quoted && !"$`\"\\\n".contains(next) {
                    out.push('\\');
                }
                if next != '\n' {
                    out.push(next);
                }
                at += 1 + next.len_utf8();
                continue;
            }
            '$' | '`' => {
                is_plain = false;
                let length = substitution(rest).ok_or(NOT_CLOSED)?;
                out += &rest[..length];
                at += length;
                continue;
            }
            _ if is_quoted => {}
            '*' | '?' | '[' => is_plain = false,
            '~' if at == start => is_plain = false,
            _ if c.is_whitespace() || SIGNS.iter().any(|sign| rest.starts_with(sign)) => break,
            _ => {}
        }
        out.push(c);
        at += c.len_utf8();
    }
    if is_quoted { Err(NOT_CLOSED.into()) } else { Ok((Word { text: out, is_plain, at: start..at }, at)) }
}

const NOT_CLOSED: &str = "a quote or bracket is not closed";

/// How long what begins with `$` or a backquote is; `None` if it does not end.
fn substitution(text: &str) -> Option<usize> {
    if let Some(inner) = text.strip_prefix('`') {
        return Some(inner.find('`')? + 2);
    }
    let (open, close) = match text.as_bytes().get(1) {
        Some(b'(') => ('(', ')'),
        Some(b'{') => ('{', '}'),
        _ => return Some(1),
    };
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == open) - i32::from(c == close);
        if depth == 0 && c == close {
            return Some(at + 1);
        }
    }
    None
}

/// Name and value of a word that sets a variable of the environment.
pub(super) fn variable(word: &str) -> Option<(&str, &str)> {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split_once('=').filter(|(name, _)| is_name(name))
}

/// Whether a shell would find this name among its commands.
fn is_command(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
}

/// Whether there is a file that cannot be run.
fn is_data(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_dir() || found.permissions().mode() & 0o111 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> Script<'_> {
        Script::of(text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn words_lose_their_quotes() {
        let script = script(r#"A=1 ./p 'a b' "c \"$X\" \d" e\ f>out 2>&1 # no more"#);
        let words: Vec<&str> = script
            .tokens
            .iter()
            .filter_map(|token| if let Token::Word(word) = token { Some(word.text.as_str()) } else { None })
            .collect();
        assert_eq!(words, ["A=1", "./p", "a b", r#"c "$X" \d"#, "e f", "out", "1"]);
        assert!(script.needs_shell() && !super::Script::of("./p 2>&1").expect("a command").needs_shell());
    }

    #[test]
    fn only_some_commands_need_a_shell() {
        for text in ["./p 'a*b' \\$x < in", "./p 2>&1", "./p > log", "A=1 ./p >> log"] {
            assert!(!script(text).needs_shell(), "{text}");
        }
        for text in [
            "./p $HOME",
            "./p *.dat",
            "./p; ./q",
            "(./p)",
            "./p \"$X\"",
            "./p | sort",
            "~/p",
            "./p `x`",
            "a\nb",
        ] {
            assert!(script(text).needs_shell(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, why) in [
            ("./p 'x", "not closed"),
            ("./p \"x", "not closed"),
            ("./p $(x", "not closed"),
            ("./p &> log", "write `> FILE 2>&1`"),
            ("./p <<< x", "a sign of bash"),
            ("./p |& sort", "write `2>&1 |`"),
        ] {
            let error = Script::of(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn the_program_is_the_one_that_no_command_is() {
        for (text, program) in [
            ("./p 3 | sort", Some("./p")),
            ("cat in | A=1 ./p -x", Some("./p")),
            ("cd data && ../p", Some("../p")),
            ("env -i ./p", Some("./p")),
            ("sh -c true ./p", Some("./p")),
            ("for i in 1 2; do ./p $i; done", Some("./p")),
            ("no_such_command x | sort", Some("no_such_command")),
            ("> log cat /dev/null", None),
        ] {
            assert_eq!(script(text).unknown_program(), program, "{text}");
        }
        assert_eq!(script("./p 1 && './p' 2 './p '").with("./p", "\"$0\""), "\"$0\" 1 && \"$0\" 2 './p '");
    }

    #[test]
    fn files_that_are_written_are_known() {
        let written = |text| {
            script(text).written().map(|files| files.iter().map(|f| f.display().to_string()).collect())
        };
        for (text, files) in [
            ("./p | sort > out", vec!["out"]),
            ("cd data && ../p 2> err > a; ../q >> b", vec!["data/a", "data/b"]),
            ("(cd data; ./p > a) && ./q >b", vec!["b", "data/a"]),
            ("./p > tmp; ./q < tmp; rm tmp", vec![]),
            ("./p $X > /abs/out 2>&1", vec!["/abs/out"]),
            ("./p | tee log > /dev/stdout", vec![]),
            ("./p > /dev/null; for f in a b; do tail $f; done", vec![]),
            ("mkdir -p out && ./p out > /dev/null; cat out/x", vec![]),
        ] {
            let files: Vec<String> = files.into_iter().map(str::to_owned).collect();
            assert_eq!(written(text), Ok::<Vec<String>, String>(files), "{text}");
        }
        for (text, why) in [
            ("./p > $OUT", "name the file itself"),
            ("./p | sort > /dev/null", "leave that out"),
            ("./p > /dev/null; rm -f tmp", "leave that out"),
            ("for i in 1 2; do ./p $i > /dev/null; done", "leave that out"),
            ("cd $X && ./p > log", "its folder is not clear"),
            ("./p | sort >", "no file is named behind `>`"),
        ] {
            let error = script(text).written().expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
