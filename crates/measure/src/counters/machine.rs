//! What decides which events there are and who may open them.

/// The facts that counting depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountingMachine {
    /// `kernel.perf_event_paranoid`; `None` where the kernel has no such setting.
    pub paranoid: Option<i64>,
    /// Whether the processor says that it is a virtual one.
    pub hypervisor: bool,
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
