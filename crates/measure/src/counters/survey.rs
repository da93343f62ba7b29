//! Which counters this machine grants.

use std::hint::black_box;

use super::counter::Counter;
use super::kernel::{EventId, Kernel};
use super::reading::CounterSurvey;
use super::real::RealKernel;
use super::refusal;
use super::session::{Session, in_words};

/// Finds out which counters this machine grants to this process, by counting for some milliseconds.
pub fn survey() -> CounterSurvey {
    survey_of(&mut RealKernel::new())
}

/// [`survey`] with the answers of any kernel.
pub fn survey_of(kernel: &mut dyn Kernel) -> CounterSurvey {
    let mut session = Session::open(kernel, &Counter::ALL, &[0]);
    let rounds: Vec<Vec<EventId>> = session.rounds().map(<[EventId]>::to_vec).collect();
    for (number, leaders) in rounds.into_iter().enumerate() {
        // What fails to be enabled counts nothing, and is found missing for it.
        for leader in &leaders {
            let _ = kernel.enable(*leader);
        }
        exercise();
        for leader in &leaders {
            let _ = kernel.disable(*leader);
        }
        session.look(kernel, Some(number));
    }
    let (readings, missing) = session.results();
    session.close(kernel);
    CounterSurvey {
        granted: readings.into_iter().map(|reading| reading.counter).collect(),
        remedy: refusal::remedy(missing.iter().map(|(_, why)| why)),
        refused: in_words(&missing),
    }
}

/// About a millisecond of work, so that there is something to count.
fn exercise() {
    let mut sum = 1.0;
    for i in 0..500_000_u32 {
        sum = black_box(sum * 0.5 + f64::from(i));
    }
    black_box(sum);
}

#[cfg(test)]
mod tests {
    use super::super::{
        ControllerEvent, CounterReading, CountingMachine, Event, ProcessorModel, ScriptedCount,
        ScriptedKernel, Target,
    };
    use super::*;

    fn machine(paranoid: i64) -> CountingMachine {
        let processor = ProcessorModel { vendor: "GenuineIntel".to_owned(), family: 6, model: 0x55 };
        let controller = |writes, config| ControllerEvent {
            writes,
            kind: 14,
            config,
            processors: vec![0, 18],
            bytes: 64.0,
        };
        CountingMachine {
            paranoid: Some(paranoid),
            processor,
            memory_controllers: vec![controller(false, 1), controller(true, 2)],
        }
    }

    fn why(survey: &CounterSurvey, counter: Counter) -> &str {
        let missing = survey.refused.iter().find(|missing| missing.counter == counter);
        &missing.unwrap_or_else(|| panic!("{counter} is granted")).why
    }

    fn is_complete(survey: &CounterSurvey) {
        let mut all = survey.granted.clone();
        all.extend(survey.refused.iter().map(|missing| missing.counter));
        all.sort();
        assert_eq!(all, Counter::ALL);
        assert!(survey.refused.iter().all(|missing| !missing.why.is_empty()));
    }

    #[test]
    fn everything_granted() {
        let mut kernel = ScriptedKernel::new(machine(0), |_, _| Ok(ScriptedCount::of(5)));
        let survey = survey_of(&mut kernel);
        is_complete(&survey);
        let refused: Vec<Counter> = survey.refused.iter().map(|missing| missing.counter).collect();
        assert_eq!(refused, [Counter::AllFlops]);
        assert_eq!(survey.remedy, None);
        assert_eq!(kernel.n_open(), 0);
    }

    #[test]
    fn everything_refused() {
        for (errno, paranoid, words, remedy) in [
            (libc::EACCES, 3, "perf_event_paranoid is 3", Some("perf_event_paranoid=0")),
            (libc::EPERM, 2, "forbidden to this process", Some("PERFMON")),
            (libc::ENOSYS, 2, "no perf_event_open", None),
            (libc::EMFILE, 2, "too many open files", Some("ulimit")),
            (libc::ENOENT, 2, "no such counter", None),
            (libc::EIO, 2, "perf_event_open:", None),
        ] {
            let mut kernel = ScriptedKernel::new(machine(paranoid), move |_, _| Err(errno));
            let survey = survey_of(&mut kernel);
            is_complete(&survey);
            assert_eq!(survey.granted, []);
            assert!(why(&survey, Counter::Cycles).contains(words), "{}", why(&survey, Counter::Cycles));
            match remedy {
                Some(words) => assert!(survey.remedy.as_deref().is_some_and(|text| text.contains(words))),
                None => assert_eq!(survey.remedy, None),
            }
            assert!(why(&survey, Counter::AllFlops).contains("per type and width instead"));
        }
    }

    #[test]
    fn an_ordinary_user_at_level_2() {
        let mut kernel = ScriptedKernel::new(machine(2), |event, _| {
            if event.include_kernel { Err(libc::EACCES) } else { Ok(ScriptedCount::of(5)) }
        });
        let survey = survey_of(&mut kernel);
        is_complete(&survey);
        let refused: Vec<Counter> = survey.refused.iter().map(|missing| missing.counter).collect();
        assert_eq!(
            refused,
            [
                Counter::ContextSwitches,
                Counter::CpuMigrations,
                Counter::AllFlops,
                Counter::DramReadBytes,
                Counter::DramWriteBytes
            ]
        );
        assert_eq!(
            why(&survey, Counter::CpuMigrations),
            "kernel.perf_event_paranoid is 2; `sudo sysctl kernel.perf_event_paranoid=1` would grant it"
        );
        assert_eq!(survey.remedy.as_deref(), Some("sudo sysctl kernel.perf_event_paranoid=0"));
    }

    #[test]
    fn a_virtual_machine_with_software_counters_only() {
        let mut kernel = ScriptedKernel::new(CountingMachine::default(), |event, _| match event.kind {
            Event::SOFTWARE => Ok(ScriptedCount::of(5)),
            _ => Err(libc::ENOENT),
        });
        let survey = survey_of(&mut kernel);
        is_complete(&survey);
        assert_eq!(survey.granted, Counter::ALL[..4]);
        assert_eq!(why(&survey, Counter::Cycles), "this processor or virtual machine has no such counter");
        assert!(why(&survey, Counter::DramReadBytes).contains("memory-controller"));
        assert_eq!(why(&survey, Counter::AllFlops), "no floating-point event is known for this processor");
        assert_eq!(survey.remedy, None);
    }

    #[test]
    fn a_processor_that_counts_all_flops_together() {
        let processor = ProcessorModel { vendor: "AuthenticAMD".to_owned(), family: 0x19, model: 1 };
        let machine = CountingMachine { processor, ..CountingMachine::default() };
        let survey = survey_of(&mut ScriptedKernel::new(machine, |_, _| Ok(ScriptedCount::of(5))));
        is_complete(&survey);
        assert!(survey.granted.contains(&Counter::AllFlops));
        assert!(why(&survey, Counter::F32Vector256Flops).contains("together instead"));
    }

    #[test]
    fn counters_that_open_and_do_not_count_are_not_granted() {
        let mut kernel = ScriptedKernel::new(machine(-1), |event, _| match event.kind {
            Event::HARDWARE => Ok(ScriptedCount::of(0)),
            Event::CACHE => Ok(ScriptedCount { value: 5, running: 0.0 }),
            _ => Ok(ScriptedCount::of(0)),
        });
        let survey = survey_of(&mut kernel);
        is_complete(&survey);
        assert!(why(&survey, Counter::Cycles).contains("stays at zero"));
        assert!(why(&survey, Counter::LlReads).contains("never got a place"));
        // None may be seen of these by chance.
        for counter in [Counter::BranchMisses, Counter::PageFaults, Counter::F64ScalarFlops] {
            assert!(survey.granted.contains(&counter), "{counter}");
        }
    }

    #[test]
    fn groups_that_are_too_large_are_split() {
        let open = |limit| {
            let mut kernel =
                ScriptedKernel::new(machine(0), |_, _| Ok(ScriptedCount::of(5))).with_group_limit(limit);
            let session = Session::open(&mut kernel, &Counter::ALL[..16], &[0]);
            let (rounds, groups) = (session.rounds().len(), kernel.n_groups());
            session.close(&mut kernel);
            assert_eq!(kernel.n_open(), 0);
            (rounds, groups)
        };
        assert_eq!(open(4), (4, 4));
        assert_eq!(open(3), (8, 8));
        assert_eq!(open(1), (16, 16));
    }

    #[test]
    fn a_counter_refused_on_one_thread_is_refused_and_leaves_nothing_open() {
        let mut kernel = ScriptedKernel::new(machine(0), |event, target| match (event.kind, target) {
            (Event::HARDWARE, Target::Thread(7)) => Err(libc::EMFILE),
            _ => Ok(ScriptedCount::of(5)),
        });
        let counters = [Counter::TaskClock, Counter::Cycles, Counter::DramReadBytes];
        let mut session = Session::open(&mut kernel, &counters, &[5, 7]);
        assert_eq!(kernel.n_open(), 4);
        let leaders: Vec<EventId> = session.rounds().flatten().copied().collect();
        assert_eq!(leaders.len(), 4);
        for leader in &leaders {
            kernel.enable(*leader).expect("open");
            kernel.disable(*leader).expect("open");
        }
        session.look(&mut kernel, None);
        let (readings, missing) = session.results();
        let values: Vec<_> = readings.iter().map(|r| (r.counter, r.value, r.scaled)).collect();
        // Two threads; two sockets and 64 bytes a line.
        assert_eq!(values, [(Counter::TaskClock, 10.0, false), (Counter::DramReadBytes, 640.0, false)]);
        assert!(in_words(&missing)[0].why.contains("too many open files"));
    }

    #[test]
    fn turns_are_extrapolated_and_flagged() {
        let mut kernel = ScriptedKernel::new(machine(0), |event, _| match event.kind {
            Event::HARDWARE => Ok(ScriptedCount { value: 100, running: 0.25 }),
            _ => Ok(ScriptedCount::of(100)),
        });
        let mut session = Session::open(&mut kernel, &[Counter::PageFaults, Counter::Cycles], &[0]);
        let leaders: Vec<EventId> = session.rounds().flatten().copied().collect();
        for _ in 0..3 {
            for leader in &leaders {
                kernel.enable(*leader).expect("open");
                kernel.disable(*leader).expect("open");
            }
            session.look(&mut kernel, None);
        }
        let (readings, missing) = session.results();
        assert_eq!(missing, []);
        assert_eq!(
            readings,
            [
                CounterReading { counter: Counter::PageFaults, value: 100.0, scaled: false },
                CounterReading { counter: Counter::Cycles, value: 400.0, scaled: true },
            ]
        );
    }

    #[test]
    fn the_real_kernel_counts_or_says_why_not() {
        let survey = survey();
        is_complete(&survey);
        let mut kernel = RealKernel::new();
        let counters = [Counter::TaskClock, Counter::PageFaults];
        let mut session = Session::open(&mut kernel, &counters, &[0]);
        let leaders: Vec<EventId> = session.rounds().flatten().copied().collect();
        for leader in &leaders {
            kernel.enable(*leader).expect("open");
        }
        // So large that it is never memory used before.
        let fresh = black_box(vec![1_u8; 48 << 20]);
        for leader in &leaders {
            kernel.disable(*leader).expect("open");
        }
        drop(fresh);
        session.look(&mut kernel, None);
        let (readings, missing) = session.results();
        assert_eq!(readings.len() + missing.len(), 2);
        for reading in &readings {
            assert!(reading.value > 0.0, "{reading:?}");
            assert!(survey.granted.contains(&reading.counter));
        }
        for missing in in_words(&missing) {
            assert!(survey.refused.contains(&missing));
        }
        session.close(&mut kernel);
    }
}
