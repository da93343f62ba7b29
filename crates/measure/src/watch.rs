//! Running a program whose loop nests tell of their accesses to memory, and reading what was seen.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use crate::error::MeasureError;
use crate::process::{Invocation, Limits, RunOutcome, run_program};

/// C text for the top of a watched program; its first comment says what stands before it and what the program calls. It
/// needs no headers, and every name in it begins with `oxeye_watch_`.
///
/// `OXEYE_WATCH_FILE` names the file for what was seen; unset, the nests run as they are.
pub const WATCH_RUNTIME_C: &str = include_str!("c/watch.c");

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WatchLimits {
    /// Wall-clock seconds from the first nest on; then nothing more is looked at, and the program runs on by itself.
    pub seconds: f64,
    /// Memory for what is known of the program's memory.
    pub bytes: u64,
    /// Accesses that are looked at before every other part of the memory is left alone from then on; and again, until few
    /// parts are left.
    pub looks: u64,
}

impl Default for WatchLimits {
    fn default() -> Self {
        Self { seconds: 20.0, bytes: 256 << 20, looks: 4 << 20 }
    }
}

/// What was seen.
#[derive(Clone, Debug)]
pub struct Watched {
    /// How the program ended, and its output.
    pub outcome: RunOutcome,
    /// Whether the time for looking was up before the program ended.
    pub stopped: bool,
    /// In the end, one in so many blocks of 512 bytes was looked at.
    pub one_in: u64,
    /// The nests, by number.
    pub nests: Vec<WatchedRuns>,
    /// The accesses that happened, by number.
    pub sites: Vec<WatchedSite>,
    /// Arguments of nests that held the same, byte for byte, when each was last looked at.
    pub same: Vec<SameContents>,
}

/// How often a nest ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchedRuns {
    /// Its number.
    pub nest: u32,
    /// Times it was entered by one thread.
    pub entered: u64,
    /// Of those looked at.
    pub watched: u64,
    /// Of those in which its original text had to run, which tells nothing.
    pub missed: u64,
    /// Times it was entered while another thread was in a nest; they are not among the above.
    pub concurrent: u64,
    /// Which of the nests it was to run first, from 1; 0 if it was never looked at.
    pub order: u64,
}

/// Distinct values with how often each was seen. Further values are not counted one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenValues {
    /// The bits of values, integers as 64-bit ones, with how often each was seen; the most frequent first.
    pub counts: Vec<(u64, u64)>,
    /// Whether there were more values than that.
    pub has_more: bool,
}

/// What was seen of one access in the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchedSite {
    /// Its number.
    pub site: u32,
    /// How often it happened.
    pub all: u64,
    /// How often it was looked at. What follows is of those.
    pub looked: u64,
    /// Bytes, each counted for the blocks that the one looked at stands for.
    pub bytes: u64,
    /// Values, counted likewise, as all counts that follow; not of scalars.
    pub stands: u64,
    /// Zeros.
    pub zeros: u64,
    /// Floating-point values that are whole numbers.
    pub whole: u64,
    /// Floating-point values that are numbers of single precision.
    pub single: u64,
    /// Values on the line through the first and the farthest one of the same invocation, which are not counted themselves.
    pub linear: u64,
    /// Values beside it.
    pub bent: u64,
    /// Changes from zero to others and back, from one value to the next.
    pub flips: u64,
    /// Bytes from the first to the last element.
    pub reach: u64,
    /// Least value.
    pub least: f64,
    /// Greatest value.
    pub most: f64,
    /// Least and greatest value as signed integers.
    pub integers: (i64, i64),
    /// Greatest value as an unsigned integer.
    pub most_unsigned: u64,
    /// Values bit for bit.
    pub exact: SeenValues,
    /// Floating-point values rounded to 12 bits of mantissa.
    pub coarse: SeenValues,
    /// Stores to elements that a nest has accessed before, and that left what was there.
    pub unchanged: u64,
    /// Bytes that this stored and a nest overwrote before any nest had read them.
    pub dead: u64,
    /// Of those, the bytes that the same invocation overwrote, so that nothing else can have read them.
    pub surely_dead: u64,
    /// The nest that overwrote them last.
    pub killer: u32,
    /// Bytes that this stored and no nest had read when the program ended.
    pub left: u64,
    /// Bytes read that the same invocation had stored.
    pub inner: u64,
    /// Bytes read for the first time by the nest since they were stored, by who stored them: a nest, or code elsewhere.
    pub flows: Vec<(Option<u32>, u64)>,
}

/// Two arguments of nests that held the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SameContents {
    /// Nest and position of one.
    pub first: (u32, u32),
    /// Nest and position of the other.
    pub second: (u32, u32),
    /// Their size.
    pub bytes: u64,
    /// How often they were found to be the same.
    pub times: u64,
}

/// Runs a watched program. What it saw goes through a file in `folder`.
///
/// # Errors
/// When the program cannot be started, or what it saw makes no sense. A program that ends without its exit handlers, as by a
/// signal, has seen nothing: [`Watched::nests`] is empty.
pub fn watch(
    invocation: &Invocation,
    limits: &Limits,
    watching: &WatchLimits,
    folder: &Path,
) -> Result<Watched, MeasureError> {
    let path = folder.join("watched.txt");
    let invocation = invocation
        .clone()
        .env("OXEYE_WATCH_FILE", OsString::from(&path))
        .env("OXEYE_WATCH_MILLISECONDS", ((watching.seconds.max(0.0) * 1e3) as u64).to_string())
        .env("OXEYE_WATCH_BYTES", watching.bytes.to_string())
        .env("OXEYE_WATCH_LOOKS", watching.looks.to_string());
    let outcome = run_program(&invocation, limits)?;
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(MeasureError::Io { action: "read", path, source }),
    };
    parse(&text, outcome).map_err(|line| MeasureError::sample(&path, format!("damaged line `{line}`")))
}

/// The number after a word.
fn after<T: FromStr>(words: &[&str], key: &str) -> Option<T> {
    let at = words.iter().position(|word| *word == key)?;
    words.get(at + 1)?.parse().ok()
}

fn parse(text: &str, outcome: RunOutcome) -> Result<Watched, String> {
    let mut seen = Watched {
        outcome,
        stopped: false,
        one_in: 1,
        nests: Vec::new(),
        sites: Vec::new(),
        same: Vec::new(),
    };
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        take(&mut seen, &words).ok_or_else(|| line.to_owned())?;
    }
    let is_whole = text.is_empty() || text.ends_with("end\n");
    if is_whole { Ok(seen) } else { Err(text.lines().next_back().unwrap_or_default().to_owned()) }
}

/// Takes over a line; `None` if it makes no sense.
fn take(seen: &mut Watched, words: &[&str]) -> Option<()> {
    let number = |key: &str| after::<u64>(words, key);
    match *words.first()? {
        "stopped" => seen.stopped = number("stopped")? != 0,
        "weight" => seen.one_in = number("weight")?,
        "nest" => seen.nests.push(WatchedRuns {
            nest: after(words, "nest")?,
            entered: number("entered")?,
            watched: number("watched")?,
            missed: number("missed")?,
            concurrent: number("concurrent")?,
            order: number("order")?,
        }),
        "site" => {
            let at = words.iter().position(|word| *word == "integers")?;
            seen.sites.push(WatchedSite {
                site: after(words, "site")?,
                all: number("all")?,
                looked: number("looked")?,
                bytes: number("bytes")?,
                stands: number("stands")?,
                zeros: number("zeros")?,
                whole: number("whole")?,
                single: number("single")?,
                linear: number("linear")?,
                bent: number("bent")?,
                flips: number("flips")?,
                reach: number("reach")?,
                least: after(words, "least")?,
                most: after(words, "most")?,
                integers: (words.get(at + 1)?.parse().ok()?, words.get(at + 2)?.parse().ok()?),
                most_unsigned: words.get(at + 3)?.parse().ok()?,
                unchanged: number("unchanged")?,
                dead: number("dead")?,
                surely_dead: number("surely")?,
                killer: after(words, "killer")?,
                left: number("left")?,
                inner: number("inner")?,
                ..WatchedSite::default()
            });
        }
        "values" => seen.sites.last_mut()?.exact = values(words)?,
        "coarse" => seen.sites.last_mut()?.coarse = values(words)?,
        "flow" => {
            let from: i64 = words.get(1)?.parse().ok()?;
            let bytes = words.get(2)?.parse().ok()?;
            seen.sites.last_mut()?.flows.push((u32::try_from(from).ok(), bytes));
        }
        "same" => {
            let of = |k: usize| words.get(k).and_then(|word| word.parse::<u32>().ok());
            seen.same.push(SameContents {
                first: (of(1)?, of(2)?),
                second: (of(3)?, of(4)?),
                bytes: number("bytes")?,
                times: number("times")?,
            });
        }
        _ => {}
    }
    Some(())
}

fn values(words: &[&str]) -> Option<SeenValues> {
    let pair = |word: &&str| {
        let (bits, count) = word.split_once(':')?;
        Some((u64::from_str_radix(bits, 16).ok()?, count.parse().ok()?))
    };
    let mut counts: Vec<(u64, u64)> = words.get(3..)?.iter().map(pair).collect::<Option<_>>()?;
    counts.sort_by_key(|(bits, count)| (std::cmp::Reverse(*count), *bits));
    Some(SeenValues { counts, has_more: *words.get(2)? != "0" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::{CompileJob, Compiler};
    use crate::process::Exit;

    /// Two nests: one stores twice, the other reads half of it and more that neither has stored.
    const PROGRAM: &str = "
        double x[N], y[N];
        int main(void) {
            int i;
            for (i = 0; i < N; i++) y[i] = 3.0;
            if (oxeye_watch_enter(0)) {
                for (i = 0; i < N; i++) {
                    double was = x[i]; x[i] = 1.0; oxeye_watch_stored(0, &x[i], &was, 8);
                    was = x[i]; x[i] = i * 0.1; oxeye_watch_stored(1, &x[i], &was, 8);
                }
                oxeye_watch_leave(0);
            }
            if (oxeye_watch_enter(1)) {
                double sum = 0;
                for (i = 0; i < N / 2; i++) sum += OXEYE_WATCH_READ(2, x[i]) + OXEYE_WATCH_READ(3, y[i]);
                oxeye_watch_leave(1);
                return sum < 0;
            }
            return 3;
        }";

    fn run(limits: &WatchLimits, n: u32) -> Watched {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("watched.c");
        let head = "#define OXEYE_WATCH_NESTS 2\n#define OXEYE_WATCH_SITES 4\n\
                    #define OXEYE_WATCH_TYPES 1,1,1,1\n#define OXEYE_WATCH_NEST_OF 0,0,1,1\n";
        fs::write(&source, format!("{head}{WATCH_RUNTIME_C}{PROGRAM}")).unwrap();
        let flags = ["-O1", "-std=c89", "-Wall", "-Wextra", "-Werror"].map(str::to_owned);
        let flags = flags.into_iter().chain([format!("-DN={n}")]);
        let job = CompileJob::executable(&source, folder.path().join("watched")).args(flags);
        let program = Compiler::new("gcc", [""; 0]).compile(&job).unwrap();
        watch(&Invocation::new(program), &Limits::default(), limits, folder.path()).unwrap()
    }

    #[test]
    fn what_is_stored_twice_is_dead_and_what_is_read_flows() {
        let seen = run(&WatchLimits::default(), 1024);
        assert_eq!(seen.outcome.exit, Exit::Exited(0));
        let [first, second, x, y] = seen.sites.as_slice() else { panic!("{:?}", seen.sites) };
        assert_eq!((first.all, first.dead, first.surely_dead, first.left), (1024, 8192, 8192, 0));
        assert_eq!((second.dead, second.left, second.linear, second.bent), (0, 4096, 1022, 0));
        assert_eq!((&x.flows[..], &y.flows[..]), (&[(Some(0), 4096)][..], &[(None, 4096)][..]));
        assert_eq!(y.exact, SeenValues { counts: vec![(3f64.to_bits(), 512)], has_more: false });
        assert_eq!((x.stands, x.whole, x.single), (512, 52, 103));
        assert!(second.exact.has_more && (seen.one_in, seen.stopped) == (1, false));
    }

    #[test]
    fn with_less_room_fewer_blocks_stand_for_all() {
        let few = WatchLimits { looks: 20_000, ..WatchLimits::default() };
        let seen = run(&few, 1 << 16);
        let x = &seen.sites[2];
        assert!(seen.one_in > 1 && x.all == 1 << 15 && x.looked < x.all && x.stands > x.looked, "{x:?}");
        // There is about as much of it as of all.
        assert!((x.stands as f64 / x.all as f64 - 1.0).abs() < 0.3, "{x:?}");
        // A small program has none to spare.
        assert_eq!(run(&few, 1 << 13).one_in, 1);
        let seen = run(&WatchLimits { seconds: 0.0, ..WatchLimits::default() }, 1024);
        assert!(seen.stopped && seen.sites.is_empty() && seen.outcome.exit == Exit::Exited(3));
    }
}
