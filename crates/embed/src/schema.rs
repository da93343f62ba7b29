//! The features: one static list for code, documentation and tests.
//!
//! Every list is an enum whose variants are positions, with a table of what each position means. A feature is set by
//! its raw value in the unit of the table; the table's [`Transform`] makes it the small finite number that the encoder
//! sees. `FEATURES.md` beside this crate's manifest is [`crate::feature_table`], kept so by a test.

/// Name and version of all the lists here. It changes whenever a feature is added, removed, moved or computed
/// differently; weights belong to one schema.
pub const FEATURE_SCHEMA: &str = "oxeye.features/3";

/// What one position of a feature vector means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feature {
    /// In snake case, unique in its list.
    pub name: &'static str,
    /// Unit of the raw value.
    pub unit: &'static str,
    /// From the raw value to the feature.
    pub transform: Transform,
    /// Its description.
    pub meaning: &'static str,
}

/// How a raw value becomes a feature. The result is finite whatever the value; a value that is not a number counts as
/// zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transform {
    /// 1 if the value is not zero, else 0.
    Flag,
    /// The value, not below 0 and not above 1.
    Share,
    /// An eighth of the value, which is not negative; at most 4.
    Count,
    /// `log2(1 + x) / 16` of a value that is not negative; at most 4.
    Log,
    /// `log2(x) / 8` of a ratio, between -4 and 4; -4 where it is zero.
    Ratio,
    /// `log2(x) / 16` of a positive quantity that may be far below 1 (seconds), between -4 and 4; -4 where it is zero.
    Scale,
    /// `log2(1 + |x|) / 16` with the sign of the value, between -4 and 4.
    Signed,
}

impl Transform {
    /// The feature of a raw value.
    pub fn apply(self, raw: f64) -> f32 {
        let raw = if raw.is_nan() { 0.0 } else { raw };
        let log = |x: f64, divisor: f64| if x > 0.0 { x.log2() / divisor } else { -4.0 };
        let value = match self {
            Transform::Flag => f64::from(raw != 0.0),
            Transform::Share => raw.clamp(0.0, 1.0),
            Transform::Count => raw.max(0.0) / 8.0,
            Transform::Log => raw.max(0.0).ln_1p() / (16.0 * std::f64::consts::LN_2),
            Transform::Ratio => log(raw, 8.0),
            Transform::Scale => log(raw, 16.0),
            Transform::Signed => raw.abs().ln_1p().copysign(raw) / (16.0 * std::f64::consts::LN_2),
        };
        value.clamp(-4.0, 4.0) as f32
    }

    /// A raw value that has this feature: the original up to rounding and clamping.
    pub fn invert(self, feature: f32) -> f64 {
        let feature = f64::from(feature);
        match self {
            Transform::Flag | Transform::Share => feature,
            Transform::Count => 8.0 * feature,
            Transform::Log => (16.0 * feature).exp2() - 1.0,
            Transform::Ratio => (8.0 * feature).exp2(),
            Transform::Scale => (16.0 * feature).exp2(),
            Transform::Signed => ((16.0 * feature.abs()).exp2() - 1.0).copysign(feature),
        }
    }

    pub(crate) fn formula(self) -> &'static str {
        match self {
            Transform::Flag => "0 or 1",
            Transform::Share => "x in [0, 1]",
            Transform::Count => "x / 8",
            Transform::Log => "log2(1 + x) / 16",
            Transform::Ratio => "log2(x) / 8",
            Transform::Scale => "log2(x) / 16",
            Transform::Signed => "sign(x) log2(1 + abs(x)) / 16",
        }
    }
}

/// A list of features: an enum whose variants are the positions.
pub trait FeatureList: Copy + 'static {
    /// The list's heading.
    const TITLE: &'static str;
    /// One entry for each position.
    const TABLE: &'static [Feature];

    /// The position.
    fn index(self) -> usize;

    /// What stands there.
    fn feature(self) -> &'static Feature {
        &Self::TABLE[self.index()]
    }
}

macro_rules! features {
    ($(#[$doc:meta])* $list:ident, $title:literal: $($variant:ident $name:literal $unit:literal $transform:ident $meaning:literal;)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $list {
            $(#[doc = $meaning] $variant,)+
        }

        impl FeatureList for $list {
            const TITLE: &'static str = $title;
            const TABLE: &'static [Feature] = &[
                $(Feature { name: $name, unit: $unit, transform: Transform::$transform, meaning: $meaning },)+
            ];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

features! {
    /// Features of a loop node.
    LoopFeature, "Loops":
    Depth "depth" "loops" Count "Loops around it.";
    Height "height" "loops" Count "Loops below it on the longest way to a statement.";
    TripKnown "trip_known" "flag" Flag "Its iterations can be counted: sizes are known and bounds are not read from data.";
    TripExact "trip_exact" "flag" Flag "They were counted exactly, not estimated.";
    Trip "trip" "iterations" Log "Iterations each time it is entered, on average.";
    Iterations "iterations" "iterations" Log "Iterations in total.";
    Step "step" "1" Log "Magnitude of the step.";
    Backward "backward" "flag" Flag "The step is negative.";
    Innermost "innermost" "flag" Flag "There is no loop inside.";
    Outermost "outermost" "flag" Flag "There is no loop around it.";
    Perfect "perfect" "flag" Flag "Its body is exactly one loop.";
    ChildLoops "child_loops" "loops" Log "Loops directly in its body, guards looked through.";
    ChildStmts "child_stmts" "statements" Log "Statements directly in its body, guards looked through.";
    Stmts "stmts" "statements" Log "Statements anywhere below.";
    HasGuards "has_guards" "flag" Flag "There are guards directly in its body.";
    LowerVaries "lower_varies" "flag" Flag "Its lower bound depends on loops around it.";
    UpperVaries "upper_varies" "flag" Flag "Its upper bound depends on loops around it.";
    BoundsCombined "bounds_combined" "flag" Flag "A bound is a minimum or maximum, or is rounded.";
    BoundsFromData "bounds_from_data" "flag" Flag "A bound is read from memory.";
    BoundsInside "bounds_inside" "loops" Log "Loops inside whose bounds depend on it.";
    Guarding "guarding" "flag" Flag "A guard below depends on its iterator.";
    Parallel "parallel" "flag" Flag "Its iterations are run by threads already.";
    Vector "vector" "flag" Flag "Its iterations are run in vector lanes already.";
    Unrolled "unrolled" "flag" Flag "It is unrolled already.";
    CarriesNothing "carries_nothing" "flag" Flag "No dependence is carried by it: its iterations may run in any order.";
    CarriesFlow "carries_flow" "flag" Flag "It carries a flow dependence that is not a reduction.";
    CarriesFalse "carries_false" "flag" Flag "It carries an anti or output dependence that is not a reduction.";
    CarriesReduction "carries_reduction" "flag" Flag "It carries a reduction.";
    CarriesInexact "carries_inexact" "flag" Flag "It may carry a dependence that could not be shown to be one.";
    DistanceKnown "distance_known" "flag" Flag "Of what it carries apart from reductions, the least distance is a known constant.";
    Distance "distance" "iterations" Log "That distance.";
    Backtracks "backtracks" "flag" Flag "A dependence carried further out may go to an earlier iteration of it: it cannot be moved outward freely.";
    FootprintKnown "footprint_known" "flag" Flag "The memory it touches could be modelled.";
    Footprint "footprint" "bytes" Log "Memory touched by all its iterations, loops around it fixed, in whole cache lines; modelled by boxes.";
    FootprintL1 "footprint_l1" "1" Ratio "The same over the first-level cache.";
    FootprintL2 "footprint_l2" "1" Ratio "The same over the second-level cache.";
    FootprintL3 "footprint_l3" "1" Ratio "The same over the third-level cache.";
    Body "body" "bytes" Log "Memory touched by one iteration, in whole cache lines; modelled by boxes.";
    BodyL1 "body_l1" "1" Ratio "The same over the first-level cache.";
    BodyL2 "body_l2" "1" Ratio "The same over the second-level cache.";
    MovedShare "moved_share" "1" Share "Share of the accesses below whose element changes with it.";
    UnitShare "unit_share" "1" Share "Share of the accesses below that move by one element, forward or backward.";
    LargeShare "large_share" "1" Share "Share of the accesses below that move by more than a cache line, or by an unknown amount.";
}

features! {
    /// Features of a statement node.
    StmtFeature, "Statements":
    Depth "depth" "loops" Count "Loops around it.";
    RunsKnown "runs_known" "flag" Flag "Its executions can be counted.";
    RunsExact "runs_exact" "flag" Flag "They were counted exactly, not estimated.";
    Runs "runs" "executions" Log "Executions.";
    Assign "assign" "flag" Flag "It replaces the target.";
    Add "add" "flag" Flag "It adds to the target.";
    Sub "sub" "flag" Flag "It subtracts from the target.";
    Mul "mul" "flag" Flag "It multiplies the target.";
    Div "div" "flag" Flag "It divides the target.";
    Min "min" "flag" Flag "It takes the minimum with the target.";
    Max "max" "flag" Flag "It takes the maximum with the target.";
    Reduces "reduces" "flag" Flag "A reduction: it combines with a target that some loop around it does not move.";
    SelfRead "self_read" "flag" Flag "Its value reads the array it writes.";
    Guarded "guarded" "flag" Flag "It stands under a guard.";
    GuardData "guard_data" "flag" Flag "A guard over it reads memory.";
    FloatAdds "float_adds" "operations" Log "Floating-point additions and subtractions per execution.";
    FloatMuls "float_muls" "operations" Log "Floating-point multiplications per execution.";
    FloatDivs "float_divs" "operations" Log "Floating-point divisions per execution.";
    FloatCompares "float_compares" "operations" Log "Floating-point comparisons, minima, maxima and selections per execution.";
    Integer "integer" "operations" Log "Operations on integers per execution, index arithmetic left out.";
    CallsRoot "calls_root" "calls" Log "Square roots per execution.";
    CallsExponential "calls_exponential" "calls" Log "Exponentials, logarithms, powers and hyperbolic functions per execution.";
    CallsTrigonometric "calls_trigonometric" "calls" Log "Trigonometric and error functions per execution.";
    CallsCheap "calls_cheap" "calls" Log "Calls that are a few instructions (absolute value, rounding, minimum) per execution.";
    Casts "casts" "conversions" Log "Conversions between types per execution.";
    Selects "selects" "selections" Log "Selections (`c ? a : b`) per execution.";
    ResultFloat "result_float" "flag" Flag "The target holds floating-point numbers.";
    ResultBytes "result_bytes" "bytes" Log "Size of the target's elements.";
    ScalarTarget "scalar_target" "flag" Flag "The target is a scalar.";
    Reads "reads" "accesses" Log "Reads of memory by its value.";
    ArraysRead "arrays_read" "arrays" Log "Different arrays that its value reads.";
    Copies "copies" "flag" Flag "Its value is one read and nothing else.";
    Sets "sets" "flag" Flag "Its value reads no memory.";
    UsesIterators "uses_iterators" "flag" Flag "Its value computes with iterators.";
}

features! {
    /// Features of an access node.
    AccessFeature, "Accesses":
    Write "write" "flag" Flag "The target, written.";
    Update "update" "flag" Flag "The target, read by an update.";
    Value "value" "flag" Flag "Read by the value.";
    Index "index" "flag" Flag "Read to find the target.";
    Guard "guard" "flag" Flag "Read by a guard.";
    Bound "bound" "flag" Flag "Read by the bound of a loop.";
    Conditional "conditional" "flag" Flag "Not surely made, or not at a place known exactly.";
    Dims "dims" "dimensions" Count "Dimensions.";
    Bytes "bytes" "bytes" Log "Size of an element.";
    Indirect "indirect" "flag" Flag "An index is read from memory.";
    NonAffine "non_affine" "flag" Flag "An index is computed otherwise than affinely (modulo, minimum, product), memory not read.";
    Coupled "coupled" "flag" Flag "A loop occurs in several indices.";
    Skewed "skewed" "flag" Flag "An index is made of several loops.";
    Offset "offset" "elements" Log "Largest constant in an index, by magnitude.";
    RunsKnown "runs_known" "flag" Flag "The executions can be counted.";
    Runs "runs" "executions" Log "Executions of its statement.";
    InnerZero "inner_zero" "flag" Flag "The innermost loop does not move it.";
    InnerOne "inner_one" "flag" Flag "The innermost loop moves it by one element, forward or backward.";
    InnerSmall "inner_small" "flag" Flag "The innermost loop moves it within a cache line.";
    InnerLarge "inner_large" "flag" Flag "The innermost loop moves it by a cache line or more.";
    InnerUnknown "inner_unknown" "flag" Flag "How the innermost loop moves it is not known.";
    InnerStride "inner_stride" "bytes" Signed "How far the innermost loop moves it; 0 where unknown.";
    OuterZero "outer_zero" "flag" Flag "The outermost loop does not move it.";
    OuterOne "outer_one" "flag" Flag "The outermost loop moves it by one element, forward or backward.";
    OuterSmall "outer_small" "flag" Flag "The outermost loop moves it within a cache line.";
    OuterLarge "outer_large" "flag" Flag "The outermost loop moves it by a cache line or more.";
    OuterUnknown "outer_unknown" "flag" Flag "How the outermost loop moves it is not known.";
    OuterStride "outer_stride" "bytes" Signed "How far the outermost loop moves it; 0 where unknown.";
    Still "still" "loops" Count "Loops around it that do not move it.";
    StillShare "still_share" "1" Share "Those as a share of the loops around it.";
    ReuseKnown "reuse_known" "flag" Flag "How often it is reused could be modelled.";
    Reuse "reuse" "uses" Log "Uses of the same element, as the product of the trips of the loops that do not move it.";
    ReuseBytes "reuse_bytes" "bytes" Log "Memory touched between two uses: one iteration of the innermost loop that does not move it.";
    ReuseL1 "reuse_l1" "1" Ratio "The same over the first-level cache; 0 where nothing is reused.";
    ReuseL2 "reuse_l2" "1" Ratio "The same over the second-level cache; 0 where nothing is reused.";
    ReuseL3 "reuse_l3" "1" Ratio "The same over the third-level cache; 0 where nothing is reused.";
    FootprintKnown "footprint_known" "flag" Flag "The memory it touches could be modelled.";
    Footprint "footprint" "bytes" Log "Memory it touches during the nest, in whole cache lines; modelled by its box.";
    FootprintL2 "footprint_l2" "1" Ratio "The same over the second-level cache.";
}

features! {
    /// Features of an array node.
    ArrayFeature, "Arrays":
    Float "float" "flag" Flag "Elements are floating-point numbers.";
    ElementBytes "element_bytes" "bytes" Log "Size of an element.";
    Dims "dims" "dimensions" Count "Dimensions.";
    Scalar "scalar" "flag" Flag "It is a scalar.";
    Param "param" "flag" Flag "A parameter.";
    Global "global" "flag" Flag "A file-scope variable.";
    Local "local" "flag" Flag "A local variable of the function.";
    Private "private" "flag" Flag "Each iteration of some loop has its own.";
    Temp "temp" "flag" Flag "Made by a transformation.";
    LiveOut "live_out" "flag" Flag "It may be read after the nest.";
    SizeKnown "size_known" "flag" Flag "All extents have values.";
    Bytes "bytes" "bytes" Log "Declared size.";
    BytesL1 "bytes_l1" "1" Ratio "The same over the first-level cache.";
    BytesL2 "bytes_l2" "1" Ratio "The same over the second-level cache.";
    BytesL3 "bytes_l3" "1" Ratio "The same over the third-level cache.";
    TouchedKnown "touched_known" "flag" Flag "The memory touched in it could be modelled.";
    Touched "touched" "bytes" Log "Memory touched in it during the nest; modelled by boxes.";
    TouchedL1 "touched_l1" "1" Ratio "The same over the first-level cache.";
    TouchedL2 "touched_l2" "1" Ratio "The same over the second-level cache.";
    TouchedL3 "touched_l3" "1" Ratio "The same over the third-level cache.";
    Read "read" "flag" Flag "It is read.";
    Written "written" "flag" Flag "It is written.";
    Reads "reads" "accesses" Log "Accesses that read it.";
    Writes "writes" "accesses" Log "Accesses that write it.";
    Indirect "indirect" "flag" Flag "Some access to it is indirect.";
    Addresses "addresses" "flag" Flag "It is read to find elements of others, or for bounds and guards.";
}

features! {
    /// Features of an edge. Those that do not concern its kind are zero.
    EdgeFeature, "Edges":
    StrideZero "stride_zero" "flag" Flag "Stride: the loop does not move the access.";
    StrideOne "stride_one" "flag" Flag "Stride: one element, forward or backward.";
    StrideSmall "stride_small" "flag" Flag "Stride: within a cache line.";
    StrideLarge "stride_large" "flag" Flag "Stride: a cache line or more.";
    StrideUnknown "stride_unknown" "flag" Flag "Stride: not known, or different from iteration to iteration.";
    Stride "stride" "bytes" Signed "Stride: how far one iteration moves the access.";
    Span "span" "bytes" Log "Stride: how far all iterations of the loop move it.";
    LoopsInside "loops_inside" "loops" Count "Stride: loops between the access and the loop; 0 for the innermost.";
    Flow "flow" "flag" Flag "Dependence: write, then read.";
    Anti "anti" "flag" Flag "Dependence: read, then write.";
    Output "output" "flag" Flag "Dependence: write, then write.";
    Exact "exact" "flag" Flag "Dependence: it certainly is one.";
    Reduction "reduction" "flag" Flag "Dependence: of a reduction on itself, so that its order matters to rounding only.";
    LevelOuter "level_outer" "loops" Count "Dependence: loops around the one that carries it.";
    LevelInner "level_inner" "loops" Count "Dependence: common loops inside the one that carries it.";
    DistanceKnown "distance_known" "flag" Flag "Dependence: its distance in the loop that carries it is constant.";
    Distance "distance" "iterations" Log "Dependence: that distance.";
    AllKnown "all_known" "flag" Flag "Dependence: its distances in all common loops are constant.";
    Backward "backward" "flag" Flag "Dependence: in some loop inside it may go to an earlier iteration.";
    Forward "forward" "flag" Flag "Dependence: in some loop inside it may go to a later iteration.";
    Skew "skew" "iterations" Log "Dependence: largest known distance backward in a loop inside.";
    Scalar "scalar" "flag" Flag "Dependence: through a scalar.";
}

features! {
    /// Features of the machine.
    HostFeature, "Host":
    L1Known "l1_known" "flag" Flag "The first-level cache's size is known.";
    L1 "l1" "bytes" Log "First-level data cache of a core.";
    L2Known "l2_known" "flag" Flag "The second-level cache's size is known.";
    L2 "l2" "bytes" Log "Second-level cache of a core.";
    L3Known "l3_known" "flag" Flag "The third-level cache's size is known.";
    L3 "l3" "bytes" Log "Third-level cache, all of it.";
    CoresKnown "cores_known" "flag" Flag "The number of cores is known.";
    Cores "cores" "cores" Log "Cores in use.";
    ThreadsKnown "threads_known" "flag" Flag "The number of threads is known.";
    Threads "threads" "threads" Log "Threads that parallel loops will have.";
    VectorKnown "vector_known" "flag" Flag "The vector width is known.";
    Vector "vector" "bytes" Log "Width of a vector register.";
    PeakF32Known "peak_f32_known" "flag" Flag "The peak rate in f32 is known.";
    PeakF32 "peak_f32" "GFLOP/s" Log "Peak rate in f32, all threads.";
    PeakF64Known "peak_f64_known" "flag" Flag "The peak rate in f64 is known.";
    PeakF64 "peak_f64" "GFLOP/s" Log "Peak rate in f64, all threads.";
    L1BandwidthKnown "l1_bandwidth_known" "flag" Flag "The first-level cache's bandwidth is known.";
    L1Bandwidth "l1_bandwidth" "GB/s" Log "Bandwidth of the first-level cache, all threads.";
    L2BandwidthKnown "l2_bandwidth_known" "flag" Flag "The second-level cache's bandwidth is known.";
    L2Bandwidth "l2_bandwidth" "GB/s" Log "Bandwidth of the second-level cache, all threads.";
    L3BandwidthKnown "l3_bandwidth_known" "flag" Flag "The third-level cache's bandwidth is known.";
    L3Bandwidth "l3_bandwidth" "GB/s" Log "Bandwidth of the third-level cache, all threads.";
    DramBandwidthKnown "dram_bandwidth_known" "flag" Flag "The main memory's bandwidth is known.";
    DramBandwidth "dram_bandwidth" "GB/s" Log "Bandwidth of main memory, all threads.";
    ClockKnown "clock_known" "flag" Flag "The clock rate is known.";
    Clock "clock" "GHz" Log "Clock rate of a busy core.";
}

features! {
    /// Features of a profiled run of the nest as it is.
    ProfileFeature, "Profile":
    SecondsKnown "seconds_known" "flag" Flag "The time was measured.";
    Seconds "seconds" "s" Scale "Time of one execution of the nest.";
    GflopsKnown "gflops_known" "flag" Flag "The arithmetic rate is known.";
    Gflops "gflops" "GFLOP/s" Scale "Arithmetic rate.";
    BandwidthKnown "bandwidth_known" "flag" Flag "The rate of memory traffic is known.";
    Bandwidth "bandwidth" "GB/s" Scale "Main memory traffic, modelled or counted, over time.";
    PeakShareKnown "peak_share_known" "flag" Flag "The share of the peak rate is known.";
    PeakShare "peak_share" "1" Share "Arithmetic rate over the peak rate.";
    BandwidthShareKnown "bandwidth_share_known" "flag" Flag "The share of the memory bandwidth is known.";
    BandwidthShare "bandwidth_share" "1" Share "Memory traffic over the memory bandwidth.";
    RoofShareKnown "roof_share_known" "flag" Flag "The share of the roof is known.";
    RoofShare "roof_share" "1" Share "Rate over what the roofline allows at the nest's intensity.";
    IntensityKnown "intensity_known" "flag" Flag "The operational intensity is known.";
    Intensity "intensity" "FLOP/B" Scale "Floating-point operations per byte of main memory traffic.";
    TrafficL1Known "traffic_l1_known" "flag" Flag "The traffic between core and first-level cache is known.";
    TrafficL1 "traffic_l1" "bytes" Log "Traffic between core and first-level cache.";
    TrafficL2Known "traffic_l2_known" "flag" Flag "The traffic between first and second level is known.";
    TrafficL2 "traffic_l2" "bytes" Log "Traffic between first- and second-level cache.";
    TrafficL3Known "traffic_l3_known" "flag" Flag "The traffic between second and third level is known.";
    TrafficL3 "traffic_l3" "bytes" Log "Traffic between second- and third-level cache.";
    TrafficDramKnown "traffic_dram_known" "flag" Flag "The traffic with main memory is known.";
    TrafficDram "traffic_dram" "bytes" Log "Traffic with main memory.";
    ScalingKnown "scaling_known" "flag" Flag "The gain from threads is known.";
    Scaling "scaling" "1" Ratio "Time with one thread over time with all.";
    InstructionsPerCycleKnown "instructions_per_cycle_known" "flag" Flag "Instructions and cycles were counted.";
    InstructionsPerCycle "instructions_per_cycle" "1" Ratio "Instructions per cycle.";
    CacheMissesKnown "cache_misses_known" "flag" Flag "Last-level cache misses were counted.";
    CacheMisses "cache_misses" "1" Share "Last-level cache misses per reference.";
    BranchMissesKnown "branch_misses_known" "flag" Flag "Mispredicted branches were counted.";
    BranchMisses "branch_misses" "1" Share "Mispredicted branches per branch.";
}

features! {
    /// Features of a nest as scheduled.
    ScheduleFeature, "Schedules":
    SizesKnown "sizes_known" "flag" Flag "All bounds could be evaluated; otherwise some iterations are a guess.";
    Seconds "seconds" "s" Scale "Modelled time: core and memory side by side, outside and inside parallel loops, and synchronisation.";
    SecondsInTurn "seconds_in_turn" "s" Scale "Modelled time if core, every memory level and synchronisation took turns.";
    CoreSeconds "core_seconds" "s" Scale "Of that: the core, all data in the first-level cache.";
    ArithmeticSeconds "arithmetic_seconds" "s" Scale "The core's arithmetic units.";
    PortsSeconds "ports_seconds" "s" Scale "The core's loads and stores.";
    LatencySeconds "latency_seconds" "s" Scale "Results that the next iteration waits for.";
    OverheadSeconds "overhead_seconds" "s" Scale "Entering, leaving and counting innermost loops, and iterations left over by vectors.";
    L2Seconds "l2_seconds" "s" Scale "Traffic between first- and second-level cache.";
    L3Seconds "l3_seconds" "s" Scale "Traffic between second- and third-level cache.";
    DramSeconds "dram_seconds" "s" Scale "Traffic with main memory.";
    PagesSeconds "pages_seconds" "s" Scale "Addresses of pages that have to be looked up.";
    RandomSeconds "random_seconds" "s" Scale "Cache misses of accesses whose indices are data.";
    SyncSeconds "sync_seconds" "s" Scale "Starting and ending parallel loops, and handing out iterations.";
    SerialSeconds "serial_seconds" "s" Scale "Core and memory outside parallel loops.";
    CoreShare "core_share" "1" Share "The core's share of the time in turn.";
    ArithmeticShare "arithmetic_share" "1" Share "The arithmetic units' time over the time in turn.";
    PortsShare "ports_share" "1" Share "The same of loads and stores.";
    LatencyShare "latency_share" "1" Share "The same of waiting for results.";
    OverheadShare "overhead_share" "1" Share "The same of loop overhead.";
    L2Share "l2_share" "1" Share "The same of traffic between first- and second-level cache.";
    L3Share "l3_share" "1" Share "The same of traffic between second- and third-level cache.";
    DramShare "dram_share" "1" Share "The same of traffic with main memory.";
    PagesShare "pages_share" "1" Share "The same of looking up pages.";
    RandomShare "random_share" "1" Share "The same of accesses whose indices are data.";
    SyncShare "sync_share" "1" Share "The same of synchronisation.";
    SerialShare "serial_share" "1" Share "The same of what is outside parallel loops.";
    L1Traffic "l1_traffic" "bytes" Log "Bytes between first- and second-level cache, by working sets.";
    L2Traffic "l2_traffic" "bytes" Log "Bytes between second- and third-level cache.";
    L3Traffic "l3_traffic" "bytes" Log "Bytes between third-level cache and main memory.";
    FootprintL1 "footprint_l1" "1" Ratio "Memory touched by the nest over the first-level cache.";
    FootprintL2 "footprint_l2" "1" Ratio "The same over the second-level cache.";
    FootprintL3 "footprint_l3" "1" Ratio "The same over the third-level cache.";
    ParallelShare "parallel_share" "1" Share "Share of the core's work inside parallel loops.";
    DynamicShare "dynamic_share" "1" Share "Share of it inside parallel loops whose iterations are handed out on demand.";
    Imbalance "imbalance" "1" Ratio "Work of the busiest thread over the mean.";
    TeamIterations "team_iterations" "iterations" Log "Iterations of parallel loops.";
    Regions "regions" "entries" Log "Times that a parallel loop is entered.";
    RegionCycles "region_cycles" "cycles" Log "Work of a parallel loop each time.";
    AmdahlSpeedup "amdahl_speedup" "1" Ratio "The core's time with one thread over that with all.";
    AskedLanes "asked_lanes" "1" Share "Share of the executions in innermost loops that are marked as vector loops.";
    WrittenLanes "written_lanes" "1" Share "Share of them in vectors that are written out.";
    GuessedLanes "guessed_lanes" "1" Share "Share of them in innermost loops that a compiler would make vectors of, most likely.";
    Lanes "lanes" "1" Ratio "Executions at a time, in geometric mean.";
    Scattered "scattered" "accesses" Log "Accesses per execution that vectors make one by one.";
    InMemory "in_memory" "1" Share "Share of the executions that accumulate into an element which has to be stored each time, lest something read be it.";
    SharedLines "shared_lines" "1" Share "Share of the executions that write to a cache line which another thread most likely writes to.";
    OtherOrder "other_order" "1" Share "Share of the executions in plain loops that a compiler would exchange for contiguous accesses; they are modelled so.";
    Useless "useless" "1" Share "Share of the executions in loops that did the same in every iteration; one is counted.";
    LatencyBound "latency_bound" "1" Share "Share of the core's work in loops that wait for results.";
    OverheadBound "overhead_bound" "1" Share "Share of it in loops with more overhead than work.";
    InnerTrips "inner_trips" "iterations" Log "Iterations of innermost loops, in geometric mean over executions.";
    Copies "copies" "copies" Log "Copies of a statement in the body of an innermost loop.";
    CyclesPerRun "cycles_per_run" "cycles" Scale "The core's cycles per execution of a statement.";
    Still "still" "1" Share "Share of the accesses that the innermost loop does not move.";
    Contiguous "contiguous" "1" Share "Share of those that it moves by one element.";
    WithinLine "within_line" "1" Share "Share of those that it moves by more, within a cache line.";
    BeyondLine "beyond_line" "1" Share "Share of those that it moves by a cache line or more.";
    Indirect "indirect" "1" Share "Share of those with an index read from memory.";
    UnknownStride "unknown_stride" "1" Share "Share of those that it moves by an unknown amount.";
    Jumps "jumps" "1" Share "Share of the accesses to short pieces of memory, each on another page.";
    Temporaries "temporaries" "1" Share "Share of the accesses to arrays that the schedule made.";
    SinglePrecision "single_precision" "1" Share "Share of the floating-point results that are f32.";
    Executions "executions" "executions" Log "Executions of statements.";
    Depth "depth" "loops" Count "Loops around a statement, mean over executions.";
    Guards "guards" "guards" Count "Guards inside the innermost loop around a statement, mean over executions.";
    Leaves "leaves" "loops" Log "Innermost loops of the text.";
    Loops "loops" "loops" Log "Loops.";
    Flops "flops" "operations" Log "Floating-point operations per execution.";
    Divisions "divisions" "operations" Log "Divisions and square roots per execution.";
    Calls "calls" "calls" Log "Calls of other functions per execution.";
    Accesses "accesses" "accesses" Log "Accesses per execution.";
    Fills "fills" "1" Share "Share of the executions that assign a constant.";
    Copying "copying" "1" Share "Share of the executions that assign what they read and nothing else.";
    Reductions "reductions" "1" Share "Share of the executions that accumulate.";
}

/// Width of a node's feature vector: that of the longest list. Positions beyond a kind's own list are zero.
pub const N_NODE: usize = max(
    max(LoopFeature::TABLE.len(), StmtFeature::TABLE.len()),
    max(AccessFeature::TABLE.len(), ArrayFeature::TABLE.len()),
);
/// Width of an edge's feature vector.
pub const N_EDGE: usize = EdgeFeature::TABLE.len();
/// Width of the host's feature vector.
pub const N_HOST: usize = HostFeature::TABLE.len();
/// Width of the profile's feature vector.
pub const N_PROFILE: usize = ProfileFeature::TABLE.len();
/// Width of a schedule's feature vector.
pub const N_SCHEDULE: usize = ScheduleFeature::TABLE.len();

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

pub(crate) use features;
