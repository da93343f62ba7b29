//! Instructions that only some processors have.
//!
//! Programs that are built for every processor of an architecture use what the first of them could do. A function with the
//! attribute `target` uses more; whether the processor can run it is asked at run time.

use std::collections::BTreeSet;

/// Instructions beyond those that every x86-64 processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// Vectors of 32 bytes.
    Avx2,
    /// The same, and products and sums rounded together.
    Avx2Fma,
    /// Vectors of 64 bytes, and products and sums rounded together.
    Avx512,
}

impl Isa {
    /// All of them.
    pub const ALL: [Isa; 3] = [Isa::Avx2, Isa::Avx2Fma, Isa::Avx512];

    /// For recipe files.
    pub fn word(self) -> &'static str {
        match self {
            Isa::Avx2 => "avx2",
            Isa::Avx2Fma => "avx2-fma",
            Isa::Avx512 => "avx512",
        }
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Avx2 => "AVX2",
            Isa::Avx2Fma => "AVX2 and FMA",
            Isa::Avx512 => "AVX-512",
        }
    }

    /// Bytes of a vector register.
    pub fn vector_bytes(self) -> u32 {
        match self {
            Isa::Avx2 | Isa::Avx2Fma => 32,
            Isa::Avx512 => 64,
        }
    }

    /// Names of its parts, for compilers.
    pub fn features(self) -> &'static [&'static str] {
        match self {
            Isa::Avx2 => &["avx2"],
            Isa::Avx2Fma => &["avx2", "fma"],
            Isa::Avx512 => &["avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"],
        }
    }

    /// The macros that mark functions and say whether the processor can run them.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            Isa::Avx2 => ("OXEYE_AVX2", "OXEYE_HAS_AVX2"),
            Isa::Avx2Fma => ("OXEYE_AVX2_FMA", "OXEYE_HAS_AVX2_FMA"),
            Isa::Avx512 => ("OXEYE_AVX512", "OXEYE_HAS_AVX512"),
        }
    }

    /// Definitions of the macros that these words are among.
    pub(crate) fn definitions(words: &BTreeSet<&str>) -> String {
        let mut text = String::new();
        for isa in Isa::ALL {
            let (mark, has) = isa.words();
            if !words.contains(mark) {
                continue;
            }
            let supports: Vec<String> =
                isa.features().iter().map(|f| format!("__builtin_cpu_supports(\"{f}\")")).collect();
            text += &format!(
                "#ifndef {mark}\n\
                 #if defined(__x86_64__) && defined(__GNUC__)\n\
                 #define {mark} __attribute__((target(\"{}\")))\n\
                 #define {has} ({})\n\
                 #else\n\
                 #define {mark}\n\
                 #define {has} 0\n\
                 #endif\n\
                 #endif\n",
                isa.features().join(","),
                supports.join(" && ")
            );
        }
        text
    }
}
