//! How the program is run.

use oxeye_measure::{Exit, Invocation};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The command that runs the program: what a shell would be told, but for the program itself, which is built anew.
///
/// ```
/// let run: oxeye::RunCommand = "OMP_NUM_THREADS=2 ./solver -n 200 < input.dat".parse()?;
/// assert_eq!(run.args, ["-n", "200"]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCommand {
    /// Variables of the environment, in the order in which they are set.
    pub env: Vec<(String, String)>,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// The file that its standard input comes from; `None` is an empty one.
    pub stdin: Option<PathBuf>,
    /// The folder it runs in; `None` is the present one.
    pub folder: Option<PathBuf>,
    /// The first word, where that matters: the name of a program in a project, or of another one that runs what the project
    /// builds.
    pub program: Option<String>,
    /// The exit code that tells that all went well.
    pub exit_code: i32,
    /// How long a run may take; `None` goes by the budget.
    pub timeout: Option<Duration>,
    /// For a program that is not run by its path: what it is loaded in place of.
    pub(crate) stand_in: Option<StandIn>,
}

/// A file that is loaded or run in place of another, wherever that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StandIn {
    /// The library that arranges this.
    pub(crate) library: PathBuf,
    /// The names of what is replaced.
    pub(crate) of: Vec<PathBuf>,
    /// Other files that are replaced: a name, and what stands for it.
    pub(crate) others: Vec<(PathBuf, PathBuf)>,
    pub(crate) starts: Started,
}

/// What is started, where files stand in for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Started {
    /// What the first word of the command says, a program that the project does not build.
    FirstWord,
    /// The file that is tuned.
    Itself,
    /// This one, which uses the file that is tuned.
    Other(PathBuf),
}

impl RunCommand {
    /// The run of one build of the program.
    pub(crate) fn of(&self, executable: &Path) -> Invocation {
        let program = match (self.stand_in.as_ref().map(|stand_in| &stand_in.starts), &self.program) {
            (Some(Started::Other(program)), _) => program.as_path(),
            (Some(Started::FirstWord), Some(program)) => Path::new(program),
            _ => executable,
        };
        let mut invocation = Invocation::new(program).args(&self.args).cwd(self.folder.clone());
        invocation.called = self.program.as_ref().map(Into::into);
        invocation.env = self.env.iter().map(|(name, value)| (name.clone(), value.into())).collect();
        invocation.stdin = self.stdin_file();
        match &self.stand_in {
            Some(stand_in) => stand_in.arrange(invocation, executable),
            None => invocation,
        }
    }

    /// The file for standard input, as seen from the present folder.
    pub(crate) fn stdin_file(&self) -> Option<PathBuf> {
        let file = self.stdin.as_ref()?;
        Some(self.folder.as_ref().map_or_else(|| file.clone(), |folder| folder.join(file)))
    }

    /// Whether a run went well.
    pub(crate) fn is_success(&self, exit: Exit) -> bool {
        exit == Exit::Exited(self.exit_code)
    }

    /// The command as in a shell, for people.
    pub fn line(&self) -> String {
        if let (Some(SHELL), [option, script]) = (self.program.as_deref(), &self.args[..])
            && option == OPTION
        {
            return script.clone();
        }
        let env = self.env.iter().map(|(name, value)| format!("{name}={value}"));
        let words: Vec<String> = env.chain(self.program.clone()).chain(self.args.iter().cloned()).collect();
        let line = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "));
        match &self.stdin {
            Some(file) => format!("{line} < {}", file.display()),
            None => line,
        }
    }

    /// Whether it says no more than that the program is run.
    pub(crate) fn is_bare(&self) -> bool {
        self.args.is_empty() && self.stdin.is_none()
    }
}

impl StandIn {
    /// All files that take part, but for the one that is tuned.
    pub(crate) fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let started = match &mut self.starts {
            Started::Other(file) => Some(file),
            Started::FirstWord | Started::Itself => None,
        };
        self.others.iter_mut().map(|(_, file)| file).chain(started)
    }

    /// Makes a run take `file` for what it is to replace.
    fn arrange(&self, run: Invocation, file: &Path) -> Invocation {
        let own = self.of.iter().map(|name| (name.as_path(), file));
        let others = self.others.iter().map(|(name, file)| (name.as_path(), file.as_path()));
        let mut table = OsString::new();
        for (name, file) in own.chain(others) {
            table.push(name);
            table.push("\n");
            table.push(file);
            table.push("\n");
        }
        // Observed libraries look their functions up at every call in some systems, unless it is done at the start.
        let run = run.env("LD_BIND_NOW", "1");
        let run = run.env("OXEYE_STAND_INS", table).env("LD_AUDIT", &self.library);
        run.preload(&self.library)
    }
}

impl RunCommand {
    /// A command in a project: its first word may be a program that the project builds, or any other. A shell runs what only
    /// a shell understands, such as `cd data && ../solver | sort`.
    ///
    /// # Errors
    /// What is wrong with the text, in words.
    pub fn in_project(text: &str) -> Result<Self, String> {
        Self::parse(text, false)
    }

    fn parse(text: &str, is_own_program: bool) -> Result<Self, String> {
        let Some(words) = shlex::split(text) else { return Err("a quote is not closed".into()) };
        let unquoted = Unquoted::of(text);
        match unquoted.sign {
            None => {}
            Some(sign) if is_own_program => {
                return Err(format!(
                    "`{sign}`: one program is run, without a shell; quote what is meant as it stands, or tune it as a project, whose --run has one: oxeye tune --build \"...\" --run \"...\""
                ));
            }
            Some(_) if unquoted.is_sent => {
                return Err(
                    "`>`: what is printed is compared, so it cannot be sent elsewhere; leave it out".into()
                );
            }
            Some(_) => {
                let args = vec![OPTION.to_owned(), text.to_owned()];
                return Ok(RunCommand { program: Some(SHELL.to_owned()), args, ..RunCommand::default() });
            }
        }
        let mut run = RunCommand::default();
        // `env NAME=value` is how others write `NAME=value`.
        let n_skipped = match words.as_slice() {
            [first, second, ..] if first == "env" && variable(second).is_some() => 1,
            _ => 0,
        };
        let mut words = words.into_iter().skip(n_skipped).peekable();
        while let Some((name, value)) = words.peek().and_then(|word| variable(word)) {
            run.env.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        let Some(program) = words.next() else {
            return Err("it names no program; write it as in a shell: \"./prog -n 200\"".into());
        };
        if program.starts_with(['<', '>']) {
            return Err("it begins with a redirection; write that behind the program".into());
        }
        if is_own_program && !program.contains('/') && is_command(&program) {
            return Err(format!(
                "`{program}` is another program; the first word stands for the program that the compile command makes"
            ));
        }
        run.program = (!is_own_program).then_some(program);
        while let Some(word) = words.next() {
            match word.as_str() {
                "<" => match words.next() {
                    Some(file) => run.stdin = Some(file.into()),
                    None => return Err("no file is named behind `<`".into()),
                },
                word if word.starts_with('<') && !word.starts_with("<<") => {
                    run.stdin = Some(word[1..].into())
                }
                // What the program prints is compared wherever it would go.
                word if unquoted.is_sent && is_redirected(word) => {
                    if word.ends_with(['>', '&']) && words.next().is_none() {
                        return Err(format!("no file is named behind `{word}`"));
                    }
                }
                _ => run.args.push(word),
            }
        }
        Ok(run)
    }
}

impl std::str::FromStr for RunCommand {
    type Err = String;

    /// Understands words and quotes as a shell does, `NAME=value` before the program, and `< file`.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text, true)
    }
}

/// Name and value of a word that sets a variable of the environment.
fn variable(word: &str) -> Option<(&str, &str)> {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split_once('=').filter(|(name, _)| is_name(name))
}

/// The shell for commands that need one, and its option for them.
const SHELL: &str = "sh";
const OPTION: &str = "-c";

/// Whether a word sends what a program prints to a file: `>`, `>log`, `2>&1`.
fn is_redirected(word: &str) -> bool {
    word.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('>')
}

/// What a command has outside of quotes that only a shell understands.
#[derive(Default)]
struct Unquoted {
    /// Several programs, variables, patterns of file names: the first such sign.
    sign: Option<char>,
    /// Whether what it prints goes to a file.
    is_sent: bool,
}

impl Unquoted {
    fn of(text: &str) -> Self {
        let mut found = Self::default();
        let (mut quote, mut is_escaped) = (None, false);
        let mut last = ' ';
        for c in text.chars() {
            let before = std::mem::replace(&mut last, c);
            if std::mem::take(&mut is_escaped) {
                continue;
            }
            let is_sign = match (quote, c) {
                (None | Some('"'), '\\') => {
                    is_escaped = true;
                    false
                }
                (None, '\'' | '"') => {
                    quote = Some(c);
                    false
                }
                (Some(open), _) if c == open => {
                    quote = None;
                    false
                }
                (None | Some('"'), '$' | '`') => true,
                // `2>&1` is part of one command.
                (None, '&') => before != '>',
                (None, '>') => {
                    found.is_sent = true;
                    before == '&'
                }
                (None, '<') => before == '<',
                (None, '|' | ';' | '(' | '*' | '?' | '[' | '\n') => true,
                _ => false,
            };
            if is_sign {
                found.sign = found.sign.or(Some(c));
            }
        }
        found
    }
}

/// Whether a shell would find this name among its commands.
fn is_command(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<RunCommand, String> {
        text.parse()
    }

    #[test]
    fn a_command_is_read_as_a_shell_reads_it() {
        let run = parsed("A=1 B='x y' ./prog -n 200 'two words' < in.dat").expect("a command");
        assert_eq!(run.env, [("A".into(), "1".into()), ("B".into(), "x y".into())]);
        assert_eq!(run.args, ["-n", "200", "two words"]);
        assert_eq!(run.stdin, Some("in.dat".into()));
        assert_eq!(parsed("./a.out <in").expect("a command").stdin, Some("in".into()));
        let run = parsed("env A=1 B=2 ./prog 3").expect("a command");
        assert_eq!((run.env.len(), run.args), (2, vec!["3".to_owned()]));
        // What has the form of a variable behind the program is an argument.
        assert_eq!(parsed("prog_of_mine n=3").expect("a command").args, ["n=3"]);
    }

    #[test]
    fn what_needs_a_shell_is_refused() {
        for (text, word) in [
            ("", "names no program"),
            ("A=1", "names no program"),
            ("./p 'x", "quote"),
            ("./p | tee log", "without a shell"),
            ("./p <", "no file"),
            ("sh run.sh", "another program"),
            ("./p &> log", "without a shell"),
            ("./p *.dat", "without a shell"),
            ("./p <<< x", "without a shell"),
            ("> log ./p", "begins with"),
        ] {
            let error = parsed(text).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn in_a_project_a_shell_runs_what_needs_one() {
        let run = RunCommand::in_project("cd data && ../p -x 'a b' | sort").expect("a command");
        assert_eq!(run.program.as_deref(), Some("sh"));
        assert_eq!(run.args, ["-c", "cd data && ../p -x 'a b' | sort"]);
        assert_eq!(run.line(), "cd data && ../p -x 'a b' | sort");
        for text in ["./p $HOME", "./p *.dat", "./p; ./q", "(./p)", "./p \"$X\""] {
            assert_eq!(
                RunCommand::in_project(text).expect("a command").program.as_deref(),
                Some("sh"),
                "{text}"
            );
        }
        for text in ["./p 'a*b' \\$x < in", "./p 2>&1", "./p > log"] {
            assert_eq!(
                RunCommand::in_project(text).expect("a command").program.as_deref(),
                Some("./p"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_a_program_prints_is_compared_wherever_it_goes() {
        for text in
            ["./p 3 > log", "./p 3 >log", "./p 3 2>/dev/null >log", "./p > log 2>&1 3", "./p >> log 3"]
        {
            let run = parsed(text).expect(text);
            assert_eq!(run.args, ["3"], "{text}");
        }
        assert!(parsed("./p >").expect_err("no file").contains("no file"));
        assert_eq!(parsed("./p '>0.5' x").expect("a command").args, [">0.5", "x"]);
        let error = RunCommand::in_project("cd data && ../p > log").expect_err("not compared");
        assert!(error.contains("is compared"), "{error}");
    }

    #[test]
    fn the_file_for_standard_input_is_looked_for_where_the_program_runs() {
        let mut run = parsed("./p < in").expect("a command");
        run.folder = Some("data".into());
        assert_eq!(run.stdin_file(), Some("data/in".into()));
    }
}
