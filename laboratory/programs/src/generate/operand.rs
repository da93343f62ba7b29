//! Arrays, in all the ways in which functions get at them.

use super::construct::Construct;
use super::maker::{Maker, PAD};

/// The type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    F64,
    F32,
    I32,
    I64,
    U32,
}

impl Element {
    /// In C.
    pub(crate) fn c(self) -> &'static str {
        match self {
            Element::F64 => "double",
            Element::F32 => "float",
            Element::I32 => "int",
            Element::I64 => "long",
            Element::U32 => "unsigned",
        }
    }

    /// The suffix of its helpers.
    pub(crate) fn helper(self) -> &'static str {
        match self {
            Element::F64 => "d",
            Element::F32 => "f",
            Element::I32 => "i",
            Element::I64 => "l",
            Element::U32 => "u",
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Element::F64 | Element::F32)
    }
}

/// What is asked of an operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    /// It is stored to.
    pub(crate) written: bool,
    /// Iterations may run at once: no two elements share memory.
    pub(crate) distinct: bool,
    /// It is a pointer to elements in a row, that calls may replace.
    pub(crate) pointer: bool,
}

/// An array as the function sees it.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) element: Element,
    pub(crate) name: String,
    /// Elements a row, of all dimensions but the first; empty if subscripts are written one behind the other.
    strides: Vec<String>,
    is_linear: bool,
    suffix: String,
    /// The memory in the caller, if it is in one row there.
    pub(crate) memory: Option<String>,
    /// The parameter, if there is one.
    pub(crate) parameter: Option<String>,
}

impl Operand {
    /// An element in C. Indices are whole expressions.
    pub(crate) fn at<T: AsRef<str>>(&self, indices: &[T]) -> String {
        let Operand { name, suffix, .. } = self;
        if !self.is_linear {
            let subscripts: String = indices.iter().map(|i| format!("[{}]", i.as_ref())).collect();
            return format!("{name}{subscripts}{suffix}");
        }
        let mut at = indices[0].as_ref().to_owned();
        for (index, stride) in indices[1..].iter().zip(&self.strides) {
            at = format!("{} * {stride} + {}", bracketed(&at), index.as_ref());
        }
        format!("{name}[{at}]{suffix}")
    }
}

/// With parentheses, unless it is one word.
pub(crate) fn bracketed(text: &str) -> String {
    let is_word = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_word { text.to_owned() } else { format!("({text})") }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Static,
    Variable,
    Flat,
    Rows,
    Cast,
    MemberPointer,
    MemberArray,
    MemberRows,
    Structures,
    Global,
    Inside,
}

impl Maker {
    /// Any element type, mostly double.
    pub(crate) fn element(&mut self) -> Element {
        match self.between(0, 9) {
            0..=5 => Element::F64,
            6 => Element::F32,
            7 => Element::I32,
            8 => Element::I64,
            _ => Element::U32,
        }
    }

    /// A floating-point type, mostly double.
    pub(crate) fn float(&mut self) -> Element {
        if self.chance(85) { Element::F64 } else { Element::F32 }
    }

    /// An array with these sizes as extents (and [`PAD`] more of each).
    pub(crate) fn array(&mut self, dims: &[usize], element: Element, wish: Wish) -> Operand {
        let constant = dims.iter().all(|d| self.sizes[*d].constant);
        let spelling = loop {
            let spelling = match self.between(0, 19) {
                0..=2 if constant => Spelling::Static,
                3..=4 if dims.len() > 1 => Spelling::Variable,
                5..=8 => Spelling::Flat,
                9..=11 if dims.len() > 1 => Spelling::Rows,
                12 if dims.len() > 1 => Spelling::Cast,
                13..=14 => Spelling::MemberPointer,
                15 if constant => Spelling::MemberArray,
                16 if dims.len() > 1 => Spelling::MemberRows,
                17 => Spelling::Structures,
                18 => Spelling::Global,
                19 if dims.len() < 3 => Spelling::Inside,
                _ => continue,
            };
            if spelling == Spelling::Variable && !dims.iter().all(|d| self.is_open(*d)) {
                continue;
            }
            if !wish.pointer || matches!(spelling, Spelling::Flat | Spelling::Global) {
                break spelling;
            }
        };
        let (ty, helper) = (element.c(), element.helper());
        let seed = self.between(1, 9999);
        let extents: Vec<String> =
            dims.iter().map(|d| format!("({} + {PAD})", self.sizes[*d].value)).collect();
        let lengths: Vec<String> =
            dims.iter().map(|d| format!("({} + {PAD})", self.sizes[*d].text)).collect();
        let count = format!("(long){}", extents.join(" * "));
        let name = self.name();
        let global = self.global(&name);
        let memory = format!("{name}_data");
        let of = |name: &str| Operand {
            element,
            name: name.to_owned(),
            strides: Vec::new(),
            is_linear: false,
            suffix: String::new(),
            memory: None,
            parameter: None,
        };
        let constness = if wish.written || self.chance(60) { "" } else { "const " };
        let keyword = if !wish.pointer && self.chance(25) { "restrict " } else { "" };
        match spelling {
            Spelling::Static => {
                let subscripts: String =
                    dims.iter().map(|d| format!("[{} + {PAD}]", self.sizes[*d].value)).collect();
                self.before += &format!("static {ty} {global}{subscripts};\n");
                self.setup.push(format!("fill_{helper}(({ty} *){global}, {count}, {seed});"));
                self.shown.push(format!("show_{helper}(\"{global}\", (const {ty} *){global}, {count});"));
                Operand { memory: Some(format!("(({ty} *){global})")), ..of(&global) }
            }
            Spelling::Variable => {
                self.has(Construct::VariableLengths);
                self.plain_types = false;
                self.memory(&memory, element, &count, seed, &global);
                let rows: String = lengths[1..].iter().map(|l| format!("[{l}]")).collect();
                let declaration = match (self.between(0, 2), keyword) {
                    (0, "") => format!("{constness}{ty} {name}[]{rows}"),
                    (1, "") => format!("{constness}{ty} {name}[{}]{rows}", lengths[0]),
                    _ => {
                        if !keyword.is_empty() {
                            self.has(Construct::Restrict);
                        }
                        format!("{constness}{ty} (*{keyword}{name}){rows}")
                    }
                };
                if keyword.is_empty() && !wish.distinct {
                    self.shareable.push((name.clone(), format!("{ty} {count}"), format!("(void *){memory}")));
                }
                self.parameter(2, &name, declaration, format!("(void *){memory}"));
                Operand { memory: Some(memory), parameter: Some(name.clone()), ..of(&name) }
            }
            Spelling::Flat | Spelling::Global | Spelling::Inside | Spelling::MemberPointer => {
                let (strides, real) = self.strides(dims, &name);
                if dims.len() > 1 {
                    self.has(Construct::Flat);
                }
                let count = match real.as_slice() {
                    [] => count,
                    real => format!("(long){} * {}", extents[0], real.join(" * ")),
                };
                self.memory(&memory, element, &count, seed, &global);
                let (name, parameter) = match spelling {
                    Spelling::Flat => {
                        if !keyword.is_empty() {
                            self.has(Construct::Restrict);
                        }
                        if keyword.is_empty() && !wish.distinct {
                            self.shareable.push((name.clone(), format!("{ty} {count}"), memory.clone()));
                        }
                        let declaration = format!("{constness}{ty} *{keyword}{name}");
                        self.parameter(2, &name, declaration, memory.clone());
                        (name.clone(), Some(name))
                    }
                    Spelling::Global => {
                        self.before += &format!("static {ty} *{global};\n");
                        self.setup.push(format!("{global} = {memory};"));
                        (global, None)
                    }
                    Spelling::Inside => {
                        // A pointer into the memory, with what is before it in reach.
                        self.has(Construct::NegativeOffsets);
                        let far = format!("{name}_from");
                        self.parameter(2, &far, format!("{ty} *{far}"), format!("{memory} + 1"));
                        self.locals.push(format!("{ty} *{name} = {far} - 1;"));
                        (name, None)
                    }
                    _ => {
                        self.has(Construct::MemberPointers);
                        if !keyword.is_empty() {
                            self.has(Construct::Restrict);
                        }
                        (self.member(&format!("{ty} *{keyword}{name};"), &name, &memory), None)
                    }
                };
                Operand { strides, is_linear: true, memory: Some(memory), parameter, ..of(&name) }
            }
            Spelling::Rows | Spelling::MemberRows => {
                let is_cube = dims.len() == 3;
                self.has(if is_cube { Construct::Cubes } else { Construct::Rows });
                let (make, show, stars) =
                    if is_cube { ("cube", "show_cube", "***") } else { ("rows", "show_rows", "**") };
                let n_kinds = if wish.distinct { 4 } else { 5 };
                if n_kinds == 5 {
                    self.has(Construct::SharedRows);
                }
                let shift = self.between(0, 4);
                let extents = extents.join(", ");
                self.setup.push(format!(
                    "{ty} {stars}{memory} = {make}_{helper}({extents}, (kind + {shift}) % {n_kinds}, {seed});"
                ));
                self.shown.push(format!("{show}_{helper}(\"{global}\", {memory}, {extents});"));
                if spelling == Spelling::Rows {
                    if !wish.distinct {
                        self.shareable.push((name.clone(), format!("{ty} {stars}{extents}"), memory.clone()));
                    }
                    self.parameter(2, &name, format!("{ty} {stars}{name}"), memory);
                    return of(&name);
                }
                self.has(Construct::MemberPointers);
                let name = self.member(&format!("{ty} {stars}{name};"), &name, &memory);
                of(&name)
            }
            Spelling::Cast => {
                self.has(Construct::CastRows);
                self.plain_types = false;
                self.memory(&memory, element, &count, seed, &global);
                let data = self.named(&format!("{name}_raw"));
                let data = if self.chance(40) {
                    self.member(&format!("void *{data};"), &data, &memory)
                } else {
                    self.parameter(2, &data, format!("void *{data}"), memory.clone());
                    data
                };
                let rows: String = lengths[1..].iter().map(|l| format!("[{l}]")).collect();
                if !keyword.is_empty() {
                    self.has(Construct::Restrict);
                }
                self.locals.push(format!("{ty} (*{keyword}{name}){rows} = ({ty} (*){rows}){data};"));
                Operand { memory: Some(memory), ..of(&name) }
            }
            Spelling::MemberArray => {
                self.has(Construct::MemberArrays);
                let subscripts: String =
                    dims.iter().map(|d| format!("[{} + {PAD}]", self.sizes[*d].value)).collect();
                let member = self.member_array(&format!("{ty} {name}{subscripts};"), &name, |own| {
                    (
                        format!("fill_{helper}(({ty} *){own}, {count}, {seed});"),
                        format!("show_{helper}(\"{global}\", (const {ty} *){own}, {count});"),
                    )
                });
                of(&member)
            }
            Spelling::Structures => {
                self.has(Construct::ArraysOfStructures);
                let (strides, real) = self.strides(dims, &name);
                let count = match real.as_slice() {
                    [] => count,
                    real => format!("(long){} * {}", extents[0], real.join(" * ")),
                };
                let tag = self.global(&format!("struct item_{name}"));
                let (fields, own) = match self.between(0, 3) {
                    0 => (format!("{ty} re, im;"), ".re"),
                    1 => (format!("int id; {ty} v[3];"), ".v[1]"),
                    2 => (format!("struct {{ {ty} x; float w; }} at; char tag;"), ".at.x"),
                    _ => (format!("{ty} im, re; double pad;"), ".re"),
                };
                self.before += &format!("{tag} {{ {fields} }};\n");
                self.setup.push(format!("{tag} *{memory} = keep(({count}) * sizeof *{memory});"));
                self.setup.push(format!("memset({memory}, 0, ({count}) * sizeof *{memory});"));
                self.setup.push(format!(
                    "for (long z = 0; z < {count}; z++)\n        {memory}[z]{own} = value_{helper}({seed}, z);"
                ));
                self.shown.push(format!(
                    "{{\n        struct check c = {{0}};\n        for (long z = 0; z < {count}; z++)\n            \
                     check(&c, (double){memory}[z]{own});\n        show(\"{global}\", &c);\n    }}"
                ));
                self.parameter(2, &name, format!("{tag} *{name}"), memory);
                Operand { strides, is_linear: true, suffix: own.to_owned(), ..of(&name) }
            }
        }
    }

    /// Elements a row of the dimensions but the first: as the function has them, and as the caller; the caller's are empty
    /// if they are just the extents.
    fn strides(&mut self, dims: &[usize], name: &str) -> (Vec<String>, Vec<String>) {
        let (mut own, mut real) = (Vec::new(), Vec::new());
        for dim in &dims[1..] {
            let size = self.sizes[*dim].clone();
            if self.chance(50) {
                own.push(format!("({} + {PAD})", size.text));
                real.push(format!("({} + {PAD})", size.value));
            } else {
                let more = self.between(0, 3);
                let value = format!("({} + {PAD} + {more})", size.value);
                own.push(self.integer(&format!("ld{name}"), "int", &value));
                real.push(value);
            }
        }
        (own, real)
    }

    fn memory(&mut self, memory: &str, element: Element, count: &str, seed: usize, shown: &str) {
        let (ty, helper) = (element.c(), element.helper());
        self.setup.push(format!("{ty} *{memory} = some_{helper}({count}, {seed});"));
        self.shown.push(format!("show_{helper}(\"{shown}\", {memory}, {count});"));
    }

    /// A one-dimensional array of whole numbers from 0 to the size in `below` minus 1 (0 if that is empty).
    pub(crate) fn places(&mut self, dim: usize, below: usize) -> Operand {
        self.has(Construct::IndexArrays);
        let (value, limit) = (self.sizes[dim].value.clone(), self.sizes[below].value.clone());
        let name = self.name();
        let memory = format!("{name}_data");
        let seed = self.between(1, 999);
        self.setup.push(format!("int *{memory} = places({value} + {PAD}, {limit}, {seed});"));
        let name = match self.between(0, 2) {
            0 => self.member(&format!("int *{name};"), &name, &memory),
            _ => {
                let constness = self.one(&["const ", ""]);
                self.parameter(2, &name, format!("{constness}int *{name}"), memory.clone());
                name
            }
        };
        Operand {
            element: Element::I32,
            name,
            strides: Vec::new(),
            is_linear: false,
            suffix: String::new(),
            memory: Some(memory),
            parameter: None,
        }
    }
}
