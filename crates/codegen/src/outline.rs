//! Nests in functions of their own, for instructions that only some processors have.

use crate::CodegenError;
use crate::arguments::{ArgumentOf, arguments, parameter};
use crate::capture::declared_besides;
use crate::context::{Context, identifiers, is_identifier};
use crate::isa::Isa;
use crate::options::RenderOptions;
use crate::print::element_type;
use crate::render::{Rendered, render};
use crate::text::moved;
use oxeye_binding::{Binding, Constant, OwnText, Step};
use oxeye_ir::{Nest, Program, Storage};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A nest in a function of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlined {
    /// The function, to stand before that which contains the nest.
    pub function: String,
    /// The block in place of the nest.
    pub block: String,
    /// Whether it is only for the values that [constants](OwnText::constants) had when the nest was read. Otherwise those are
    /// among its arguments.
    pub is_for_values: bool,
    /// Whether the function has directives of OpenMP, other than those of the user's own text.
    pub openmp: bool,
}

/// Renders a nest in a function for these instructions, called `name`. Where the processor does not have them, or what is
/// tested before the nest does not hold, the original text runs.
///
/// # Errors
/// As [`render`], and if the nest does not stand by itself.
pub fn render_outlined(
    program: &Program,
    binding: &Binding,
    nest: &Nest,
    options: &RenderOptions,
    isa: Isa,
    name: &str,
) -> Result<Outlined, CodegenError> {
    let original_nest = program.nests.get(&nest.id).unwrap_or(nest);
    let interface = Interface::of(program, binding, original_nest, options)?;
    let inside = RenderOptions {
        indent: 4,
        comment: Vec::new(),
        original: Some("return 0;".to_owned()),
        ..options.clone()
    };
    let Rendered { text, openmp } = render(program, binding, nest, &inside)?;
    Ok(Outlined { openmp, ..interface.outlined(&text, options, isa, name, true) })
}

/// The nest's own text, with the user's directives, in a function for these instructions, called `name`. Where the processor
/// does not have them, or the sizes are not those of the guard, it runs in its place. `own_text` is what it uses besides its
/// arguments.
///
/// # Errors
/// If the nest does not stand by itself.
pub fn outline_own_text(
    program: &Program,
    binding: &Binding,
    nest: &Nest,
    options: &RenderOptions,
    isa: Isa,
    name: &str,
    own_text: &OwnText,
) -> Result<Outlined, CodegenError> {
    /// What means something else in another function.
    const BOUND: [&str; 9] = [
        "return",
        "goto",
        "static",
        "extern",
        "alloca",
        "__builtin_alloca",
        "__func__",
        "__FUNCTION__",
        "asm",
    ];
    let not_apart = |why: String| Err(CodegenError::NotApart { why });
    // What its text uses, which need not be what is left of it in a normal form.
    let nest = program.nests.get(&nest.id).unwrap_or(nest);
    let mut interface = Interface::of(program, binding, nest, options)?;
    let text = options.original.as_deref().unwrap_or_default();
    if let Some(word) = identifiers(text).find(|word| BOUND.contains(word)) {
        return not_apart(format!("its text has `{word}`"));
    }
    if let Some((array, _)) = own_text.sized.first() {
        return not_apart(format!("its text takes the size of `{array}`"));
    }
    if let Some(variable) = own_text.by_calls.first() {
        return not_apart(format!("functions that it calls use `{variable}`"));
    }
    if !options.known.is_empty() {
        return not_apart("its own text is for all values".to_owned());
    }
    let cx = Context::new(program, binding, &BTreeSet::new(), &options.reserved);
    let mut conditions = Vec::new();
    if let Some(least) = options.guard.least {
        conditions.push(cx.is_large(nest, least)?);
    }
    conditions.extend(cx.are_long(nest, &options.guard)?);
    let mut body = String::new();
    if !conditions.is_empty() {
        let _ = writeln!(body, "if (!({})) return 0;", conditions.join(" && "));
    }
    for [constant, declaration, _] in &own_text.constants {
        interface.parameters.push(declaration.clone());
        interface.passed.push(constant.clone());
        interface.names.push(constant.clone());
    }
    let taken: BTreeSet<&str> = interface.names.iter().map(String::as_str).collect();
    if let Some(count) = own_text.clauses.counts.iter().find(|name| !taken.contains(name.as_str())) {
        return not_apart(format!("how its directives share work depends on `{count}`"));
    }
    let declared = declared_besides(nest, own_text, &taken).text;
    // Between several loops, their iterators may be declared.
    let is_block = nest.roots.len() > 1 && !declared.is_empty();
    let text = if is_block { format!("{{\n{text}\n}}") } else { text.to_owned() };
    match options.declarations_first && !body.is_empty() && !declared.is_empty() {
        true => _ = write!(body, "{{\n{declared}{text}\n}}"),
        false => body += &(declared + &text),
    }
    let is_for_values = interface.has_extents;
    Ok(interface.outlined(&body, options, isa, name, is_for_values))
}

/// What a function for a nest takes and gives back.
struct Interface {
    parameters: Vec<String>,
    passed: Vec<String>,
    /// The names that the parameters have, or the variables made of them.
    names: Vec<String>,
    /// Lines at the begin of the function, and at its end.
    before: String,
    after: String,
    /// Variables without an address, and their types: copies are passed.
    copies: Vec<(String, String)>,
    /// Whether parameters have extents.
    has_extents: bool,
}

impl Interface {
    /// # Errors
    /// If the nest does not stand by itself.
    fn of(
        program: &Program,
        binding: &Binding,
        nest: &Nest,
        options: &RenderOptions,
    ) -> Result<Self, CodegenError> {
        let not_apart = |why: &str| Err(CodegenError::NotApart { why: why.to_owned() });
        if options.original.is_none() {
            return Err(CodegenError::NoOriginal { why: "other processors run it".into() });
        }
        // All threads of a team call the function, each with variables of its own.
        let is_common = |id| binding.team(nest.id).is_some_and(|team| !team.own.contains(&id));
        if !nest.rotations.is_empty() || !binding.advances(nest.id).is_empty() {
            return not_apart("it moves pointers");
        }
        let roots = binding.roots(program, nest);
        let (mut parameters, mut passed, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (root, view) in &roots.variables {
            if view.declaration.contains('{') {
                return not_apart("the type of a variable is known in its function only");
            }
            if view.n_base_steps() > 0 && view.steps.first() != Some(&Step::Follow) {
                return not_apart("it uses members of a variable");
            }
            parameters.push(view.declaration.clone());
            passed.push(format!("(void *){root}"));
            names.push((*root).to_owned());
        }
        let cx = Context::new(program, binding, &BTreeSet::new(), &options.reserved);
        let (mut before, mut after) = (String::new(), String::new());
        let mut copies = Vec::new();
        let mut has_extents = !roots.variables.is_empty();
        for argument in arguments(program, binding, nest) {
            let name = &argument.name;
            names.push(name.clone());
            match argument.what {
                ArgumentOf::Symbol(id) => {
                    if let Some(distance) = binding.distance(id)
                        && let Some(declaration) = &distance.declaration
                        && !names.contains(&distance.end)
                    {
                        parameters.push(declaration.clone());
                        passed.push(format!("(void *){}", distance.end));
                        names.push(distance.end.clone());
                    }
                    // Of others, the variables are passed; what is found out before the nest is found out inside.
                    let is_variable = is_identifier(name) && binding.symbol_view(id).is_none();
                    let entry = binding.entry(nest.id);
                    if is_variable && !entry.is_some_and(|entry| entry.finds(id)) {
                        parameters.push(format!("{} {name}", argument.element.c_name()));
                        passed.push(name.clone());
                    }
                }
                ArgumentOf::Array(id) if binding.views.contains_key(&id) => {}
                ArgumentOf::Array(id) => {
                    let array = program.array(id);
                    let ty = element_type(array);
                    if binding.row_test(nest.id, id).is_some() {
                        parameters.push(format!("{ty} {}{name}", "*".repeat(array.shape.len())));
                        passed.push(format!("(void *){name}"));
                    } else if argument.is_buffer {
                        let loaded = |c: &Constant| match c {
                            Constant::Symbol(symbol) => binding.load(*symbol).map(|access| access.array),
                            Constant::Base(base) => Some(*base),
                        };
                        let is_alone = array.storage != Storage::Global
                            && !program.may_alias.iter().any(|(a, b)| *a == id || *b == id)
                            && !binding.may_change.iter().any(|(c, b)| *b == id || loaded(c) == Some(id));
                        let declaration = parameter(&cx, array, is_alone);
                        if identifiers(&declaration).filter(|word| word == name).count() > 1 {
                            return not_apart("the extents of an array follow from its own type");
                        }
                        has_extents |= array.form.n_leading(array.shape.len()) < array.shape.len();
                        parameters.push(declaration);
                        passed.push(format!("(void *){name}"));
                    } else if argument.written && is_common(id) {
                        return not_apart("it sets a variable that all threads of a team have in common");
                    } else if argument.written || argument.is_scratch {
                        parameters.push(format!("{ty} *oxeye_{name}"));
                        match options.registers.contains(name) {
                            true => {
                                passed.push(format!("&oxeye_{name}"));
                                copies.push((name.clone(), ty.to_owned()));
                            }
                            false => passed.push(format!("&{name}")),
                        }
                        before += &format!("    {ty} {name} = *oxeye_{name};\n");
                        after += &format!("    *oxeye_{name} = {name};\n");
                    } else {
                        parameters.push(format!("{ty} {name}"));
                        passed.push(name.clone());
                    }
                }
            }
        }
        Ok(Self { parameters, passed, names, before, after, copies, has_extents })
    }

    /// The function with this body, and its call.
    fn outlined(
        self,
        body: &str,
        options: &RenderOptions,
        isa: Isa,
        name: &str,
        is_for_values: bool,
    ) -> Outlined {
        let Self { parameters, passed, before, after, copies, .. } = self;
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let (mark, has) = isa.words();
        let function = format!(
            "{mark} static int {name}({parameters})\n{{\n{before}    {body}\n{after}    return 1;\n}}\n\n"
        );
        let original = moved(options.original.as_deref().unwrap_or_default(), 8);
        let (outer, inner) = (" ".repeat(options.indent + 4), " ".repeat(options.indent + 8));
        let copied: String =
            copies.iter().map(|(name, ty)| format!("{outer}{ty} oxeye_{name} = {name};\n")).collect();
        let back: String =
            copies.iter().map(|(name, _)| format!("{inner}{name} = oxeye_{name};\n")).collect();
        let back = if back.is_empty() { back } else { format!(" else {{\n{back}{outer}}}") };
        let block = format!(
            "{{\n{copied}{outer}if (!{has} || !{name}({})) {{\n{inner}{original}\n{outer}}}{back}\n{}}}",
            passed.join(", "),
            " ".repeat(options.indent)
        );
        Outlined { function, block, is_for_values, openmp: false }
    }
}
