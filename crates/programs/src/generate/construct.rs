//! The constructs that programs are made of.

macro_rules! constructs {
    ($($name:ident $words:literal)*) => {
        /// Something that people write in and around loops.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Construct {
            $(#[doc = concat!("`", $words, "`.")] $name,)*
        }

        impl Construct {
            /// All of them.
            pub const ALL: &[Construct] = &[$(Construct::$name),*];

            /// In words.
            pub fn words(self) -> &'static str {
                match self { $(Construct::$name => $words,)* }
            }
        }
    };
}

constructs! {
    ParallelFor "omp parallel for"
    ParallelRegion "omp for in omp parallel"
    Orphaned "omp for of the caller's team"
    Collapse "collapse"
    PrivateClause "private"
    FirstPrivate "firstprivate"
    LastPrivate "lastprivate"
    ReductionClause "reduction"
    ScheduleClause "schedule"
    NoWait "nowait"
    Simd "omp simd"
    Hints "GCC ivdep, GCC unroll"
    Atomics "atomic, critical, single"
    Rows "double **rows"
    Cubes "double ***cube"
    Flat "C[i*ldc + j]"
    VariableLengths "arrays of variable lengths"
    CastRows "rows of a cast pointer"
    IndexArrays "p[index[k]]"
    ExtentsInMemory "extents in memory"
    MacroSizes "macros as sizes"
    Enums "enumerations"
    Restrict "restrict"
    Structures "structures"
    MemberBounds "members as bounds"
    MemberArrays "members that are arrays"
    MemberPointers "members that are pointers"
    ArraysOfStructures "arrays of structures"
    NestedStructures "nested structures"
    Handles "handles of structures"
    Complex "complex numbers"
    SeveralCounters "several variables in a for"
    Companions "companion counters"
    PointerSteps "pointers that step"
    Rotating "buffers by modulus"
    ConditionalPointers "conditional pointers"
    Swaps "swapped pointers"
    ThreeWaySwaps "three pointers that rotate"
    WhileLoops "while and do that count"
    DownToZero "i-- > 0"
    OddSteps "steps of sizes"
    Blocked "loops in blocks"
    Selected "bounds that are selected"
    Triangles "triangular loops"
    Sweeps "recurrences"
    Early "loops left early"
    Searches "searches"
    EarlyReturns "return from a loop"
    Jumps "continue and goto"
    Switches "switch"
    Remainders "remainders"
    Guards "guarded stores"
    Converging "loops until something converges"
    Memory "memset, memcpy"
    PrivateScratch "private scratch arrays"
    PrivateScalars "private scalars"
    Reductions "sums, extrema, counts"
    Histograms "histograms"
    SmallFunctions "small functions with loops"
    WritesThroughPointers "functions that write through pointers"
    FileScope "file-scope arrays in functions"
    UnusedParameters "unused parameters"
    Prints "printf in outer loops"
    Clocks "timers in outer loops"
    MacroLoops "loops that macros make"
    Conditionals "#ifdef in nests"
    OldStyle "K&R heads"
    StatementExpressions "statement expressions"
    Wrapping "unsigned arithmetic that wraps"
    Overlaps "overlapping pointers"
    ChangedBounds "bounds that stores change"
    NegativeOffsets "negative offsets"
    AliasedMembers "members for the same memory"
    ChangedRows "row pointers that change"
    SharedRows "shared rows"
}
