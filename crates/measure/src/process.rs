//! Child processes: each with its own process group and limits; pipes are drained, and no zombie stays.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use libc::{c_int, pid_t};
use serde::Serialize;

use crate::busy::Threads;
use crate::cores::pin;
use crate::error::{MeasureError, signal_name};
use crate::{aside, workdir};

/// A program to run.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// The program: a path, or a name looked up in `PATH`.
    pub program: PathBuf,
    /// What the program is told that it is called, if that is another name.
    pub called: Option<OsString>,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs; `None` is the present folder.
    pub cwd: Option<PathBuf>,
    /// Environment variables to set on top of the inherited ones.
    pub env: Vec<(String, OsString)>,
    /// A file for its standard input; `None` is an empty one.
    pub stdin: Option<PathBuf>,
}

impl Invocation {
    /// A program without arguments in the present folder.
    pub fn new(program: impl Into<PathBuf>) -> Invocation {
        Invocation { program: program.into(), ..Invocation::default() }
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Invocation {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<OsString>) -> Invocation {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Lets threads wait for each other so, unless it is said already.
    pub(crate) fn waiting(mut self, how: Option<(&str, &str)>) -> Invocation {
        // What comes later counts.
        self.env.splice(0..0, how.map(|(name, value)| (name.to_owned(), value.into())));
        self
    }

    /// Loads a library before all others, also into what the program starts in its turn.
    pub fn preload(mut self, library: &Path) -> Invocation {
        const NAME: &str = "LD_PRELOAD";
        let own = self.env.iter().rposition(|(name, _)| name == NAME).map(|at| self.env.remove(at).1);
        let mut libraries = OsString::from(library);
        if let Some(others) = own.or_else(|| std::env::var_os(NAME)).filter(|others| !others.is_empty()) {
            libraries.push(":");
            libraries.push(others);
        }
        self.env(NAME, libraries)
    }

    /// Sets the folder it runs in.
    pub fn cwd(mut self, cwd: Option<PathBuf>) -> Invocation {
        self.cwd = cwd;
        self
    }

    pub(crate) fn command(&self) -> Result<Command, MeasureError> {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if let Some(name) = &self.called {
            command.arg0(name);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        match &self.stdin {
            None => command.stdin(Stdio::null()),
            Some(path) => command.stdin(File::open(path).map_err(MeasureError::io("read", path))?),
        };
        Ok(command)
    }
}

/// Limits of a child process.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Address space, if limited.
    pub memory_bytes: Option<u64>,
    /// How much of each of standard output and standard error is kept; the rest is read and thrown away.
    pub output_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { seconds: 300.0, memory_bytes: None, output_bytes: 64 << 20 }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Exit {
    /// By itself, with an exit code.
    Exited(i32),
    /// Of a signal that was not ours.
    Signal(i32),
    /// Killed at the time limit.
    TimedOut,
}

impl Exit {
    /// Whether it ended with exit code 0.
    pub fn success(self) -> bool {
        self == Exit::Exited(0)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Exited(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "{} (signal {signal})", signal_name(*signal)),
            Exit::TimedOut => f.write_str("stopped at the time limit"),
        }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// How it ended.
    pub exit: Exit,
    /// Standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// Standard error, up to the limit.
    pub stderr: Vec<u8>,
    /// Whether either of them was longer than the limit.
    pub truncated: bool,
    /// Wall-clock nanoseconds from before the start until the end was seen.
    pub elapsed_ns: u64,
    /// Nanoseconds of these in which it could have run and did not, since others had the cores.
    pub held_ns: u64,
    /// Largest resident set, in bytes.
    pub max_rss: u64,
}

impl RunOutcome {
    /// Nanoseconds that it took, as far as it could run.
    pub fn own_ns(&self) -> u64 {
        self.elapsed_ns.saturating_sub(self.held_ns)
    }
}

/// Runs a program to its end or to its limits. Its whole process group is gone when this returns.
///
/// # Errors
/// When it cannot be started. A program that fails is an outcome, not an error.
pub fn run_program(invocation: &Invocation, limits: &Limits) -> Result<RunOutcome, MeasureError> {
    let mut command = invocation.command()?;
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut group = Group::spawn(&mut command, limits, true)?;
    let stdout = Drain::start(group.stdout.take(), limits.output_bytes);
    let stderr = Drain::start(group.stderr.take(), limits.output_bytes);
    let deadline = start + Duration::from_secs_f64(limits.seconds.clamp(0.0, 1e9));
    let mut threads = Threads::of(group.pid());
    let (end, timed_out) = group.wait_watching(deadline, || threads.look());
    let (exit, max_rss) = group.finish();
    let (stdout, stdout_cut) = stdout.take();
    let (stderr, stderr_cut) = stderr.take();
    Ok(RunOutcome {
        exit: if timed_out || exit == Exit::Signal(libc::SIGXCPU) { Exit::TimedOut } else { exit },
        stdout,
        stderr,
        truncated: stdout_cut || stderr_cut,
        elapsed_ns: u64::try_from((end - start).as_nanos()).unwrap_or(u64::MAX),
        held_ns: threads.held_ns(end - start),
        max_rss,
    })
}

/// Kills every child process, puts back the files that were aside, and removes every work folder of this process. For a Ctrl-C handler that is about to end
/// the process: children run in process groups of their own and do not see the terminal's signal.
pub fn kill_everything() {
    let pids = LIVE.lock().unwrap_or_else(|e| e.into_inner()).clone();
    for pid in pids {
        kill_group(pid, libc::SIGKILL);
    }
    aside::put_back_all();
    workdir::remove_all();
}

/// A program that goes on by itself until it ends or the value is dropped.
#[derive(Debug)]
pub struct Companion(Group);

impl Companion {
    /// Starts a program on these cores; on any if none are named. What it says goes to this file.
    ///
    /// # Errors
    /// When it cannot be started, or the file cannot be written.
    pub fn start(invocation: &Invocation, cores: &[usize], says: &Path) -> Result<Companion, MeasureError> {
        let mut command = invocation.command()?;
        let file = File::create(says).map_err(MeasureError::io("write", says))?;
        let again = file.try_clone().map_err(MeasureError::io("write", says))?;
        command.stdout(file).stderr(again);
        pin(&mut command, cores);
        let limits = Limits { seconds: 1e9, ..Limits::default() };
        Ok(Companion(Group::spawn(&mut command, &limits, false)?))
    }

    /// Whether it has not ended.
    pub fn is_running(&self) -> bool {
        let pid = self.0.pid() as libc::id_t;
        // SAFETY: siginfo_t is plain data; the pointer is to a live local, the child ours and unreaped.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            libc::waitid(libc::P_PID, pid, &mut info, options) == 0 && info.si_pid() == 0
        }
    }

    /// Asks it to end (SIGTERM).
    pub fn ask_to_end(&self) {
        self.0.signal(libc::SIGTERM);
    }
}

static LIVE: Mutex<BTreeSet<pid_t>> = Mutex::new(BTreeSet::new());

/// Threads that end with their program tell nothing any more; what they did since the last look is lost.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// A child that leads its own process group. Killed and reaped when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    pid: pid_t,
    reaped: bool,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

impl Group {
    /// `tied`: the child dies with the calling thread. Only for callers that wait for the child's end.
    pub(crate) fn spawn(command: &mut Command, limits: &Limits, tied: bool) -> Result<Group, MeasureError> {
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
        // Only a backstop for a child that outlives this process: processor time passes faster than the clock.
        let cpu_seconds = ((limits.seconds.clamp(0.0, 1e9) + 5.0) * processors as f64).ceil() as u64;
        let memory = limits.memory_bytes;
        command.process_group(0);
        // SAFETY: the closure makes only async-signal-safe calls and allocates nothing.
        unsafe {
            command.pre_exec(move || {
                lower_limit(libc::RLIMIT_CORE, 0)?;
                lower_limit(libc::RLIMIT_CPU, cpu_seconds)?;
                if let Some(bytes) = memory {
                    lower_limit(libc::RLIMIT_AS, bytes)?;
                }
                #[cfg(target_os = "linux")]
                if tied {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                }
                Ok(())
            });
        }
        // Held over the start so that `kill_everything` cannot miss a child.
        let mut live = LIVE.lock().unwrap_or_else(|e| e.into_inner());
        let mut child = command.spawn().map_err(|source| MeasureError::Spawn {
            program: command.get_program().to_string_lossy().into_owned(),
            source,
        })?;
        let pid = child.id() as pid_t;
        live.insert(pid);
        Ok(Group { pid, reaped: false, stdout: child.stdout.take(), stderr: child.stderr.take() })
    }

    pub(crate) fn pid(&self) -> pid_t {
        self.pid
    }

    pub(crate) fn signal(&self, signal: c_int) {
        if !self.reaped {
            kill_group(self.pid, signal);
        }
    }

    /// Waits for the leader's end without reaping it, and kills the group at the deadline. Returns when the end was
    /// seen and whether the deadline had passed.
    pub(crate) fn wait_until(&self, deadline: Instant) -> (Instant, bool) {
        self.wait_watching(deadline, || ())
    }

    /// The same; looks now and then, and once when the end was seen.
    pub(crate) fn wait_watching(&self, deadline: Instant, mut look: impl FnMut()) -> (Instant, bool) {
        let pid = self.pid;
        let (send, ended) = mpsc::channel();
        std::thread::spawn(move || {
            wait_without_reaping(pid);
            let _ = send.send(Instant::now());
        });
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let end = ended.recv_timeout(left.min(BETWEEN_LOOKS)).ok();
            look();
            match end {
                Some(end) => return (end, false),
                None if left > BETWEEN_LOOKS => {}
                None => {
                    self.signal(libc::SIGKILL);
                    return (ended.recv().unwrap_or_else(|_| Instant::now()), true);
                }
            }
        }
    }

    /// Kills the rest of the group and reaps the leader; returns how it ended and its largest resident set in bytes.
    pub(crate) fn finish(mut self) -> (Exit, u64) {
        self.reap()
    }

    fn reap(&mut self) -> (Exit, u64) {
        // The leader is unreaped, running or a zombie, so its number cannot belong to anyone else yet.
        self.signal(libc::SIGKILL);
        self.reaped = true;
        let mut status = 0;
        // SAFETY: rusage is plain data for which all zeros is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        loop {
            // SAFETY: both pointers are to live locals; the pid is our own unreaped child.
            let pid = unsafe { libc::wait4(self.pid, &mut status, 0, &mut usage) };
            if pid == self.pid || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                break;
            }
        }
        LIVE.lock().unwrap_or_else(|e| e.into_inner()).remove(&self.pid);
        let exit = if libc::WIFSIGNALED(status) {
            Exit::Signal(libc::WTERMSIG(status))
        } else {
            Exit::Exited(libc::WEXITSTATUS(status))
        };
        (exit, u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            self.reap();
        }
    }
}

fn kill_group(pid: pid_t, signal: c_int) {
    // SAFETY: a plain system call.
    unsafe {
        libc::kill(-pid, signal);
    }
}

fn wait_without_reaping(pid: pid_t) {
    loop {
        // SAFETY: siginfo_t is plain data; the pointer is to a live local.
        let done = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, libc::WEXITED | libc::WNOWAIT)
        };
        if done == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

/// Lowers soft and hard limit, never above the hard limit in force.
fn lower_limit(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    // SAFETY: plain system calls on live locals.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(resource, &mut limit) != 0 {
            return Err(io::Error::last_os_error());
        }
        limit.rlim_max = limit.rlim_max.min(value);
        limit.rlim_cur = limit.rlim_max;
        if libc::setrlimit(resource, &limit) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Reads a pipe to its end in a thread, keeping the first bytes.
#[derive(Debug)]
pub(crate) struct Drain {
    done: Option<Receiver<(Vec<u8>, bool)>>,
}

impl Drain {
    pub(crate) fn start(pipe: Option<impl Read + Send + 'static>, keep: usize) -> Drain {
        let Some(mut pipe) = pipe else {
            return Drain { done: None };
        };
        let (send, done) = mpsc::channel();
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            let mut cut = false;
            let mut buffer = [0; 16 << 10];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(n) => {
                        let room = n.min(keep - kept.len());
                        kept.extend_from_slice(&buffer[..room]);
                        cut |= room < n;
                    }
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            let _ = send.send((kept, cut));
        });
        Drain { done: Some(done) }
    }

    /// The kept bytes and whether there were more. Gives up on a pipe that a process outside the group holds open.
    pub(crate) fn take(self) -> (Vec<u8>, bool) {
        match self.done.map(|done| done.recv_timeout(Duration::from_secs(2))) {
            Some(Ok(result)) => result,
            Some(Err(RecvTimeoutError::Timeout)) => (Vec::new(), true),
            _ => (Vec::new(), false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::{allowed_cores, pin};

    fn shell(script: &str, limits: &Limits) -> RunOutcome {
        run_program(&Invocation::new("sh").args(["-c", script]), limits).expect("sh starts")
    }

    #[test]
    fn exit_code_and_streams_are_captured() {
        let outcome = shell("echo out; echo err >&2; exit 3", &Limits::default());
        assert_eq!(outcome.exit, Exit::Exited(3));
        assert_eq!((&outcome.stdout[..], &outcome.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
        assert!(outcome.max_rss > 0);
    }

    #[test]
    fn a_signal_is_told_from_an_exit() {
        assert_eq!(shell("kill -SEGV $$", &Limits::default()).exit, Exit::Signal(libc::SIGSEGV));
    }

    #[test]
    fn the_whole_group_dies_at_the_time_limit() {
        let limits = Limits { seconds: 0.2, ..Limits::default() };
        let outcome = shell("sleep 1000 & echo $!; sleep 1000", &limits);
        assert_eq!(outcome.exit, Exit::TimedOut);
        let text = String::from_utf8(outcome.stdout).expect("digits");
        let pid: pid_t = text.trim().parse().expect("a pid");
        // The orphan's new parent may take a moment to reap it.
        let gone = |pid| match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Ok(stat) => stat.contains(") Z "),
            Err(_) => true,
        };
        assert!((0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            gone(pid)
        }));
    }

    #[test]
    fn a_background_child_does_not_hold_up_the_caller() {
        let outcome = shell("sleep 1000 & echo done", &Limits::default());
        assert_eq!(outcome.exit, Exit::Exited(0));
        assert_eq!(outcome.stdout, b"done\n");
    }

    #[test]
    fn endless_output_is_cut() {
        let limits = Limits { seconds: 0.5, output_bytes: 1000, ..Limits::default() };
        let outcome = shell("while :; do echo 0123456789012345678901234567890123456789; done", &limits);
        assert_eq!(outcome.exit, Exit::TimedOut);
        assert_eq!(outcome.stdout.len(), 1000);
        assert!(outcome.truncated);
    }

    #[test]
    fn what_another_program_takes_is_not_counted() {
        let Some(core) = allowed_cores().first().copied() else { return };
        let beside = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            pin(&mut command, &[core]);
            Group::spawn(&mut command, &Limits::default(), true).expect("starts")
        };
        let _other = beside("while :; do :; done");
        let work = beside("i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done");
        let start = Instant::now();
        let mut threads = Threads::of(work.pid());
        let (end, _) = work.wait_watching(start + Duration::from_secs(60), || threads.look());
        // Two that always could run have half of a core each.
        let held = Duration::from_nanos(threads.held_ns(end - start));
        assert!(held > (end - start) / 5, "{held:?} of {:?}", end - start);
    }

    #[test]
    fn a_missing_program_is_named() {
        let error =
            run_program(&Invocation::new("no-such-program-here"), &Limits::default()).expect_err("missing");
        assert!(error.to_string().contains("no-such-program-here"), "{error}");
    }
}
