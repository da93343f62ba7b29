//! Which events a machine has, and who may open them.

use std::fs;
use std::path::Path;

/// The facts that counting depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountingMachine {
    /// `kernel.perf_event_paranoid`; `None` where the kernel has no such setting.
    pub paranoid: Option<i64>,
    /// The processor, as far as raw events depend on it.
    pub processor: ProcessorModel,
    /// The events of the memory controllers.
    pub memory_controllers: Vec<ControllerEvent>,
}

/// Identifies an x86 processor; empty and zero elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessorModel {
    /// `GenuineIntel`, `AuthenticAMD`, and so on.
    pub vendor: String,
    /// The family, extended one included.
    pub family: u32,
    /// The model, extended one included.
    pub model: u32,
}

/// One event of one memory controller.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerEvent {
    /// Whether it counts writes; else reads.
    pub writes: bool,
    /// The kind of event that stands for the controller.
    pub kind: u32,
    /// Which event.
    pub config: u64,
    /// Processors to open it on: one per socket.
    pub processors: Vec<u32>,
    /// Bytes per count.
    pub bytes: f64,
}

impl CountingMachine {
    /// This machine, as `/proc` and `/sys` describe it. What they do not report is left out.
    pub fn this() -> CountingMachine {
        CountingMachine::under(Path::new("/"))
    }

    fn under(root: &Path) -> CountingMachine {
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        CountingMachine {
            paranoid: read("proc/sys/kernel/perf_event_paranoid").trim().parse().ok(),
            processor: ProcessorModel::parse(&read("proc/cpuinfo")),
            memory_controllers: memory_controllers(&root.join("sys/bus/event_source/devices")),
        }
    }
}

impl ProcessorModel {
    fn parse(cpuinfo: &str) -> ProcessorModel {
        let field = |name: &str| {
            let fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
            fields.into_iter().find(|(key, _)| key.trim() == name).map_or("", |(_, value)| value.trim())
        };
        ProcessorModel {
            vendor: field("vendor_id").to_owned(),
            family: field("cpu family").parse().unwrap_or(0),
            model: field("model").parse().unwrap_or(0),
        }
    }
}

/// The read and write events of Intel's memory controllers. Where there are programmable and free-running counters,
/// both see the same traffic, so only the former are taken.
fn memory_controllers(devices: &Path) -> Vec<ControllerEvent> {
    let mut names: Vec<String> = fs::read_dir(devices)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("uncore_imc"))
        .collect();
    names.sort();
    let (free_running, programmable): (Vec<_>, Vec<_>) =
        names.into_iter().partition(|name| name.contains("free_running"));
    let events = |names: &[String]| -> Vec<ControllerEvent> {
        names.iter().flat_map(|name| controller_events(&devices.join(name))).collect()
    };
    let found = events(&programmable);
    if found.is_empty() { events(&free_running) } else { found }
}

fn controller_events(device: &Path) -> Vec<ControllerEvent> {
    const NAMES: [(&str, bool); 6] = [
        ("cas_count_read", false),
        ("data_reads", false),
        ("data_read", false),
        ("cas_count_write", true),
        ("data_writes", true),
        ("data_write", true),
    ];
    let read = |path: String| fs::read_to_string(device.join(path)).ok().map(|text| text.trim().to_owned());
    let event = |name: &str, writes: bool| {
        let format = |term: &str| read(format!("format/{term}"));
        let scale: f64 = read(format!("events/{name}.scale"))?.parse().ok()?;
        let unit = match read(format!("events/{name}.unit"))?.as_str() {
            "Bytes" => 1.0,
            "KiB" => 1024.0,
            "MiB" => 1048576.0,
            "GiB" => 1073741824.0,
            _ => return None,
        };
        Some(ControllerEvent {
            writes,
            kind: read("type".to_owned())?.parse().ok()?,
            config: encode(&read(format!("events/{name}"))?, &format)?,
            processors: list(&read("cpumask".to_owned())?)?,
            bytes: scale * unit,
        })
    };
    NAMES.iter().filter_map(|&(name, writes)| event(name, writes)).collect()
}

/// Puts the terms of `event=0x04,umask=0x03` into the bits which the device's format files give them.
fn encode(terms: &str, format: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let mut config = 0;
    for term in terms.split(',') {
        let (name, value) = term.split_once('=').unwrap_or((term, "1"));
        let mut value = match value.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => value.parse().ok()?,
        };
        for bits in format(name)?.strip_prefix("config:")?.split(',') {
            let (low, high) = bits.split_once('-').unwrap_or((bits, bits));
            let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
            if low > high || high > 63 {
                return None;
            }
            let width = high - low + 1;
            config |= (value & (u64::MAX >> (64 - width))) << low;
            value = value.checked_shr(width).unwrap_or(0);
        }
    }
    Some(config)
}

/// `0-1,4` is 0, 1, 4.
fn list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last.checked_sub(first)? > 1 << 16 {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workdir::WorkDir;

    fn put(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
    }

    const CONTROLLER: [(&str, &str); 10] = [
        ("type", "14\n"),
        ("cpumask", "0,18\n"),
        ("format/event", "config:0-7\n"),
        ("format/umask", "config:8-15\n"),
        ("events/cas_count_read", "event=0x04,umask=0x03\n"),
        ("events/cas_count_read.scale", "6.103515625e-5\n"),
        ("events/cas_count_read.unit", "MiB\n"),
        ("events/cas_count_write", "event=0x04,umask=0x0c\n"),
        ("events/cas_count_write.scale", "6.103515625e-5\n"),
        ("events/cas_count_write.unit", "MiB\n"),
    ];

    #[test]
    fn a_server_with_memory_controllers() {
        let work = WorkDir::new().expect("work folder");
        let root = work.path();
        put(
            root,
            &[
                ("proc/sys/kernel/perf_event_paranoid", "-1\n"),
                (
                    "proc/cpuinfo",
                    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: X\n",
                ),
                ("sys/bus/event_source/devices/uncore_imc_free_running_0/type", "20\n"),
                ("sys/bus/event_source/devices/software/type", "1\n"),
            ],
        );
        put(&root.join("sys/bus/event_source/devices/uncore_imc_0"), &CONTROLLER);
        let machine = CountingMachine::under(root);
        assert_eq!(machine.paranoid, Some(-1));
        assert_eq!(
            machine.processor,
            ProcessorModel { vendor: "GenuineIntel".to_owned(), family: 6, model: 85 }
        );
        let expected = |writes, config| ControllerEvent {
            writes,
            kind: 14,
            config,
            processors: vec![0, 18],
            bytes: 64.0,
        };
        assert_eq!(machine.memory_controllers, [expected(false, 0x304), expected(true, 0xc04)]);
    }

    #[test]
    fn a_system_that_tells_nothing() {
        let work = WorkDir::new().expect("work folder");
        assert_eq!(CountingMachine::under(work.path()), CountingMachine::default());
    }

    #[test]
    fn terms_may_be_split_over_bits() {
        let format = |term: &str| match term {
            "event" => Some("config:0-7,32-35".to_owned()),
            "edge" => Some("config:18".to_owned()),
            "filter" => Some("config1:0-7".to_owned()),
            "absurd" => Some("config:9-70".to_owned()),
            _ => None,
        };
        assert_eq!(encode("event=0x1c2,edge", &format), Some(0x1_0004_00c2));
        assert_eq!(encode("filter=1", &format), None);
        assert_eq!(encode("absurd=1", &format), None);
        assert_eq!(encode("unknown=1", &format), None);
        assert_eq!(list("0-2,5"), Some(vec![0, 1, 2, 5]));
        assert_eq!(list(""), None);
        assert_eq!(list("3-1"), None);
    }
}
