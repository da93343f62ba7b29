//! Macros and vector types of rendered nests, defined at the top of the user's file.

use crate::context::identifiers;
use crate::isa::Isa;
use crate::print::SILENT_ROOTS;
use oxeye_ir::MathFn;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The element type of a vector name such as `f64x8`, with its C names (itself, integer of the same size) and lanes.
struct Width {
    element: &'static str,
    integer: &'static str,
    bytes: u32,
    lanes: u32,
    is_float: bool,
}

fn parse_width(lower: &str) -> Option<Width> {
    let (element, lanes) = lower.split_once('x')?;
    let lanes = lanes.parse().ok()?;
    let (element, integer, bytes, is_float) = match element {
        "f64" => ("double", "long", 8, true),
        "f32" => ("float", "int", 4, true),
        "i64" => ("long", "long", 8, false),
        "i32" => ("int", "int", 4, false),
        _ => return None,
    };
    Some(Width { element, integer, bytes, lanes, is_float })
}

/// Bytes of the widest vectors that a rendered nest names; 0 if it names none.
pub fn vector_bytes(body: &str) -> u32 {
    let width = |word: &str| {
        let rest = word.strip_prefix("oxeye_").or_else(|| word.strip_prefix("OXEYE_"))?;
        let Width { bytes, lanes, .. } =
            parse_width(&rest.rsplit('_').next().unwrap_or(rest).to_lowercase())?;
        Some(bytes * lanes)
    };
    identifiers(body).filter_map(width).max().unwrap_or(0)
}

/// What `#if` asks for vectors of so many bytes to be registers of the processor that the file is compiled for; `None` if they
/// are everywhere.
pub fn vectors_condition(bytes: u32) -> Option<&'static str> {
    match bytes {
        0..=16 => None,
        17..=32 => Some("!defined(__x86_64__) || defined(__AVX__)"),
        _ => Some("!defined(__x86_64__) || defined(__AVX512F__)"),
    }
}

/// Definitions of everything that the given rendered nests use, to be put before the first line of the file; empty if
/// they use nothing. Includes no header, so feature macros of the file keep their effect. Defining it twice is
/// harmless.
pub fn prelude(bodies: &[&str]) -> String {
    let words: BTreeSet<&str> = bodies.iter().flat_map(|b| identifiers(b)).collect();
    let mut text = String::new();
    let mut define = |name: &str, body: &str| {
        if words.contains(name) {
            let _ = writeln!(text, "#ifndef {name}\n#define {name}{body}\n#endif");
        }
    };
    define("OXEYE_MIN", "(a, b) ((a) < (b) ? (a) : (b))");
    define("OXEYE_MAX", "(a, b) ((a) > (b) ? (a) : (b))");
    define("OXEYE_CEILDIV", "(a, d) ((a) > 0 ? ((a) - 1) / (d) + 1 : -(-(a) / (d)))");
    define("OXEYE_ALLOCATE", "(bytes) __builtin_malloc(bytes)");
    define("OXEYE_FREE", "(memory) __builtin_free(memory)");
    define(
        "OXEYE_ALIGN",
        "(memory, offset) ((void *)(((__UINTPTR_TYPE__)(memory) + 63) / 64 * 64 + (__UINTPTR_TYPE__)(offset)))",
    );
    if words.contains("OXEYE_IVDEP") {
        text += "#ifndef OXEYE_IVDEP\n\
                 #if defined(__clang__)\n\
                 #define OXEYE_IVDEP _Pragma(\"clang loop vectorize(assume_safety)\")\n\
                 #elif defined(__GNUC__)\n\
                 #define OXEYE_IVDEP _Pragma(\"GCC ivdep\")\n\
                 #else\n\
                 #define OXEYE_IVDEP\n\
                 #endif\n\
                 #endif\n";
    }
    if words.contains("OXEYE_IVDEP") || words.contains("simd") {
        text += "#if defined(__clang__)\n#pragma clang diagnostic ignored \"-Wpass-failed\"\n#endif\n";
    }
    if SILENT_ROOTS.iter().any(|root| words.contains(root)) {
        text += "#ifndef OXEYE_SQRT\n\
                 #if defined(__clang__)\n\
                 #if __has_builtin(__builtin_elementwise_sqrt)\n\
                 #define OXEYE_SQRT(x) __builtin_elementwise_sqrt((double)(x))\n\
                 #define OXEYE_SQRTF(x) __builtin_elementwise_sqrt((float)(x))\n\
                 #endif\n\
                 #endif\n\
                 #endif\n\
                 #ifndef OXEYE_SQRT\n\
                 #define OXEYE_SQRT(x) __builtin_sqrt(x)\n\
                 #define OXEYE_SQRTF(x) __builtin_sqrtf(x)\n\
                 #endif\n";
    }
    if words.contains("OXEYE_THREAD") || words.contains("OXEYE_TEAM") {
        text += "#ifndef OXEYE_THREAD\n\
                 #if defined(_OPENMP)\n\
                 int omp_get_max_threads(void);\n\
                 int omp_get_num_threads(void);\n\
                 int omp_get_thread_num(void);\n\
                 #define OXEYE_THREADS() omp_get_max_threads()\n\
                 #define OXEYE_TEAM() omp_get_num_threads()\n\
                 #define OXEYE_THREAD() omp_get_thread_num()\n\
                 #else\n\
                 #define OXEYE_THREADS() 1\n\
                 #define OXEYE_TEAM() 1\n\
                 #define OXEYE_THREAD() 0\n\
                 #endif\n\
                 #endif\n";
    }
    text += &Isa::definitions(&words);
    if words.contains("OXEYE_ELEMENT") || words.contains("OXEYE_INDEX") || words.contains("OXEYE_NUMBER") {
        text += include_str!("c/checks.c");
    }
    if words.contains("oxeye_rows_apart") {
        text += include_str!("c/rows.c");
    }
    let mut widths = BTreeSet::new();
    for word in &words {
        if let Some(rest) = word.strip_prefix("oxeye_").or_else(|| word.strip_prefix("OXEYE_")) {
            let name = rest.rsplit('_').next().unwrap_or(rest).to_lowercase();
            if parse_width(&name).is_some() {
                widths.insert(name);
            }
        }
    }
    for name in widths {
        vectors(&name, &words, &mut text);
    }
    if text.is_empty() {
        return text;
    }
    format!("/* Used by the loop nests tuned by Oxeye. */\n{text}")
}

/// Declarations of the functions of `<math.h>` that the bodies call and `source` never mentions: it need not include that
/// header, if functions of other files now stand in the place of their calls.
pub(crate) fn missing_functions(source: &str, bodies: &[&str]) -> String {
    let known: BTreeSet<&str> = identifiers(source).collect();
    let mut found = BTreeSet::new();
    for body in bodies {
        for (at, _) in body.match_indices('(') {
            let name = body[..at].rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next();
            found.extend(name.filter(|name| !known.contains(name)));
        }
    }
    let mut text = String::new();
    for name in found {
        let Some((function, is_single)) = MathFn::from_c_name(name) else { continue };
        let ty = match function {
            MathFn::Abs => "int",
            _ if is_single => "float",
            _ => "double",
        };
        let _ = writeln!(text, "{ty} {name}({});", vec![ty; function.n_args()].join(", "));
    }
    text
}

fn vectors(name: &str, words: &BTreeSet<&str>, text: &mut String) {
    let Some(Width { element, integer, bytes, lanes, is_float }) = parse_width(name) else { return };
    let size = bytes * lanes;
    let upper = name.to_uppercase();
    let int_vector = format!("oxeye_m{}x{lanes}", bytes * 8);
    let _ = writeln!(
        text,
        "#ifndef OXEYE_{upper}\n\
         typedef {element} oxeye_{name} __attribute__((vector_size({size})));\n\
         typedef {element} oxeye_{name}_any __attribute__((vector_size({size}), aligned({bytes}), may_alias));\n\
         #define OXEYE_{upper}(first) (*(oxeye_{name}_any *)&(first))\n\
         #endif"
    );
    let blend = format!("OXEYE_BLEND_{upper}");
    let (min, max, abs) =
        (format!("OXEYE_MIN_{upper}"), format!("OXEYE_MAX_{upper}"), format!("OXEYE_ABS_{upper}"));
    if ![&blend, &min, &max, &abs].iter().any(|w| words.contains(w.as_str())) {
        return;
    }
    // The bits of `a` where the comparison holds, else those of `b`.
    let _ = writeln!(
        text,
        "#ifndef {blend}\n\
         typedef {integer} {int_vector}_{name} __attribute__((vector_size({size})));\n\
         #define {blend}(condition, a, b) __extension__({{ \\\n    \
             {int_vector}_{name} oxeye_c = ({int_vector}_{name})(condition); \\\n    \
             (oxeye_{name})((oxeye_c & ({int_vector}_{name})(a)) | (~oxeye_c & ({int_vector}_{name})(b))); }})\n\
         #endif"
    );
    for (name_of, sign) in [(&min, "<"), (&max, ">")] {
        if words.contains(name_of.as_str()) {
            let _ = writeln!(
                text,
                "#ifndef {name_of}\n\
                 #define {name_of}(a, b) __extension__({{ \\\n    \
                     oxeye_{name} oxeye_a = (a), oxeye_b = (b); \\\n    \
                     {blend}(oxeye_a {sign} oxeye_b, oxeye_a, oxeye_b); }})\n\
                 #endif"
            );
        }
    }
    if words.contains(abs.as_str()) {
        let body = if is_float {
            let bits = if bytes == 8 { "0x7fffffffffffffffL" } else { "0x7fffffff" };
            format!("((oxeye_{name})(({int_vector}_{name})(a) & {bits}))")
        } else {
            format!("{blend}((a) < 0, -(a), (a))")
        };
        let _ = writeln!(text, "#ifndef {abs}\n#define {abs}(a) {body}\n#endif");
    }
}
