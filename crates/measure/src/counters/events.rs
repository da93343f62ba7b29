//! Which events of the kernel make up a counter.

use super::counter::Counter;
use super::kernel::Event;
use super::machine::{CountingMachine, ProcessorModel};

/// A part of a counter: an event, and what one occurrence of it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Source {
    pub(super) event: Event,
    /// The processor to open it on; `None` follows the counted threads.
    pub(super) processor: Option<u32>,
    pub(super) worth: f64,
}

impl Event {
    /// `PERF_TYPE_HARDWARE`.
    pub const HARDWARE: u32 = 0;
    /// `PERF_TYPE_SOFTWARE`.
    pub const SOFTWARE: u32 = 1;
    /// `PERF_TYPE_HW_CACHE`.
    pub const CACHE: u32 = 3;
    /// `PERF_TYPE_RAW`.
    pub const RAW: u32 = 4;
}

/// The events that make up a counter; none where the machine is known to have no such counter. The counter's value is
/// the sum.
pub(super) fn sources(counter: Counter, machine: &CountingMachine) -> Vec<Source> {
    let of = |kind, config, include_kernel| {
        vec![Source { event: Event { kind, config, include_kernel }, processor: None, worth: 1.0 }]
    };
    // Numbers of `enum perf_sw_ids`. Switches and migrations happen inside the kernel: leaving it out leaves none.
    let software = |config, include_kernel| of(Event::SOFTWARE, config, include_kernel);
    // Numbers of `enum perf_hw_id`.
    let hardware = |config| of(Event::HARDWARE, config, false);
    // Numbers of `enum perf_hw_cache_id`; the operation (0 read, 1 write); the result (0 access, 1 miss).
    let cache =
        |id: u64, operation: u64, result: u64| of(Event::CACHE, id | operation << 8 | result << 16, false);
    let (l1d, ll, dtlb) = (0, 2, 3);
    match counter {
        Counter::TaskClock => software(1, false),
        Counter::PageFaults => software(2, false),
        Counter::ContextSwitches => software(3, true),
        Counter::CpuMigrations => software(4, true),
        Counter::Cycles => hardware(0),
        Counter::Instructions => hardware(1),
        Counter::Branches => hardware(4),
        Counter::BranchMisses => hardware(5),
        Counter::L1dReads => cache(l1d, 0, 0),
        Counter::L1dReadMisses => cache(l1d, 0, 1),
        Counter::L1dWrites => cache(l1d, 1, 0),
        Counter::L1dWriteMisses => cache(l1d, 1, 1),
        Counter::LlReads => cache(ll, 0, 0),
        Counter::LlReadMisses => cache(ll, 0, 1),
        Counter::LlWrites => cache(ll, 1, 0),
        Counter::LlWriteMisses => cache(ll, 1, 1),
        Counter::DtlbReadMisses => cache(dtlb, 0, 1),
        Counter::DtlbWriteMisses => cache(dtlb, 1, 1),
        Counter::DramReadBytes => controllers(machine, false),
        Counter::DramWriteBytes => controllers(machine, true),
        flops => flop_event(flops, &machine.processor)
            .into_iter()
            .map(|(config, worth)| Source {
                event: Event { kind: Event::RAW, config, include_kernel: false },
                processor: None,
                worth,
            })
            .collect(),
    }
}

/// The event that counts for one thread, if the counter is one event that follows threads.
pub fn thread_event(counter: Counter) -> Option<Event> {
    let mut parts = sources(counter, &CountingMachine::default());
    match (parts.pop(), parts.is_empty()) {
        (Some(Source { event, processor: None, .. }), true) => Some(event),
        _ => None,
    }
}

fn controllers(machine: &CountingMachine, writes: bool) -> Vec<Source> {
    let events = machine.memory_controllers.iter().filter(|event| event.writes == writes);
    events
        .flat_map(|event| {
            event.processors.iter().map(|&processor| Source {
                event: Event { kind: event.kind, config: event.config, include_kernel: true },
                processor: Some(processor),
                worth: event.bytes,
            })
        })
        .collect()
}

/// A raw event and the operations each of its counts stands for.
///
/// Intel: `FP_ARITH_INST_RETIRED` (event 0xC7; "Intel 64 and IA-32 Architectures Software Developer's Manual", volume
/// 3, chapter "Performance Monitoring Events"), with a unit mask per type and width; it counts instructions, a fused
/// multiply-add twice. AMD: retired SSE and AVX operations (PMCx003; "Processor Programming Reference" of the family),
/// which counts operations of all types and widths, a fused multiply-add twice.
fn flop_event(counter: Counter, processor: &ProcessorModel) -> Option<(u64, f64)> {
    match processor.vendor.as_str() {
        "GenuineIntel" if processor.family == 6 && counts_flops_by_width(processor.model) => {
            let (mask, elements) = match counter {
                Counter::F64ScalarFlops => (0x01, 1.0),
                Counter::F32ScalarFlops => (0x02, 1.0),
                Counter::F64Vector128Flops => (0x04, 2.0),
                Counter::F32Vector128Flops => (0x08, 4.0),
                Counter::F64Vector256Flops => (0x10, 4.0),
                Counter::F32Vector256Flops => (0x20, 8.0),
                Counter::F64Vector512Flops => (0x40, 8.0),
                Counter::F32Vector512Flops => (0x80, 16.0),
                _ => return None,
            };
            Some((mask << 8 | 0xc7, elements))
        }
        "AuthenticAMD" if counter == Counter::AllFlops => {
            let mask = match (processor.family, processor.model) {
                // Zen and Zen+: single and double precision in separate bits.
                (0x17, 0..0x30) => 0xff,
                // Zen 2, Zen 3, Zen 4, Zen 5: additions, multiplications, divisions and roots, multiply-adds.
                (0x17 | 0x19 | 0x1a, _) => 0x0f,
                _ => return None,
            };
            Some((mask << 8 | 0x03, 1.0))
        }
        _ => None,
    }
}

/// Models of family 6 whose cores have the event: Broadwell and its successors up to Granite Rapids.
fn counts_flops_by_width(model: u32) -> bool {
    const BROADWELL: [u32; 4] = [0x3d, 0x47, 0x4f, 0x56];
    const SKYLAKE: [u32; 8] = [0x4e, 0x55, 0x5e, 0x66, 0x8e, 0x9e, 0xa5, 0xa6];
    const ICE_LAKE: [u32; 7] = [0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7];
    const GOLDEN_COVE: [u32; 11] = [0x8f, 0xcf, 0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xaa, 0xac, 0xad, 0xae];
    BROADWELL.contains(&model)
        || SKYLAKE.contains(&model)
        || ICE_LAKE.contains(&model)
        || GOLDEN_COVE.contains(&model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::ControllerEvent;

    fn machine(vendor: &str, family: u32, model: u32) -> CountingMachine {
        CountingMachine {
            processor: ProcessorModel { vendor: vendor.to_owned(), family, model },
            ..CountingMachine::default()
        }
    }

    fn flops(machine: &CountingMachine) -> Vec<(Counter, u64, f64)> {
        let counters = Counter::ALL.into_iter().filter(|counter| counter.is_flops());
        counters
            .flat_map(|c| sources(c, machine).into_iter().map(move |s| (c, s.event.config, s.worth)))
            .collect()
    }

    #[test]
    fn flops_of_known_processors_only() {
        let skylake = flops(&machine("GenuineIntel", 6, 0x55));
        assert_eq!(skylake.len(), 8);
        assert_eq!(skylake[0], (Counter::F64ScalarFlops, 0x01c7, 1.0));
        assert!(skylake.contains(&(Counter::F64Vector256Flops, 0x10c7, 4.0)));
        assert!(skylake.contains(&(Counter::F32Vector512Flops, 0x80c7, 16.0)));
        let all = |mask| vec![(Counter::AllFlops, mask, 1.0)];
        assert_eq!(flops(&machine("AuthenticAMD", 0x17, 0x01)), all(0xff03));
        assert_eq!(flops(&machine("AuthenticAMD", 0x19, 0x21)), all(0x0f03));
        // Haswell, an Atom, an old AMD, something else.
        for (vendor, family, model) in
            [("GenuineIntel", 6, 0x3c), ("GenuineIntel", 6, 0x37), ("AuthenticAMD", 0x15, 2), ("", 0, 0)]
        {
            assert_eq!(flops(&machine(vendor, family, model)), []);
        }
    }

    #[test]
    fn every_other_counter_has_one_event_of_its_own() {
        let machine = CountingMachine::default();
        let mut seen = Vec::new();
        for counter in Counter::ALL.into_iter().filter(|c| !c.is_flops() && !c.is_machine_wide()) {
            let found = sources(counter, &machine);
            assert_eq!(found.len(), 1, "{counter}");
            assert_eq!(found[0].event.kind == Event::SOFTWARE, counter.is_software());
            assert!(!seen.contains(&found[0].event), "{counter}");
            seen.push(found[0].event);
        }
    }

    #[test]
    fn memory_controllers_are_opened_on_every_socket() {
        let event = |writes, config| ControllerEvent {
            writes,
            kind: 14,
            config,
            processors: vec![0, 18],
            bytes: 64.0,
        };
        let machine = CountingMachine {
            memory_controllers: vec![event(false, 1), event(true, 2), event(false, 3)],
            ..CountingMachine::default()
        };
        let reads = sources(Counter::DramReadBytes, &machine);
        let places: Vec<_> = reads.iter().map(|s| (s.event.config, s.processor)).collect();
        assert_eq!(places, [(1, Some(0)), (1, Some(18)), (3, Some(0)), (3, Some(18))]);
        assert!(reads.iter().all(|s| s.worth == 64.0));
        assert_eq!(sources(Counter::DramWriteBytes, &machine).len(), 2);
    }
}
