//! The usual hand-made features of a nest: the baseline that a learnt embedding has to beat.

use crate::schema::{Feature, FeatureList, Transform, features};

features! {
    /// Features of a whole nest, made by hand.
    HandMadeFeature, "Hand-made features of a nest":
    Loops "loops" "loops" Log "Loops.";
    Depth "depth" "loops" Count "Loops around the deepest statement.";
    Stmts "stmts" "statements" Log "Statements.";
    Arrays "arrays" "arrays" Log "Arrays of at least one dimension.";
    Reads "reads" "accesses" Log "Accesses that read.";
    Writes "writes" "accesses" Log "Accesses that write.";
    SizesKnown "sizes_known" "flag" Flag "All executions could be counted.";
    Executions "executions" "executions" Log "Executions of all statements.";
    FloatAdds "float_adds" "operations" Log "Floating-point additions and subtractions in total.";
    FloatMuls "float_muls" "operations" Log "Floating-point multiplications in total.";
    FloatDivs "float_divs" "operations" Log "Floating-point divisions and square roots in total.";
    FloatCompares "float_compares" "operations" Log "Floating-point comparisons and selections in total.";
    Integer "integer" "operations" Log "Operations on integers in total.";
    Calls "calls" "calls" Log "Calls of exponential, logarithmic, trigonometric and error functions in total.";
    F32Share "f32_share" "1" Share "Share of the floating-point targets that are f32.";
    Bytes "bytes" "bytes" Log "Memory touched.";
    BytesL1 "bytes_l1" "1" Ratio "The same over the first-level cache.";
    BytesL2 "bytes_l2" "1" Ratio "The same over the second-level cache.";
    BytesL3 "bytes_l3" "1" Ratio "The same over the third-level cache.";
    Intensity "intensity" "FLOP/B" Scale "Floating-point operations per byte of memory touched.";
    InnerZero "inner_zero" "1" Share "Share of the accesses that the innermost loop does not move.";
    InnerOne "inner_one" "1" Share "Share of the accesses that it moves by one element.";
    InnerSmall "inner_small" "1" Share "Share of the accesses that it moves within a cache line.";
    InnerLarge "inner_large" "1" Share "Share of the accesses that it moves by a cache line or more.";
    InnerUnknown "inner_unknown" "1" Share "Share of the accesses that it moves in an unknown way.";
    OuterZero "outer_zero" "1" Share "Share of the accesses that the outermost loop does not move.";
    OuterOne "outer_one" "1" Share "Share of the accesses that it moves by one element.";
    OuterLarge "outer_large" "1" Share "Share of the accesses that it moves by a cache line or more.";
    Indirect "indirect" "1" Share "Share of the accesses that are indirect.";
    Reuse "reuse" "uses" Log "Average over the accesses of the uses of one element.";
    OuterTrip "outer_trip" "iterations" Log "Largest number of iterations of an outermost loop.";
    InnerTrip "inner_trip" "iterations" Log "Largest number of iterations of an innermost loop.";
    OuterParallel "outer_parallel" "flag" Flag "An outermost loop carries nothing.";
    InnerParallel "inner_parallel" "flag" Flag "All innermost loops carry nothing.";
    InnerReduction "inner_reduction" "flag" Flag "An innermost loop carries a reduction.";
    InnerRecurrence "inner_recurrence" "flag" Flag "An innermost loop carries a flow dependence that is no reduction.";
    ParallelShare "parallel_share" "1" Share "Share of the loops that carry nothing.";
    Flow "flow" "dependences" Log "Flow dependences between statements, carried.";
    Anti "anti" "dependences" Log "Anti dependences between statements, carried.";
    Output "output" "dependences" Log "Output dependences between statements, carried.";
    Reductions "reductions" "statements" Log "Statements that reduce.";
    Independent "independent" "dependences" Log "Dependences within an iteration.";
    Distance "distance" "iterations" Log "Largest known distance of a carried dependence.";
    UnknownDistances "unknown_distances" "1" Share "Share of the carried dependences whose distance is not constant.";
    Triangular "triangular" "1" Share "Share of the loops whose bounds depend on loops around them.";
    Perfect "perfect" "1" Share "Share of the loops with loops inside that are perfectly nested.";
    Guarded "guarded" "1" Share "Share of the statements under guards.";
}
