//! Nests in functions of their own, for instructions that only some processors have.

use crate::CodegenError;
use crate::arguments::{ArgumentOf, arguments, parameter};
use crate::context::{Context, identifiers, is_identifier};
use crate::isa::Isa;
use crate::options::RenderOptions;
use crate::print::element_type;
use crate::render::render_nest;
use crate::rows::row_test;
use crate::views::Roots;
use oxeye_ir::{Nest, Program, Step, Storage};
use std::collections::BTreeSet;

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
                let ty = element_type(array);
                if row_test(program, original_nest, id).is_some() {
                    parameters.push(format!("{ty} {}{name}", "*".repeat(array.shape.len())));
                    passed.push(format!("(void *){name}"));
                } else if argument.is_buffer {
                    let is_alone = array.storage != Storage::Global
                        && !program.may_alias.iter().any(|(a, b)| *a == id || *b == id);
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
