//! How the program is run.

use super::error::Error;
use super::launcher::processes;
use super::shell::{OPTION, SHELL, Script, Token, variable};
use oxeye_measure::{Exit, Invocation, available_cores};
use std::collections::BTreeSet;
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
    /// What a shell is told that runs the program, which is `$0` there.
    pub script: Option<String>,
    /// The files that a shell sends output to, as seen from the folder: they are compared, too.
    pub written: Vec<PathBuf>,
    /// The exit code that tells that all went well.
    pub exit_code: i32,
    /// How long a run may take; `None` goes by the budget.
    pub timeout: Option<Duration>,
    /// Processes that a run starts on this machine and that do the same at the same time, by what `mpirun` and its like are
    /// told; `None` is one. Nests are timed in as many at once.
    pub copies: Option<u32>,
    /// Of which of these processes the arguments of nests are kept; `None` is the one that spends most time in nests.
    pub rank: Option<u32>,
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
    /// The threads of each process that a run starts, if nobody says how many: its part of the cores.
    pub fn usual_threads(&self) -> u32 {
        (available_cores() as u32 / self.copies.unwrap_or(1).max(1)).max(1)
    }

    /// The run of one build of the program.
    pub(crate) fn of(&self, executable: &Path) -> Invocation {
        let program = match (self.stand_in.as_ref().map(|stand_in| &stand_in.starts), &self.program) {
            (Some(Started::Other(program)), _) => program.as_path(),
            (Some(Started::FirstWord), Some(program)) => Path::new(program),
            _ => executable,
        };
        let mut invocation = match &self.script {
            // It may be run from another folder.
            Some(script) => {
                let executable = std::path::absolute(executable).unwrap_or_else(|_| executable.to_owned());
                Invocation::new(SHELL).args([OPTION, script.as_str()]).args([executable])
            }
            None => Invocation::new(program).args(&self.args),
        };
        invocation = invocation.cwd(self.folder.clone());
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

    /// Whether the process is there whose arguments of nests are to be kept, among those that a run has numbered.
    ///
    /// # Errors
    /// If it is not.
    pub(crate) fn expect_rank(&self, seen: &BTreeSet<u64>) -> Result<(), Error> {
        let Some(rank) = self.rank.filter(|rank| !seen.contains(&u64::from(*rank))) else { return Ok(()) };
        let text = match (seen.first(), seen.last()) {
            (Some(first), Some(last)) if first < last => {
                format!("the processes of the run have the numbers {first} to {last}")
            }
            (Some(only), _) => format!("the one process of the run has the number {only}"),
            _ => "nothing numbers the processes of this run, as `mpirun` does; leave it out".into(),
        };
        Err(Error::Input(format!("--rank {rank}: {text}")))
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
        self.args.is_empty() && self.stdin.is_none() && self.script.is_none()
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
        let script = Script::of(text)?;
        script.check()?;
        let is_other =
            |name: &str| is_own_program && !name.contains('/') && script.unknown_program() != Some(name);
        let program = script.commands().first().map(|word| word.text.as_str());
        // More than there are cores are on other machines, or wait for each other.
        let copies = processes(&script).map(|n| n.min(available_cores() as u32));
        let run = match program {
            None => return Err("it names no program; write it as in a shell: \"./prog -n 200\"".into()),
            Some(name) if script.needs_shell() || is_other(name) => {
                Self::in_shell(&script, text, is_own_program)?
            }
            Some(_) => Self::of_one_program(script.tokens, is_own_program)?,
        };
        Ok(Self { copies, ..run })
    }

    /// A command that only a shell understands.
    fn in_shell(script: &Script<'_>, text: &str, is_own_program: bool) -> Result<Self, String> {
        let run = Self { written: script.written()?, ..Self::default() };
        match (is_own_program, script.unknown_program()) {
            (false, _) => {
                let args = vec![OPTION.to_owned(), text.to_owned()];
                Ok(Self { program: Some(SHELL.to_owned()), args, ..run })
            }
            (true, Some(own)) => Ok(Self { script: Some(script.with(own, "\"$0\"")), ..run }),
            (true, None) => {
                Err("all programs in it are others; name the one that the compile command makes as ./NAME, \
                 such as \"mpirun -n 2 ./solver\""
                    .into())
            }
        }
    }

    /// A command that starts one program; what that prints is compared wherever it would go.
    fn of_one_program(tokens: Vec<Token<'_>>, is_own_program: bool) -> Result<Self, String> {
        let mut run = Self::default();
        let mut words = Vec::new();
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            match token {
                Token::Word(word) => words.push(word.text),
                Token::Descriptor(_) => {}
                Token::Sign(sign) => match tokens.next() {
                    Some(Token::Word(file)) if sign == "<" => run.stdin = Some(file.text.into()),
                    Some(Token::Word(_)) => {}
                    _ => return Err(format!("no file is named behind `{sign}`")),
                },
            }
        }
        // `env NAME=value` is how others write `NAME=value`.
        let is_env =
            matches!(&words[..], [first, second, ..] if first == "env" && variable(second).is_some());
        let mut words = words.into_iter().skip(usize::from(is_env)).peekable();
        while let Some((name, value)) = words.peek().and_then(|word| variable(word)) {
            run.env.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        run.program = words.next().filter(|_| !is_own_program);
        run.args = words.collect();
        Ok(run)
    }
}

impl std::str::FromStr for RunCommand {
    type Err = String;

    /// Understands a command as a shell does. Where it starts one program, that stands for the one that is built anew; where it
    /// starts several, those that the shell does not know.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text, true)
    }
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
    fn what_names_no_program_is_refused() {
        for (text, word) in [
            ("", "names no program"),
            ("A=1", "names no program"),
            ("./p 'x", "quote"),
            ("./p <", "no file is named behind `<`"),
            ("./p >", "no file is named behind `>`"),
            ("sh run.sh", "name the one that the compile command makes as ./NAME"),
            ("cat x | sort", "name the one that the compile command makes as ./NAME"),
            ("./p &> log", "of bash"),
            ("./p(", "nothing closes `(`"),
            ("(cd x && ./p", "nothing closes `(`"),
            ("./p )", "nothing opens `)`"),
            ("./p |", "no command stands behind `|`"),
            ("./p &&", "no command stands behind `&&`"),
        ] {
            let error = parsed(text).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn a_shell_runs_what_needs_one() {
        let run = RunCommand::in_project("cd data && ../p -x 'a b' | sort > out").expect("a command");
        assert_eq!(run.program.as_deref(), Some("sh"));
        assert_eq!(run.args, ["-c", "cd data && ../p -x 'a b' | sort > out"]);
        assert_eq!(run.line(), "cd data && ../p -x 'a b' | sort > out");
        assert_eq!(run.written, [PathBuf::from("data/out")]);
        for (text, script) in [
            ("./p 3 | sort", "\"$0\" 3 | sort"),
            ("cd data && ../p *.dat", "cd data && \"$0\" *.dat"),
            ("env -i ./p", "env -i \"$0\""),
        ] {
            let run = parsed(text).expect(text);
            let of = run.of(Path::new("/tmp/built"));
            assert_eq!(of.program, Path::new("sh"), "{text}");
            assert_eq!(of.args, ["-c", script, "/tmp/built"], "{text}");
        }
        assert!(parsed("case $A in x) ./p;; esac").is_ok() && parsed("(cd x && ./p 3)").is_ok());
        for text in ["./p 'a*b' \\$x < in", "./p 2>&1", "./p > log"] {
            let run = RunCommand::in_project(text).expect("a command");
            assert_eq!(run.program.as_deref(), Some("./p"), "{text}");
        }
    }

    #[test]
    fn what_a_program_prints_is_compared_wherever_it_goes() {
        for text in [
            "./p 3 > log",
            "./p 3 >log",
            "./p 3 2>/dev/null >log",
            "./p > log 2>&1 3",
            "./p >> log 3",
            "> log ./p 3",
        ] {
            let run = parsed(text).expect(text);
            assert_eq!((run.args, run.written.len()), (vec!["3".to_owned()], 0), "{text}");
        }
        assert_eq!(parsed("./p '>0.5' x").expect("a command").args, [">0.5", "x"]);
    }

    #[test]
    fn the_file_for_standard_input_is_looked_for_where_the_program_runs() {
        let mut run = parsed("./p < in").expect("a command");
        run.folder = Some("data".into());
        assert_eq!(run.stdin_file(), Some("data/in".into()));
    }
}
