//! A piece of a program while it is written: what it needs, and what of that a function, its caller and the file have.

use super::construct::Construct;
use oxeye_random::Rng;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Extents are larger than the sizes they belong to by this much, so that neighbours on both sides exist and none is empty.
pub(crate) const PAD: i64 = 2;

/// A size, as the function has it and as the caller has it.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    /// In the function; needs no parentheses.
    pub(crate) text: String,
    /// In the caller.
    pub(crate) value: String,
    /// Whether it is a constant expression.
    pub(crate) constant: bool,
    /// Whether `text` has an unsigned type.
    pub(crate) unsigned: bool,
}

/// A parameter of the function.
#[derive(Clone, Debug)]
struct Parameter {
    /// Those that others' types speak of come first.
    rank: u32,
    name: String,
    declaration: String,
    argument: String,
}

/// How the piece's own structure is reached.
#[derive(Clone, Debug)]
struct Structure {
    /// What stands before a member in the function.
    prefix: String,
    fields: Vec<String>,
    /// Statements of the caller.
    values: Vec<String>,
    /// Statements of the caller behind the call.
    shown: Vec<String>,
    form: StructureForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StructureForm {
    Parameter,
    Global,
    Nested,
    Handle,
    Level,
}

/// A piece being written.
pub(crate) struct Maker {
    pub(crate) rng: Rng,
    /// Number of the piece in its program.
    pub(crate) number: usize,
    pub(crate) constructs: BTreeSet<Construct>,
    pub(crate) sizes: Vec<Size>,
    /// Types, file-scope variables and helper functions.
    pub(crate) before: String,
    parameters: Vec<Parameter>,
    /// Declarations at the top of the function.
    pub(crate) locals: Vec<String>,
    /// Statements of the caller before and after the call.
    pub(crate) setup: Vec<String>,
    pub(crate) shown: Vec<String>,
    structure: Option<Structure>,
    names: BTreeSet<String>,
    depth: usize,
    /// Counters declared at the top of the function that loops have used since somebody looked.
    pub(crate) outer_counters: BTreeSet<String>,
    /// Whether loops must declare their counters themselves.
    pub(crate) own_counters: bool,
    /// What the function returns, if anything, and the call of it.
    pub(crate) returns: Option<&'static str>,
    /// Whether a K&R head will do.
    pub(crate) plain_types: bool,
    /// Parameters that may lead to the same memory without harm: name, type and extents, and argument.
    pub(crate) shareable: Vec<(String, String, String)>,
    /// Further calls, as lists of `parameter = argument`.
    pub(crate) calls: Vec<Vec<(String, String)>>,
}

/// Stands for the caller's name of the piece's structure until that is known.
const OWN: &str = "@";

const NAMES: &[&str] = &["a", "b", "c", "d", "e", "u", "v", "w", "x", "y", "z", "p", "q", "r", "h", "o"];
const COUNTERS: &[&str] = &["i", "j", "k", "ii", "jj", "kk"];

impl Maker {
    pub(crate) fn new(rng: Rng, number: usize) -> Self {
        Self {
            rng,
            number,
            constructs: BTreeSet::new(),
            sizes: Vec::new(),
            before: String::new(),
            parameters: Vec::new(),
            locals: Vec::new(),
            setup: Vec::new(),
            shown: Vec::new(),
            structure: None,
            names: BTreeSet::new(),
            depth: 0,
            outer_counters: BTreeSet::new(),
            own_counters: false,
            returns: None,
            plain_types: true,
            shareable: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Notes that the piece has a construct.
    pub(crate) fn has(&mut self, construct: Construct) {
        self.constructs.insert(construct);
    }

    /// True `percent` times in a hundred.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.rng.chance(f64::from(percent) / 100.0)
    }

    /// One of the words.
    pub(crate) fn one<'w>(&mut self, words: &[&'w str]) -> &'w str {
        let word: &&'w str = self.rng.pick(words);
        word
    }

    /// A number in `low..=high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        self.rng.within(low, high)
    }

    /// A name that nothing else in the function has.
    pub(crate) fn name(&mut self) -> String {
        let free: Vec<&str> = NAMES.iter().copied().filter(|n| !self.names.contains(*n)).collect();
        let name = match free.as_slice() {
            [] => format!("x{}", self.names.len()),
            free => (*self.rng.pick(free)).to_owned(),
        };
        self.names.insert(name.clone());
        name
    }

    /// That name, or one like it.
    pub(crate) fn named(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.names.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    /// A name at file scope.
    pub(crate) fn global(&self, name: &str) -> String {
        format!("{name}_{}", self.number)
    }

    /// A counter for the next loop inwards.
    pub(crate) fn counter(&mut self) -> String {
        self.depth += 1;
        COUNTERS.get(self.depth - 1).map_or_else(|| format!("i{}", self.depth), |c| (*c).to_owned())
    }

    /// The loop of the last counter ends.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Adds a parameter of the function.
    pub(crate) fn parameter(&mut self, rank: u32, name: &str, declaration: String, argument: String) {
        self.parameters.push(Parameter { rank, name: name.to_owned(), declaration, argument });
    }

    /// A parameter of an integer type, with its argument.
    pub(crate) fn integer(&mut self, wanted: &str, ty: &str, argument: &str) -> String {
        let name = self.named(wanted);
        let plain = ty.trim_start_matches("const ");
        self.parameter(0, &name, format!("{ty} {name}"), format!("({plain})({argument})"));
        name
    }

    /// A new size, spelt in some way.
    pub(crate) fn size(&mut self) -> usize {
        let (value, constant) = match self.between(0, 9) {
            0..=2 => ("n", false),
            3..=4 => ("m", false),
            5..=6 => ("N", true),
            7..=8 => ("M", true),
            _ => ("5", true),
        };
        self.size_of(value, constant)
    }

    /// A size that no build knows when it compiles.
    pub(crate) fn open_size(&mut self) -> usize {
        let value = self.one(&["n", "m"]);
        self.size_of(value, false)
    }

    /// A size of this value in the caller.
    pub(crate) fn size_of(&mut self, value: &str, constant: bool) -> usize {
        let mut unsigned = false;
        let text = match self.between(0, 99) {
            0..=24 if constant => {
                self.has(Construct::MacroSizes);
                if value == "5" && self.chance(50) {
                    self.has(Construct::Enums);
                    let (name, ty) = (self.global("FIVE"), self.global("lengths"));
                    let line = format!("enum {ty} {{ {name} = 5 }};\n");
                    if !self.before.contains(&line) {
                        self.before += &line;
                    }
                    name
                } else {
                    value.to_owned()
                }
            }
            25..=32 => {
                self.has(Construct::ExtentsInMemory);
                let name = self.global(&format!("size{}", self.sizes.len()));
                let _ = writeln!(self.before, "static int {name};");
                self.setup.push(format!("{name} = {value};"));
                name
            }
            33..=40 => {
                self.has(Construct::ExtentsInMemory);
                let name = self.named("pn");
                let own = format!("{name}_value");
                self.setup.push(format!("int {own} = {value};"));
                self.parameter(0, &name, format!("const int *{name}"), format!("&{own}"));
                format!("(*{name})")
            }
            41..=47 => {
                self.has(Construct::ExtentsInMemory);
                let name = self.named("dims");
                let own = format!("{name}_values");
                self.setup.push(format!("int {own}[3] = {{1, {value}, 2}};"));
                self.parameter(0, &name, format!("int *{name}"), own);
                format!("{name}[1]")
            }
            48..=59 => {
                self.has(Construct::MemberBounds);
                let field = format!("n{}", self.sizes.len());
                let ty = self.one(&["int", "int", "long", "unsigned"]);
                unsigned = ty == "unsigned";
                self.member(&format!("{ty} {field};"), &field, value)
            }
            _ => {
                let ty = self.one(&["int", "int", "int", "const int", "long", "unsigned", "size_t", "short"]);
                unsigned = matches!(ty, "unsigned" | "size_t");
                if ty == "short" {
                    self.plain_types = false;
                }
                let wanted =
                    if value.parse::<u32>().is_ok() { "length".to_owned() } else { value.to_lowercase() };
                self.integer(&wanted, ty, value)
            }
        };
        self.sizes.push(Size { text, value: value.to_owned(), constant, unsigned });
        self.sizes.len() - 1
    }

    /// Whether a size can be named in the types of parameters: it is not reached through a local variable.
    pub(crate) fn is_open(&self, size: usize) -> bool {
        let local = |s: &Structure| {
            matches!(s.form, StructureForm::Handle | StructureForm::Level)
                && self.sizes[size].text.starts_with(&s.prefix)
        };
        !self.structure.as_ref().is_some_and(local)
    }

    /// A member of the piece's structure that the caller sets to a value; how the function names it.
    pub(crate) fn member(&mut self, field: &str, name: &str, value: &str) -> String {
        self.has(Construct::Structures);
        if self.structure.is_none() {
            self.add_structure();
        }
        let structure = self.structure.as_mut().expect("made");
        structure.fields.push(field.to_owned());
        structure.values.push(format!("{OWN}{name} = {value};"));
        format!("{}{name}", structure.prefix)
    }

    /// A member that is an array; `ends` makes the statements that fill and show it, of the caller's name for it.
    pub(crate) fn member_array(
        &mut self,
        field: &str,
        name: &str,
        ends: impl FnOnce(&str) -> (String, String),
    ) -> String {
        self.has(Construct::Structures);
        if self.structure.is_none() {
            self.add_structure();
        }
        let structure = self.structure.as_mut().expect("made");
        let (filled, shown) = ends(&format!("{OWN}{name}"));
        structure.fields.push(field.to_owned());
        structure.values.push(filled);
        structure.shown.push(shown);
        format!("{}{name}", structure.prefix)
    }

    fn add_structure(&mut self) {
        let (prefix, form) = match self.between(0, 9) {
            0..=4 => (self.named("s") + "->", StructureForm::Parameter),
            5..=6 => (self.global("box") + ".", StructureForm::Global),
            7 => {
                self.has(Construct::NestedStructures);
                (self.named("outer") + "->inner.", StructureForm::Nested)
            }
            8 => {
                self.has(Construct::Handles);
                (self.named("g") + "->", StructureForm::Handle)
            }
            _ => {
                self.has(Construct::Handles);
                (self.named("g") + "->", StructureForm::Level)
            }
        };
        let base = prefix.split(['-', '.']).next().unwrap_or_default().to_owned();
        let (ty, world) = (self.global("struct grid"), self.global("struct world"));
        match form {
            StructureForm::Global => {}
            StructureForm::Parameter => {
                self.parameter(0, &base, format!("{ty} *{base}"), format!("&{base}_value"));
            }
            StructureForm::Nested => {
                self.parameter(0, &base, format!("{world} *{base}"), format!("&{base}_value"));
            }
            StructureForm::Handle => {
                self.parameter(0, "all", format!("{world} *all"), format!("&{base}_value"));
                self.locals.insert(0, format!("{ty} *{base} = &all->inner;"));
            }
            StructureForm::Level => {
                self.parameter(0, "all", format!("{world} *all"), format!("&{base}_value"));
                self.parameter(0, "level", "int level".into(), "t % 2".into());
                self.locals.insert(0, format!("{ty} *{base} = &all->levels[level];"));
            }
        }
        self.structure =
            Some(Structure { prefix, fields: Vec::new(), values: Vec::new(), shown: Vec::new(), form });
    }

    /// Calls in which two parameters of one type and extent are one array.
    fn share_arguments(&mut self) {
        for (k, (name, like, _)) in self.shareable.clone().into_iter().enumerate() {
            let others: Vec<String> = self.shareable[..k]
                .iter()
                .filter(|(_, other, _)| *other == like)
                .map(|(_, _, argument)| argument.clone())
                .collect();
            if !others.is_empty() && self.chance(50) {
                self.has(Construct::SharedArguments);
                let argument = self.rng.pick(&others).clone();
                self.calls.push(vec![(name, argument)]);
            }
        }
    }

    /// The piece's types, variables and functions, and the function that calls it.
    pub(crate) fn finish(mut self, body: &str) -> Piece {
        self.share_arguments();
        let mut types = String::new();
        if let Some(structure) = self.structure.take() {
            self.declare_structure(&structure, &mut types);
        }
        self.parameters.sort_by_key(|p| p.rank);
        let old_style = self.plain_types && !self.parameters.is_empty() && self.chance(6);
        if old_style {
            self.has(Construct::OldStyle);
        }
        let name = self.global("f");
        let names: Vec<&str> = self.parameters.iter().map(|p| p.name.as_str()).collect();
        let declarations: Vec<&str> = self.parameters.iter().map(|p| p.declaration.as_str()).collect();
        let head = match (old_style, declarations.as_slice()) {
            (true, all) => format!("({})\n    {};", names.join(", "), all.join(";\n    ")),
            (false, []) => "(void)".to_owned(),
            (false, all) => format!("({})", all.join(", ")),
        };
        let linkage = self.rng.pick(&["static ", "static ", "static ", ""]);
        let returns = self.returns.unwrap_or("void");
        let locals: String = self.locals.iter().map(|l| format!("    {l}\n")).collect();
        let function = format!("{linkage}{returns} {name}{head}\n{{\n{locals}{}}}\n", indented(body));
        let mut run = format!("static void run_{}(int n, int m, int t, int kind)\n{{\n", self.number);
        for line in &self.setup {
            let _ = writeln!(run, "    {line}");
        }
        let others = std::mem::take(&mut self.calls);
        for changes in std::iter::once(Vec::new()).chain(others) {
            let argument = |p: &Parameter| {
                let changed = changes.iter().find(|(name, _)| *name == p.name);
                changed.map_or_else(|| p.argument.clone(), |(_, argument)| argument.clone())
            };
            let arguments: Vec<String> = self.parameters.iter().map(argument).collect();
            let call = format!("{name}({})", arguments.join(", "));
            match self.returns {
                Some(_) => {
                    let _ = writeln!(run, "    printf(\"{name} %.15g\\n\", (double){call});");
                }
                None => {
                    let _ = writeln!(run, "    {call};");
                }
            }
        }
        for line in &self.shown {
            let _ = writeln!(run, "    {line}");
        }
        run += "    (void)n, (void)m, (void)t, (void)kind;\n}\n";
        let text = format!("{types}{}{function}{run}", self.before);
        Piece { number: self.number, text, constructs: self.constructs }
    }

    /// Writes its type and variable, and has the caller set its members.
    fn declare_structure(&mut self, structure: &Structure, types: &mut String) {
        let (ty, world) = (self.global("struct grid"), self.global("struct world"));
        let _ = writeln!(types, "{ty} {{ {} }};", structure.fields.join(" "));
        let base = structure.prefix.split(['-', '.']).next().unwrap_or_default();
        let own = match structure.form {
            StructureForm::Parameter => {
                self.setup.insert(0, format!("{ty} {base}_value;"));
                format!("{base}_value.")
            }
            StructureForm::Global => {
                let _ = writeln!(types, "static {ty} {base};");
                format!("{base}.")
            }
            StructureForm::Nested | StructureForm::Handle | StructureForm::Level => {
                let _ = writeln!(types, "{world} {{ int id; {ty} inner, levels[2]; }};");
                self.setup.insert(0, format!("static {world} {base}_value;"));
                match structure.form {
                    StructureForm::Level => format!("{base}_value.levels[t % 2]."),
                    _ => format!("{base}_value.inner."),
                }
            }
        };
        self.setup.extend(structure.values.iter().map(|line| line.replace(OWN, &own)));
        self.shown.extend(structure.shown.iter().map(|line| line.replace(OWN, &own)));
    }
}

/// A piece of a program: functions with loops, and one that calls them with data and prints what became of it.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its number in the program; the names of its functions end with it.
    pub number: usize,
    /// Its text.
    pub text: String,
    /// What is in it.
    pub constructs: BTreeSet<Construct>,
}

/// Every line but those of the preprocessor with four columns before it.
pub(crate) fn indented(text: &str) -> String {
    text.lines()
        .map(|line| {
            if line.is_empty() || line.starts_with('#') {
                format!("{line}\n")
            } else {
                format!("    {line}\n")
            }
        })
        .collect()
}
