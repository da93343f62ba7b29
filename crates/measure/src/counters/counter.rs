//! What can be counted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something a processor or a kernel counts while code runs.
///
/// Floating-point operations are those of additions, multiplications, divisions, square roots, minima and maxima, per
/// element; a fused multiply-add is two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// Processor time of all threads, in nanoseconds; the kernel counts it.
    TaskClock,
    /// Page faults of user code; the kernel counts them.
    PageFaults,
    /// How often threads were taken off a processor; the kernel counts it.
    ContextSwitches,
    /// How often threads moved to another processor; the kernel counts it.
    CpuMigrations,
    /// Processor cycles of user code.
    Cycles,
    /// Instructions retired in user code.
    Instructions,
    /// Branches retired.
    Branches,
    /// Branches predicted wrongly.
    BranchMisses,
    /// Reads that asked the first-level data cache.
    L1dReads,
    /// Reads the first-level data cache did not hold.
    L1dReadMisses,
    /// Writes that asked the first-level data cache.
    L1dWrites,
    /// Writes the first-level data cache did not hold.
    L1dWriteMisses,
    /// Reads that asked the last cache.
    LlReads,
    /// Reads the last cache did not hold.
    LlReadMisses,
    /// Writes that asked the last cache.
    LlWrites,
    /// Writes the last cache did not hold.
    LlWriteMisses,
    /// Reads whose translation the data TLBs did not hold.
    DtlbReadMisses,
    /// Writes whose translation the data TLBs did not hold.
    DtlbWriteMisses,
    /// `double` operations of scalar instructions.
    F64ScalarFlops,
    /// `double` operations of 128-bit vector instructions.
    F64Vector128Flops,
    /// `double` operations of 256-bit vector instructions.
    F64Vector256Flops,
    /// `double` operations of 512-bit vector instructions.
    F64Vector512Flops,
    /// `float` operations of scalar instructions.
    F32ScalarFlops,
    /// `float` operations of 128-bit vector instructions.
    F32Vector128Flops,
    /// `float` operations of 256-bit vector instructions.
    F32Vector256Flops,
    /// `float` operations of 512-bit vector instructions.
    F32Vector512Flops,
    /// Floating-point operations of every type and width, on processors that do not tell them apart.
    AllFlops,
    /// Bytes the memory controllers of the whole machine have read, whoever asked for them.
    DramReadBytes,
    /// Bytes the memory controllers of the whole machine have written, whoever asked for it.
    DramWriteBytes,
}

/// The unit of a [`Counter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CounterUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Occurrences.
    Events,
    /// Floating-point operations.
    Flops,
    /// Bytes.
    Bytes,
}

impl Counter {
    /// Every counter: those of the kernel, of the cores, of the memory controllers.
    pub const ALL: [Counter; 29] = [
        Counter::TaskClock,
        Counter::PageFaults,
        Counter::ContextSwitches,
        Counter::CpuMigrations,
        Counter::Cycles,
        Counter::Instructions,
        Counter::Branches,
        Counter::BranchMisses,
        Counter::L1dReads,
        Counter::L1dReadMisses,
        Counter::L1dWrites,
        Counter::L1dWriteMisses,
        Counter::LlReads,
        Counter::LlReadMisses,
        Counter::LlWrites,
        Counter::LlWriteMisses,
        Counter::DtlbReadMisses,
        Counter::DtlbWriteMisses,
        Counter::F64ScalarFlops,
        Counter::F64Vector128Flops,
        Counter::F64Vector256Flops,
        Counter::F64Vector512Flops,
        Counter::F32ScalarFlops,
        Counter::F32Vector128Flops,
        Counter::F32Vector256Flops,
        Counter::F32Vector512Flops,
        Counter::AllFlops,
        Counter::DramReadBytes,
        Counter::DramWriteBytes,
    ];

    /// A name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Counter::TaskClock => "task clock",
            Counter::PageFaults => "page faults",
            Counter::ContextSwitches => "context switches",
            Counter::CpuMigrations => "CPU migrations",
            Counter::Cycles => "cycles",
            Counter::Instructions => "instructions",
            Counter::Branches => "branches",
            Counter::BranchMisses => "branch misses",
            Counter::L1dReads => "L1D reads",
            Counter::L1dReadMisses => "L1D read misses",
            Counter::L1dWrites => "L1D writes",
            Counter::L1dWriteMisses => "L1D write misses",
            Counter::LlReads => "last-level reads",
            Counter::LlReadMisses => "last-level read misses",
            Counter::LlWrites => "last-level writes",
            Counter::LlWriteMisses => "last-level write misses",
            Counter::DtlbReadMisses => "dTLB read misses",
            Counter::DtlbWriteMisses => "dTLB write misses",
            Counter::F64ScalarFlops => "f64 scalar FLOP",
            Counter::F64Vector128Flops => "f64 128-bit FLOP",
            Counter::F64Vector256Flops => "f64 256-bit FLOP",
            Counter::F64Vector512Flops => "f64 512-bit FLOP",
            Counter::F32ScalarFlops => "f32 scalar FLOP",
            Counter::F32Vector128Flops => "f32 128-bit FLOP",
            Counter::F32Vector256Flops => "f32 256-bit FLOP",
            Counter::F32Vector512Flops => "f32 512-bit FLOP",
            Counter::AllFlops => "FLOP of any type",
            Counter::DramReadBytes => "DRAM bytes read",
            Counter::DramWriteBytes => "DRAM bytes written",
        }
    }

    /// What a value of it means.
    pub fn unit(self) -> CounterUnit {
        match self {
            Counter::TaskClock => CounterUnit::Nanoseconds,
            Counter::DramReadBytes | Counter::DramWriteBytes => CounterUnit::Bytes,
            counter if counter.is_flops() => CounterUnit::Flops,
            _ => CounterUnit::Events,
        }
    }

    /// Whether the kernel counts it, rather than the hardware.
    pub fn is_software(self) -> bool {
        self <= Counter::CpuMigrations
    }

    /// Whether it counts floating-point operations.
    pub fn is_flops(self) -> bool {
        (Counter::F64ScalarFlops..=Counter::AllFlops).contains(&self)
    }

    /// Whether it counts what the whole machine does meanwhile, not only the code in question.
    pub fn is_machine_wide(self) -> bool {
        matches!(self, Counter::DramReadBytes | Counter::DramWriteBytes)
    }

    /// Whether no code can run for a while without counting some: zero means that nothing was counted.
    pub(crate) fn is_never_zero(self) -> bool {
        matches!(self, Counter::TaskClock | Counter::Cycles | Counter::Instructions | Counter::Branches)
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_list_is_complete_and_in_order() {
        assert!(Counter::ALL.is_sorted());
        assert_eq!(Counter::ALL.len(), Counter::DramWriteBytes as usize + 1);
        let names: BTreeSet<&str> = Counter::ALL.iter().map(|counter| counter.name()).collect();
        assert_eq!(names.len(), Counter::ALL.len());
    }

    #[test]
    fn kinds_of_counters() {
        let number = |holds: fn(Counter) -> bool| Counter::ALL.into_iter().filter(|c| holds(*c)).count();
        assert_eq!(number(Counter::is_software), 4);
        assert_eq!(number(Counter::is_flops), 9);
        assert_eq!(number(Counter::is_machine_wide), 2);
        assert_eq!(Counter::AllFlops.unit(), CounterUnit::Flops);
        assert_eq!(Counter::TaskClock.unit(), CounterUnit::Nanoseconds);
        assert_eq!(Counter::DramReadBytes.unit(), CounterUnit::Bytes);
        assert_eq!(Counter::DtlbReadMisses.unit(), CounterUnit::Events);
    }
}
