//! Declarations and types.

use super::{Converter, MAX_DEPTH, Meaning, children, named_children, range};
use crate::ast::*;
use crate::attributes::Attribute;
use crate::lexer::ARITHMETIC_WORDS;
use oxeye_ir::ScalarType;
use tree_sitter::Node;

/// Everything before the declarators.
pub(super) struct Specifiers {
    pub(super) ty: Type,
    pub(super) is_static: bool,
    pub(super) is_extern: bool,
    pub(super) is_const: bool,
}

impl Converter<'_> {
    pub(super) fn global_declaration(&mut self, node: Node<'_>) {
        let specifiers = self.specifiers(node);
        for (name, ty, init, range) in self.declarators(node, &specifiers.ty) {
            if ty == Type::Function {
                if matches!(specifiers.ty, Type::Struct(_)) {
                    self.declared_results.insert(name.clone());
                }
                self.bind(&name, Meaning::Other);
                continue;
            }
            let kind = VarKind::Global { is_static: specifiers.is_static };
            let var = self.add_var(&name, ty, kind, range);
            if let Some(init) = init {
                let init = self.expr(init);
                self.file.global_inits.push((var, init));
                self.note_fixed(var, specifiers.is_const);
            }
        }
    }

    /// Records a variable with an initial value that is declared `const` itself, and not what it points to.
    pub(super) fn note_fixed(&mut self, var: VarId, is_const: bool) {
        let mut ty = &self.file.var(var).ty;
        while let Type::Array { of, .. } = ty {
            ty = of;
        }
        let is_plain = match ty {
            Type::Scalar(s) => !s.is_volatile,
            ty => matches!(ty, Type::Struct(_)),
        };
        if is_const && is_plain {
            self.file.fixed.insert(var);
        }
    }

    pub(super) fn type_definition(&mut self, node: Node<'_>) {
        let specifiers = self.specifiers(node);
        // What stands at the structure is of that.
        let of_type = node.child_by_field_name("type").map_or(0..0, |ty| ty.start_byte()..self.behind(ty));
        let is_aligned = node.child_by_field_name("type").is_some_and(|ty| self.is_aligned(ty))
            || self.attributes_in(node.start_byte()..of_type.start).next().is_some()
            || self.attributes_in(of_type.end..node.end_byte()).next().is_some();
        let mut cursor = node.walk();
        let declarators: Vec<_> = node.children_by_field_name("declarator", &mut cursor).collect();
        for declarator in declarators {
            if let Some((Some(name), ty)) = self.declarator(declarator, specifiers.ty.clone()) {
                let ty = spelled(ty, &name);
                if let Type::Struct(id) = ty {
                    self.file.structures[id].spelling.get_or_insert_with(|| name.clone());
                }
                self.file.named.push((name.clone(), range(node)));
                if let Type::Scalar(Scalar { ty, is_bool: false, .. }) = &ty {
                    self.file.typedefs.push((name.clone(), *ty, range(node)));
                }
                if is_aligned {
                    self.aligned_types.insert(name.clone());
                }
                self.bind(&name, Meaning::Type(ty));
            }
        }
    }

    pub(super) fn specifiers(&mut self, node: Node<'_>) -> Specifiers {
        let (mut is_static, mut is_extern, mut is_volatile, mut is_const) = (false, false, false, false);
        let mut is_of_thread = false;
        for child in children(node) {
            match (child.kind(), self.node_text(child)) {
                ("storage_class_specifier", "static") => is_static = true,
                ("storage_class_specifier", "extern") => is_extern = true,
                (_, "__thread" | "_Thread_local" | "thread_local") => is_of_thread = true,
                ("type_qualifier", "volatile" | "_Atomic") => is_volatile = true,
                ("type_qualifier", "const") => is_const = true,
                _ => {}
            }
        }
        let mut ty = match node.child_by_field_name("type") {
            Some(t) => self.type_specifier(t),
            None => Type::Other("nothing".into()),
        };
        if let Type::Struct(id) = ty
            && is_const
        {
            self.file.structures[id].is_const = true;
        }
        if is_volatile {
            make_volatile(&mut ty);
        }
        let end = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
        if self.attributes_in(node.start_byte()..end).any(|what| what == Attribute::Type) {
            ty = Type::Other("a type that an attribute changes".into());
        }
        if is_of_thread {
            ty = Type::Other("a type of which each thread has an object of its own".into());
        }
        Specifiers { ty, is_static, is_extern, is_const }
    }

    /// Where what follows a type begins, behind attributes.
    fn behind(&self, node: Node<'_>) -> usize {
        let rest = self.text.get(node.end_byte()..).unwrap_or("");
        node.end_byte() + rest.len() - rest.trim_start().len()
    }

    /// Whether a type is a name for one that is aligned otherwise than others of its kind.
    fn is_aligned(&self, ty: Node<'_>) -> bool {
        ty.child_by_field_name("body").is_none() && self.aligned_types.contains(self.node_text(ty))
    }

    /// The attributes in a part of the text.
    fn attributes_in(&self, part: std::ops::Range<usize>) -> impl Iterator<Item = Attribute> + '_ {
        let inside = self.attributes.iter().filter(move |(at, _)| part.contains(at));
        inside.map(|(_, what)| *what)
    }

    /// The type of a specifier; brings constants of an `enum` into scope.
    pub(super) fn type_specifier(&mut self, node: Node<'_>) -> Type {
        let text = self.node_text(node);
        match node.kind() {
            "primitive_type" if self.words.cast_at(node.start_byte()).is_some() => {
                // A variable of that name would hide the type.
                match self.words.cast_at(node.start_byte()).and_then(|name| self.lookup(name)) {
                    Some(Meaning::Type(ty)) => ty.clone(),
                    _ => Type::Other("a cast that could not be read".into()),
                }
            }
            "primitive_type" | "type_identifier" | "sized_type_specifier" => self.named_type(text),
            "enum_specifier" if self.words.is_typeof(node.start_byte()) => {
                let constant = node.child_by_field_name("body").and_then(|body| body.named_child(0));
                match constant.and_then(|constant| constant.child_by_field_name("value")) {
                    Some(operand) => self.type_of_operand(operand),
                    None => Type::Other("`typeof`".into()),
                }
            }
            "enum_specifier" => {
                let ty = match node.child_by_field_name("body") {
                    Some(body) => self.enumerators(body),
                    None => ScalarType::U32,
                };
                let name = node.child_by_field_name("name").map(|n| format!("enum {}", self.node_text(n)));
                if let (Some(name), None) = (&name, node.child_by_field_name("body"))
                    && let Some(Meaning::Type(ty)) = self.lookup(name)
                {
                    return ty.clone();
                }
                let ty =
                    Type::Scalar(Scalar { ty, spelling: name.clone(), is_volatile: false, is_bool: false });
                if let Some(name) = name {
                    self.bind(&name, Meaning::Type(ty.clone()));
                }
                ty
            }
            "struct_specifier" => self.structure(node),
            "union_specifier" => Type::Other("a union".into()),
            _ => Type::Other(format!("`{text}`")),
        }
    }

    /// A structure; a new one if its members are given.
    pub(super) fn structure(&mut self, node: Node<'_>) -> Type {
        let spelling = node.child_by_field_name("name").map(|n| format!("struct {}", self.node_text(n)));
        let body = node.child_by_field_name("body");
        let known = spelling.as_ref().and_then(|name| match (body, self.scopes.last()?.get(name)) {
            (Some(_), Some(Meaning::Type(Type::Struct(id)))) => Some(*id),
            (Some(_), _) => None,
            (None, _) => match self.lookup(name)? {
                Meaning::Type(Type::Struct(id)) => Some(*id),
                _ => None,
            },
        });
        let id = match known {
            Some(id) => id,
            None => {
                let is_visible = self.function.is_none();
                let spelling = spelling.clone();
                self.file.structures.push(Structure { spelling, is_visible, ..Structure::default() });
                self.file.structures.len() - 1
            }
        };
        if let Some(name) = &spelling {
            self.bind(name, Meaning::Type(Type::Struct(id)));
        }
        if let Some(body) = body {
            let text = self.node_text(node);
            // Of the structure itself: before its members, or behind the brace.
            let (outside, inside) = (body.start_byte(), body.end_byte());
            let own = self.attributes_in(node.start_byte()..outside);
            let own = own.chain(self.attributes_in(inside..self.behind(node)));
            let mut made = Structure::default();
            let mut is_packed = self.is_packed || text.contains("__packed");
            for what in own {
                match what {
                    Attribute::Aligned(bytes) => made.least_align = made.least_align.max(bytes),
                    Attribute::Layout | Attribute::Type => is_packed = true,
                }
            }
            is_packed |= self.attributes_in(outside..inside).next().is_some();
            made.has = is_packed.then_some("attributes or packing");
            made.fields = self.fields(body, &mut made);
            let structure = &mut self.file.structures[id];
            structure.fields = made.fields;
            structure.bit_fields = made.bit_fields;
            (structure.has, structure.least_align) = (made.has, made.least_align);
        }
        Type::Struct(id)
    }

    /// The named, addressable members of a structure; `None` if one cannot be read. What else is there is noted in `of`.
    fn fields(&mut self, body: Node<'_>, of: &mut Structure) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        for node in named_children(body) {
            if node.kind() != "field_declaration" || node.has_error() {
                return None;
            }
            let specifiers = self.specifiers(node);
            let mut cursor = node.walk();
            let declarators: Vec<_> = node.children_by_field_name("declarator", &mut cursor).collect();
            let is_pointer = |n: &Node<'_>| n.kind() == "pointer_declarator";
            if node.child_by_field_name("type").is_some_and(|ty| self.is_aligned(ty))
                && !declarators.iter().all(is_pointer)
            {
                of.has = Some("attributes or packing");
            }
            if named_children(node).iter().any(|n| n.kind() == "bitfield_clause") {
                of.has = Some("bit-fields");
                let is_bits = |n: &Node<'_>| n.next_sibling().is_some_and(|n| n.kind() == "bitfield_clause");
                of.bit_fields
                    .extend(declarators.into_iter().filter(is_bits).map(|n| self.node_text(n).to_owned()));
                continue;
            }
            if declarators.is_empty() {
                of.has = Some("members without names");
            }
            for declarator in declarators {
                match self.declarator(declarator, specifiers.ty.clone()) {
                    Some((Some(name), ty)) => fields.push(Field { name, ty }),
                    _ => of.has = Some("members that could not be read"),
                }
            }
        }
        Some(fields)
    }

    /// Brings constants into scope and returns their type.
    pub(super) fn enumerators(&mut self, body: Node<'_>) -> ScalarType {
        let mut is_negative = false;
        let mut next = Some(0i64);
        for node in named_children(body) {
            if node.kind() != "enumerator" {
                continue;
            }
            if let Some(value) = node.child_by_field_name("value") {
                next = constant(&self.expr(value));
            }
            if let Some(name) = node.child_by_field_name("name") {
                let name = self.node_text(name);
                self.file.named.push((name.to_owned(), range(body)));
                self.file.enumerators.extend(next.map(|value| (name.to_owned(), value, range(body))));
                self.bind(name, next.map_or(Meaning::Other, Meaning::Constant));
            }
            is_negative |= next.is_none_or(|n| n < 0);
            next = next.and_then(|n| n.checked_add(1));
        }
        if is_negative { ScalarType::I32 } else { ScalarType::U32 }
    }

    /// A type by name: a typedef name or arithmetic type.
    pub(super) fn named_type(&mut self, text: &str) -> Type {
        if let Some(Meaning::Type(ty)) = self.lookup(text) {
            return ty.clone();
        }
        if let Some(parts) = self.words.parts_of(text) {
            return self.complex_type(parts);
        }
        if let Some(scalar) = arithmetic_type(text, self.has_unsigned_char) {
            return Type::Scalar(scalar);
        }
        let mut of = text;
        for _ in 0..16 {
            match self.system_typedefs.get(of) {
                Some(next) => of = next,
                None => break,
            }
            if let Some(scalar) = arithmetic_type(of, self.has_unsigned_char) {
                return spelled(Type::Scalar(scalar), text);
            }
        }
        match text {
            "void" => Type::Void,
            "size_t" | "uintptr_t" => spelled(Type::scalar(oxeye_ir::ScalarType::U64), text),
            "ssize_t" | "ptrdiff_t" | "intptr_t" => spelled(Type::scalar(oxeye_ir::ScalarType::I64), text),
            _ => Type::Other(format!("`{text}`")),
        }
    }

    /// Name, type, initialiser and place of each declarator.
    pub(super) fn declarators<'t>(
        &mut self,
        node: Node<'t>,
        ty: &Type,
    ) -> Vec<(String, Type, Option<Node<'t>>, Range)> {
        let mut cursor = node.walk();
        let declarators: Vec<_> = node.children_by_field_name("declarator", &mut cursor).collect();
        let mut found = Vec::new();
        for declarator in declarators {
            let (inner, init) = if declarator.kind() == "init_declarator" {
                (declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value"))
            } else {
                (Some(declarator), None)
            };
            if let Some((Some(name), ty)) = inner.and_then(|d| self.declarator(d, ty.clone())) {
                found.push((name, ty, init, range(declarator)));
            }
        }
        found
    }

    /// Name and type of a declarator; abstract ones have no name. `None` if it cannot be read.
    pub(super) fn declarator(&mut self, node: Node<'_>, ty: Type) -> Option<(Option<String>, Type)> {
        self.depth += 1;
        let found = if self.depth > MAX_DEPTH { None } else { self.declarator_inside(node, ty) };
        self.depth -= 1;
        found
    }

    pub(super) fn declarator_inside(&mut self, node: Node<'_>, ty: Type) -> Option<(Option<String>, Type)> {
        let has =
            |converter: &Self, word: &str| children(node).iter().any(|n| converter.node_text(*n) == word);
        let inner = node.child_by_field_name("declarator");
        match node.kind() {
            "identifier" | "type_identifier" | "field_identifier" | "primitive_type" => {
                Some((Some(self.node_text(node).to_owned()), ty))
            }
            "pointer_declarator" | "abstract_pointer_declarator" => {
                let is_restrict = has(self, "restrict") || has(self, "__restrict__");
                let ty = if has(self, "volatile") {
                    Type::Other("a volatile pointer".into())
                } else {
                    Type::Pointer { to: Box::new(ty), is_restrict }
                };
                self.declarator_of(inner, ty)
            }
            "array_declarator" | "abstract_array_declarator" => {
                let is_restrict = has(self, "restrict") || has(self, "__restrict__");
                let size = node.child_by_field_name("size").filter(|n| self.node_text(*n) != "*");
                let len = size.map(|n| Box::new(self.expr(n)));
                self.declarator_of(inner, Type::Array { of: Box::new(ty), len, is_restrict })
            }
            "function_declarator" | "abstract_function_declarator" => {
                self.declarator_of(inner, Type::Function)
            }
            "parenthesized_declarator" | "abstract_parenthesized_declarator" | "attributed_declarator" => {
                self.declarator_of(named_children(node).first().copied(), ty)
            }
            _ => None,
        }
    }

    pub(super) fn declarator_of(
        &mut self,
        inner: Option<Node<'_>>,
        ty: Type,
    ) -> Option<(Option<String>, Type)> {
        match inner {
            Some(inner) => self.declarator(inner, ty),
            None => Some((None, ty)),
        }
    }

    /// The type in a cast or `sizeof`.
    pub(super) fn type_descriptor(&mut self, node: Node<'_>) -> Type {
        let specifiers = self.specifiers(node);
        match node.child_by_field_name("declarator") {
            Some(d) => match self.declarator(d, specifiers.ty) {
                Some((_, ty)) => ty,
                None => Type::Other(format!("`{}`", self.node_text(node))),
            },
            None => specifiers.ty,
        }
    }
}

/// The scalar type for words such as `long unsigned int`, where a plain `char` may have no sign.
fn arithmetic_type(text: &str, has_unsigned_char: bool) -> Option<Scalar> {
    use oxeye_ir::ScalarType::*;
    let words: Vec<_> = text.split_whitespace().filter(|w| *w != "const" && *w != "volatile").collect();
    let n = |word: &str| words.iter().filter(|w| **w == word).count();
    let mut is_bool = false;
    let ty = match words.as_slice() {
        ["_Bool"] | ["bool"] => {
            is_bool = true;
            U8
        }
        ["float"] => F32,
        ["double"] => F64,
        _ if words.is_empty() || words.iter().any(|w| !ARITHMETIC_WORDS.contains(w)) => return None,
        _ if n("float") + n("double") > 0 => return None,
        _ => match (n("char"), n("short"), n("long"), n("unsigned")) {
            (1, 0, 0, 0) if has_unsigned_char && n("signed") == 0 => U8,
            (1, 0, 0, 0) => I8,
            (1, 0, 0, 1) => U8,
            (0, 1, 0, 0) => I16,
            (0, 1, 0, 1) => U16,
            (0, 0, 1 | 2, 0) => I64,
            (0, 0, 1 | 2, 1) => U64,
            (0, 0, 0, 0) => I32,
            (0, 0, 0, 1) => U32,
            _ => return None,
        },
    };
    let is_plain_char = n("char") == 1 && n("signed") + n("unsigned") == 0;
    let spelling = match () {
        () if is_bool => Some("_Bool".to_owned()),
        () if is_plain_char => Some("char".to_owned()),
        () if n("long") == 2 => Some(if ty == I64 { "long long" } else { "unsigned long long" }.to_owned()),
        () => None,
    };
    Some(Scalar { ty, spelling, is_volatile: false, is_bool })
}

/// The type of a typedef name; the name is its spelling in the source, but for `_Bool`, which stays told from numbers.
fn spelled(ty: Type, name: &str) -> Type {
    match ty {
        Type::Scalar(s) if s.is_bool => Type::Scalar(s),
        Type::Scalar(s) => Type::Scalar(Scalar { spelling: Some(name.to_owned()), ..s }),
        other => other,
    }
}

fn make_volatile(ty: &mut Type) {
    match ty {
        Type::Scalar(s) => s.is_volatile = true,
        Type::Pointer { to: inner, .. } | Type::Array { of: inner, .. } => make_volatile(inner),
        Type::Struct(_) => *ty = Type::Other("a volatile structure".into()),
        Type::Other(_) if ty.vector_name().is_some() => *ty = Type::Other("a volatile vector".into()),
        _ => {}
    }
}
