//! Launchers of parallel programs: how many processes they start on this machine.

use super::shell::{Script, Token};
use std::path::Path;

/// Their names.
const LAUNCHERS: [&str; 7] =
    ["mpirun", "mpiexec", "mpiexec.hydra", "mpirun.mpich", "mpirun.openmpi", "orterun", "srun"];
/// How many processes there are in all.
const IN_ALL: [&str; 4] = ["-n", "-np", "--np", "--ntasks"];
/// How many there are on each machine.
const ON_EACH: [&str; 6] = ["-ppn", "--ppn", "-perhost", "-npernode", "--npernode", "--ntasks-per-node"];
/// Which machines there are, or how many.
const MACHINES: [&str; 12] = [
    "-H",
    "-host",
    "--host",
    "-hosts",
    "-hostfile",
    "--hostfile",
    "-machinefile",
    "--machinefile",
    "-f",
    "--nodes",
    "-N",
    "-w",
];

/// Options that take no value.
const FLAGS: [&str; 7] = [
    "--oversubscribe",
    "--allow-run-as-root",
    "--use-hwthread-cpus",
    "--exclusive",
    "--quiet",
    "--verbose",
    "-v",
];

/// The processes that a command starts on this machine and that do the same at the same time; `None` where no launcher says so.
pub(super) fn processes(script: &Script<'_>) -> Option<u32> {
    let mut commands: Vec<Vec<&str>> = vec![Vec::new()];
    for token in &script.tokens {
        match token {
            Token::Word(word) => commands.last_mut()?.push(&word.text),
            Token::Sign(_) => commands.push(Vec::new()),
            Token::Descriptor(_) => {}
        }
    }
    commands.iter().find_map(|words| {
        let is_launcher = |word: &&str| LAUNCHERS.iter().any(|name| Path::new(word).ends_with(name));
        let at = words.iter().position(is_launcher)?;
        of_options(&words[at + 1..])
    })
}

/// What the options of a launcher say.
fn of_options(words: &[&str]) -> Option<u32> {
    let (mut in_all, mut on_each, mut has_machines) = (None, None, false);
    let mut words = words.iter().copied();
    // The value of an option may be what comes next.
    let mut is_open = false;
    while let Some(word) = words.next() {
        let is_option = word.starts_with('-');
        if word.contains('/') || !is_option && !is_open {
            // The program, whose options are its own.
            break;
        }
        is_open = is_option && !word.contains('=') && !FLAGS.contains(&word);
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let number = |value: Option<&str>| value.and_then(|value| value.parse().ok()).filter(|n| *n > 0);
        if MACHINES.contains(&name) {
            has_machines = true;
        } else if IN_ALL.contains(&name) {
            (in_all, is_open) = (number(value.or_else(|| words.next())), false);
        } else if ON_EACH.contains(&name) {
            (on_each, is_open) = (number(value.or_else(|| words.next())), false);
        }
    }
    on_each.or(in_all.filter(|_| !has_machines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_say_how_many_processes_there_are() {
        for (text, n) in [
            ("mpirun -n 2 ./p -n 400", Some(2)),
            ("OMP_NUM_THREADS=1 /usr/bin/mpiexec --oversubscribe -np 4 ./p", Some(4)),
            ("cd run && timeout 60 mpirun --bind-to core -np 3 ./p > log", Some(3)),
            ("srun --ntasks=8 ./p", Some(8)),
            ("srun --nodes=4 --ntasks=64 --ntasks-per-node=16 ./p", Some(16)),
            ("mpirun -np 64 --hostfile nodes ./p", None),
            ("mpirun -ppn 8 -f nodes -n 64 ./p", Some(8)),
            ("srun -N 2 -n 64 ./p", None),
            ("mpirun ./p", None),
            ("./p -n 4", None),
            ("mpirun ./p -n 4", None),
            ("mpirun --oversubscribe prog -n 4", None),
            ("srun --mpi pmix prog -n 4", None),
            ("mpirun -n two ./p", None),
        ] {
            assert_eq!(processes(&Script::of(text).expect(text)), n, "{text}");
        }
    }
}
