//! Nests in functions of their own, for instructions that only some processors have.
//!
//! Programs that are built for every processor of an architecture use what the first of them could do. A function with the
//! attribute `target` uses more; whether the processor can run it is asked at run time, and the original text runs where not.

use crate::CodegenError;
use crate::arguments::{ArgumentOf, arguments};
use crate::capture::parameter;
use crate::context::{Context, identifiers, is_identifier};
use crate::options::RenderOptions;
use crate::print::element_type;
use crate::render::render_nest;
use crate::rows::row_test;
use crate::views::Roots;
use oxeye_ir::{Nest, Program, Step, Storage};
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

    /// The macro that marks functions; with `HAS_` after the first underscore, whether the processor can run them.
    fn words(self) -> (&'static str, &'static str) {
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

/// A nest in a function of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlined {
    /// The function, to stand before that which contains the nest.
    pub function: String,
    /// The block in place of the nest.
    pub block: String,
}

/// Renders a nest in a function for these instructions, called `name`. Where the processor does not have them, or what is
/// tested before the nest does not hold, the original text runs.
///
/// # Errors
/// As [`render_nest`], and if the nest does not stand by itself.
pub fn render_outlined(
    program: &Program,
    nest: &Nest,
    options: &RenderOptions,
    isa: Isa,
    name: &str,
) -> Result<Outlined, CodegenError> {
    let original_nest = program.nests.get(&nest.id).unwrap_or(nest);
    let not_apart = |why: &str| Err(CodegenError::NotApart { why: why.to_owned() });
    let Some(original) = &options.original else {
        return Err(CodegenError::NoOriginal { why: "other processors run it".into() });
    };
    if program.teams.contains_key(&nest.id) {
        return not_apart("it runs in an existing team of threads");
    }
    if !original_nest.rotations.is_empty() || program.advances.contains_key(&nest.id) {
        return not_apart("it moves pointers");
    }
    let roots = Roots::of(program, original_nest);
    let (mut parameters, mut passed) = (Vec::new(), Vec::new());
    for (root, view) in &roots.variables {
        if view.n_base_steps() > 0 && view.steps.first() != Some(&Step::Follow) {
            return not_apart("it uses members of a variable");
        }
        parameters.push(view.declaration.clone());
        passed.push(format!("(void *){root}"));
    }
    let cx = Context::new(program, &BTreeSet::new(), &options.reserved);
    let (mut before, mut after) = (String::new(), String::new());
    for argument in arguments(program, original_nest) {
        let name = &argument.name;
        match argument.what {
            ArgumentOf::Symbol(id) => {
                // Of others, the variables are passed.
                if is_identifier(name) && !program.symbol_views.contains_key(&id) {
                    parameters.push(format!("{} {name}", argument.element.c_name()));
                    passed.push(name.clone());
                }
            }
            ArgumentOf::Array(id) if program.views.contains_key(&id) => {}
            ArgumentOf::Array(id) => {
                let array = program.array(id);
                if array.storage == Storage::Global {
                    continue;
                }
                let ty = element_type(array);
                if row_test(program, original_nest, id).is_some() {
                    parameters.push(format!("{ty} {}{name}", "*".repeat(array.shape.len())));
                    passed.push(format!("(void *){name}"));
                } else if argument.is_buffer {
                    let is_alone = !program.may_alias.iter().any(|(a, b)| *a == id || *b == id);
                    let declaration = parameter(&cx, array, is_alone);
                    if identifiers(&declaration).filter(|word| word == name).count() > 1 {
                        return not_apart("the extents of an array follow from its own type");
                    }
                    parameters.push(declaration);
                    passed.push(format!("(void *){name}"));
                } else if argument.written || argument.is_scratch {
                    parameters.push(format!("{ty} *oxeye_{name}"));
                    passed.push(format!("&{name}"));
                    before += &format!("    {ty} {name} = *oxeye_{name};\n");
                    after += &format!("    *oxeye_{name} = {name};\n");
                } else {
                    parameters.push(format!("{ty} {name}"));
                    passed.push(name.clone());
                }
            }
        }
    }
    let inside = RenderOptions {
        indent: 4,
        comment: Vec::new(),
        original: Some("return 0;".to_owned()),
        ..options.clone()
    };
    let body = render_nest(program, nest, &inside)?;
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let (mark, has) = isa.words();
    let function = format!(
        "{mark} static int {name}({parameters})\n{{\n{before}    {body}\n{after}    return 1;\n}}\n\n"
    );
    let (outer, inner) = (" ".repeat(options.indent + 4), " ".repeat(options.indent + 8));
    let block = format!(
        "{{\n{outer}if (!{has} || !{name}({})) {{\n{inner}{original}\n{outer}}}\n{}}}",
        passed.join(", "),
        " ".repeat(options.indent)
    );
    Ok(Outlined { function, block })
}
