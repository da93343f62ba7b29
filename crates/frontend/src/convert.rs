//! From the parse tree to the [`ast`](crate::ast): scopes, declarations and statements.

use crate::ast::*;
use crate::members::Members;
use crate::preprocess::Preprocessed;
use oxeye_ir::ScalarType;
use std::collections::HashMap;
use tree_sitter::Node;

/// What a name means in a scope.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Var(VarId),
    Type(Type),
    Constant(i64),
    /// A function, or something this reader does not follow.
    Other,
}

/// Nodes nested deeper than this are not read.
pub(crate) const MAX_DEPTH: usize = 220;

/// Builds the tree of a file.
pub(crate) struct Converter<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: File,
    scopes: Vec<HashMap<String, Meaning>>,
    system_typedefs: HashMap<&'a str, &'a str>,
    function: Option<usize>,
    pub(crate) members: Members,
    pub(crate) depth: usize,
    /// Whether members of structures may be packed by a directive.
    is_packed: bool,
}

/// What stands before the declarators.
struct Specifiers {
    ty: Type,
    is_static: bool,
    is_extern: bool,
}

pub(crate) fn range(node: Node<'_>) -> Range {
    Range { start: node.start_byte(), end: node.end_byte() }
}

pub(crate) fn named_children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|n| !n.is_extra()).collect()
}

fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).filter(|n| !n.is_extra()).collect()
}

/// Parses the preprocessed text.
pub(crate) fn parse(preprocessed: &Preprocessed) -> Option<File> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
    let tree = parser.parse(&preprocessed.text, None)?;
    let mut converter = Converter {
        text: &preprocessed.text,
        file: File::default(),
        scopes: vec![HashMap::new()],
        system_typedefs: preprocessed.system_typedefs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect(),
        function: None,
        members: Members::new(),
        depth: 0,
        is_packed: preprocessed.pragmas.iter().any(|(_, pragma)| pragma.starts_with("pack")),
    };
    converter.top_level(tree.root_node());
    Some(converter.file)
}

impl<'a> Converter<'a> {
    pub(crate) fn node_text(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.start_byte()..node.end_byte()).unwrap_or("")
    }

    pub(crate) fn lookup(&self, name: &str) -> Option<&Meaning> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn bind(&mut self, name: &str, meaning: Meaning) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), meaning);
        }
    }

    fn add_var(&mut self, name: &str, ty: Type, kind: VarKind, range: Range) -> VarId {
        if let (VarKind::Global { .. }, Some(Meaning::Var(id))) = (kind, self.scopes[0].get(name)) {
            // Declared again: the more complete type stays.
            let known = &mut self.file.vars[id.0 as usize];
            if let (Type::Array { len: None, .. }, Type::Array { len: Some(_), .. }) = (&known.ty, &ty) {
                known.ty = ty;
            }
            return *id;
        }
        let id = VarId(self.file.vars.len() as u32);
        self.file.vars.push(Variable {
            name: name.to_owned(),
            ty,
            kind,
            range,
            function: self.function,
            member: None,
        });
        self.bind(name, Meaning::Var(id));
        id
    }

    fn top_level(&mut self, root: Node<'_>) {
        for node in children(root) {
            match node.kind() {
                "function_definition" => self.function_definition(node),
                "declaration" if !node.has_error() => self.global_declaration(node),
                "type_definition" if !node.has_error() => self.type_definition(node),
                "linkage_specification" => {
                    for child in node.child_by_field_name("body").into_iter().flat_map(children) {
                        if child.kind() == "function_definition" {
                            self.function_definition(child);
                        }
                    }
                }
                "struct_specifier" | "union_specifier" | "enum_specifier" => {
                    self.type_specifier(node);
                }
                ";" | "comment" | "expression_statement" | "attributed_statement" => {}
                _ if node.has_error() || node.is_error() => {
                    self.file.problems.push(("this could not be read as C".into(), range(node)));
                    self.salvage(node);
                }
                _ => {}
            }
        }
    }

    /// Functions and declarations inside a piece that does not parse as a whole.
    fn salvage(&mut self, node: Node<'_>) {
        for child in children(node) {
            match child.kind() {
                "function_definition" => self.function_definition(child),
                "declaration" if !child.has_error() => self.global_declaration(child),
                "type_definition" if !child.has_error() => self.type_definition(child),
                _ => {}
            }
        }
    }

    fn global_declaration(&mut self, node: Node<'_>) {
        let specifiers = self.specifiers(node);
        for (name, ty, init, range) in self.declarators(node, &specifiers.ty) {
            if ty == Type::Function {
                self.bind(&name, Meaning::Other);
                continue;
            }
            let kind = VarKind::Global { is_static: specifiers.is_static };
            let var = self.add_var(&name, ty, kind, range);
            if let Some(init) = init {
                let init = self.expr(init);
                self.file.global_inits.push((var, init));
            }
        }
    }

    fn type_definition(&mut self, node: Node<'_>) {
        let specifiers = self.specifiers(node);
        let mut cursor = node.walk();
        let declarators: Vec<_> = node.children_by_field_name("declarator", &mut cursor).collect();
        for declarator in declarators {
            if let Some((Some(name), ty)) = self.declarator(declarator, specifiers.ty.clone()) {
                let ty = spelled(ty, &name);
                if let Type::Struct(id) = ty {
                    self.file.structures[id].spelling.get_or_insert_with(|| name.clone());
                }
                self.file.named.push((name.clone(), range(node)));
                self.bind(&name, Meaning::Type(ty));
            }
        }
    }

    fn specifiers(&mut self, node: Node<'_>) -> Specifiers {
        let (mut is_static, mut is_extern, mut is_volatile) = (false, false, false);
        for child in children(node) {
            match (child.kind(), self.node_text(child)) {
                ("storage_class_specifier", "static") => is_static = true,
                ("storage_class_specifier", "extern") => is_extern = true,
                ("type_qualifier", "volatile" | "_Atomic") => is_volatile = true,
                _ => {}
            }
        }
        let mut ty = match node.child_by_field_name("type") {
            Some(t) => self.type_specifier(t),
            None => Type::Other("nothing".into()),
        };
        if is_volatile {
            make_volatile(&mut ty);
        }
        Specifiers { ty, is_static, is_extern }
    }

    /// The type of a specifier; constants of an `enum` come into scope.
    fn type_specifier(&mut self, node: Node<'_>) -> Type {
        let text = self.node_text(node);
        match node.kind() {
            "primitive_type" | "type_identifier" | "sized_type_specifier" => self.named_type(text),
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

    /// A structure, which is a new one where its members are given.
    fn structure(&mut self, node: Node<'_>) -> Type {
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
                self.file.structures.push(Structure { spelling, is_visible, fields: None, is_plain: true });
                self.file.structures.len() - 1
            }
        };
        if let Some(name) = &spelling {
            self.bind(name, Meaning::Type(Type::Struct(id)));
        }
        if let Some(body) = body {
            let text = self.node_text(node);
            let mut is_plain = !self.is_packed
                && !["__attribute__", "_Alignas", "__packed"].iter().any(|w| text.contains(w));
            let fields = self.fields(body, &mut is_plain);
            let structure = &mut self.file.structures[id];
            (structure.fields, structure.is_plain) = (fields, is_plain);
        }
        Type::Struct(id)
    }

    /// The members of a structure that have names and addresses; `None` if one cannot be read.
    fn fields(&mut self, body: Node<'_>, is_plain: &mut bool) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        for node in named_children(body) {
            if node.kind() != "field_declaration" || node.has_error() {
                return None;
            }
            let specifiers = self.specifiers(node);
            if named_children(node).iter().any(|n| n.kind() == "bitfield_clause") {
                *is_plain = false;
                continue;
            }
            let mut cursor = node.walk();
            let declarators: Vec<_> = node.children_by_field_name("declarator", &mut cursor).collect();
            // Members of members without a name.
            *is_plain &= !declarators.is_empty();
            for declarator in declarators {
                match self.declarator(declarator, specifiers.ty.clone()) {
                    Some((Some(name), ty)) => fields.push(Field { name, ty }),
                    _ => *is_plain = false,
                }
            }
        }
        Some(fields)
    }

    /// Brings constants into scope; their type.
    fn enumerators(&mut self, body: Node<'_>) -> ScalarType {
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
                self.bind(name, next.map_or(Meaning::Other, Meaning::Constant));
            }
            is_negative |= next.is_none_or(|n| n < 0);
            next = next.and_then(|n| n.checked_add(1));
        }
        if is_negative { ScalarType::I32 } else { ScalarType::U32 }
    }

    /// A type by its words: a typedef name or arithmetic type.
    pub(crate) fn named_type(&self, text: &str) -> Type {
        if let Some(Meaning::Type(ty)) = self.lookup(text) {
            return ty.clone();
        }
        if let Some(scalar) = arithmetic_type(text) {
            return Type::Scalar(scalar);
        }
        let mut of = text;
        for _ in 0..16 {
            match self.system_typedefs.get(of) {
                Some(next) => of = next,
                None => break,
            }
            if let Some(scalar) = arithmetic_type(of) {
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

    /// Name, type, initialiser and place of each declared thing.
    fn declarators<'t>(&mut self, node: Node<'t>, ty: &Type) -> Vec<(String, Type, Option<Node<'t>>, Range)> {
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
    fn declarator(&mut self, node: Node<'_>, ty: Type) -> Option<(Option<String>, Type)> {
        self.depth += 1;
        let found = if self.depth > MAX_DEPTH { None } else { self.declarator_inside(node, ty) };
        self.depth -= 1;
        found
    }

    fn declarator_inside(&mut self, node: Node<'_>, ty: Type) -> Option<(Option<String>, Type)> {
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

    fn declarator_of(&mut self, inner: Option<Node<'_>>, ty: Type) -> Option<(Option<String>, Type)> {
        match inner {
            Some(inner) => self.declarator(inner, ty),
            None => Some((None, ty)),
        }
    }

    /// The type in a cast or `sizeof`.
    pub(crate) fn type_descriptor(&mut self, node: Node<'_>) -> Type {
        let specifiers = self.specifiers(node);
        match node.child_by_field_name("declarator") {
            Some(d) => match self.declarator(d, specifiers.ty) {
                Some((_, ty)) => ty,
                None => Type::Other(format!("`{}`", self.node_text(node))),
            },
            None => specifiers.ty,
        }
    }

    fn function_definition(&mut self, node: Node<'_>) {
        let specifiers = self.specifiers(node);
        let Some(declarator) = node.child_by_field_name("declarator") else { return };
        let mut returns = specifiers.ty;
        let mut at = declarator;
        while at.kind() != "function_declarator" {
            if at.kind() == "pointer_declarator" {
                returns = Type::Pointer { to: Box::new(returns), is_restrict: false };
            }
            let next = at.child_by_field_name("declarator").or_else(|| named_children(at).first().copied());
            let Some(next) = next else { return };
            at = next;
        }
        let Some(name) = at.child_by_field_name("declarator") else { return };
        if name.kind() != "identifier" {
            return;
        }
        let name = self.node_text(name).to_owned();
        self.scopes[0].insert(name.clone(), Meaning::Other);
        let problem = if node.has_error() {
            first_error(node).map(|e| ("this could not be read as C".to_owned(), range(e)))
        } else {
            None
        };
        let function = self.file.functions.len();
        self.function = Some(function);
        self.file.functions.push(Function {
            name,
            is_static: specifiers.is_static,
            returns,
            params: Vec::new(),
            body: Stmt { kind: StmtKind::Empty, range: Range::default() },
            range: range(node),
            problem: problem.clone(),
        });
        self.scopes.push(HashMap::new());
        if problem.is_none() {
            if is_old_style(at) {
                self.old_params(node, at, function);
            } else {
                self.params(at, function);
            }
            if let Some(body) = node.child_by_field_name("body") {
                // Parameters and the outermost block share a scope.
                let statements = self.block_items(body);
                let body = Stmt { kind: StmtKind::Block(statements), range: range(body) };
                self.file.functions[function].body = body;
            }
        }
        self.scopes.pop();
        self.function = None;
    }

    /// Parameters in the old style: `f(n, x) int n; double *x;`. Those without a declaration are `int`.
    fn old_params(&mut self, definition: Node<'_>, declarator: Node<'_>, function: usize) {
        let mut declared: HashMap<String, (Type, Range)> = HashMap::new();
        for node in children(definition).into_iter().filter(|n| n.kind() == "declaration") {
            let specifiers = self.specifiers(node);
            for (name, ty, _, range) in self.declarators(node, &specifiers.ty) {
                declared.insert(name, (ty, range));
            }
        }
        let Some(list) = declarator.child_by_field_name("parameters") else { return };
        for (position, node) in named_children(list).into_iter().enumerate() {
            let name = self.node_text(node);
            let int = || (Type::scalar(oxeye_ir::ScalarType::I32), range(node));
            let (ty, range) = declared.remove(name).unwrap_or_else(int);
            let var = self.add_var(name, ty, VarKind::Param(position), range);
            self.file.functions[function].params.push(var);
        }
    }

    fn params(&mut self, declarator: Node<'_>, function: usize) {
        let Some(list) = declarator.child_by_field_name("parameters") else { return };
        let nodes: Vec<_> =
            named_children(list).into_iter().filter(|n| n.kind() == "parameter_declaration").collect();
        for (position, node) in nodes.into_iter().enumerate() {
            let specifiers = self.specifiers(node);
            let named = match node.child_by_field_name("declarator") {
                Some(d) => self.declarator(d, specifiers.ty),
                None => Some((None, specifiers.ty)),
            };
            let (name, ty) = named.unwrap_or((None, Type::Other("an unreadable type".into())));
            if ty == Type::Void && name.is_none() {
                continue;
            }
            let var = self.add_var(&name.unwrap_or_default(), ty, VarKind::Param(position), range(node));
            self.file.functions[function].params.push(var);
        }
    }

    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = inside(self);
        self.scopes.pop();
        result
    }

    fn block_items(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let mut items = Vec::new();
        for child in named_children(node) {
            if let Some(stmt) = self.stmt(child) {
                items.push(stmt);
            }
        }
        items
    }

    /// A statement or declaration; `None` if it says nothing.
    fn stmt(&mut self, node: Node<'_>) -> Option<Stmt> {
        self.depth += 1;
        let kind = if self.depth > MAX_DEPTH {
            Some(StmtKind::Unknown("deeply nested code".into(), Vec::new()))
        } else {
            self.stmt_kind(node)
        };
        self.depth -= 1;
        Some(Stmt { kind: kind?, range: range(node) })
    }

    fn boxed_stmt(&mut self, node: Option<Node<'_>>, around: Node<'_>) -> Box<Stmt> {
        let empty = Stmt { kind: StmtKind::Empty, range: range(around) };
        Box::new(node.and_then(|n| self.scoped(|c| c.stmt(n))).unwrap_or(empty))
    }

    fn condition(&mut self, node: Node<'_>) -> Expr {
        match node.child_by_field_name("condition") {
            Some(c) => self.expr(c),
            None => {
                Expr { kind: ExprKind::Unknown("a missing condition".into(), Vec::new()), range: range(node) }
            }
        }
    }

    fn stmt_kind(&mut self, node: Node<'_>) -> Option<StmtKind> {
        let body = node.child_by_field_name("body");
        Some(match node.kind() {
            "compound_statement" => StmtKind::Block(self.scoped(|c| c.block_items(node))),
            "expression_statement" => match named_children(node).first() {
                Some(e) => match self.disguised_declaration(*e) {
                    Some(declaration) => declaration,
                    None => StmtKind::Expr(self.expr(*e)),
                },
                None => StmtKind::Empty,
            },
            "declaration" => self.local_declaration(node),
            "type_definition" => {
                self.type_definition(node);
                return None;
            }
            "if_statement" => {
                let condition = self.condition(node);
                let then = self.boxed_stmt(node.child_by_field_name("consequence"), node);
                let alternative = node.child_by_field_name("alternative");
                let otherwise = alternative
                    .and_then(|clause| named_children(clause).last().copied())
                    .map(|n| self.boxed_stmt(Some(n), node));
                StmtKind::If { condition, then, otherwise }
            }
            "for_statement" => self.scoped(|c| c.for_statement(node)),
            "while_statement" => {
                let condition = self.condition(node);
                StmtKind::While { condition, body: self.boxed_stmt(body, node) }
            }
            "do_statement" => {
                let body = self.boxed_stmt(body, node);
                let condition = self.condition(node);
                // As macros have it.
                if constant(&condition) == Some(0) && !leaves_early(&body) {
                    return Some(StmtKind::Block(vec![*body]));
                }
                StmtKind::DoWhile { body, condition }
            }
            "break_statement" => StmtKind::Break,
            "continue_statement" => StmtKind::Continue,
            "return_statement" => StmtKind::Return(named_children(node).first().map(|e| self.expr(*e))),
            "goto_statement" => StmtKind::Goto,
            "labeled_statement" => {
                let inner = named_children(node).last().copied();
                StmtKind::Label(self.boxed_stmt(inner, node))
            }
            "switch_statement" => {
                let body = body.map(|b| self.scoped(|c| c.block_items(b))).unwrap_or_default();
                let condition = self.condition(node);
                let condition = Stmt { range: condition.range, kind: StmtKind::Expr(condition) };
                StmtKind::Unknown("`switch`".into(), std::iter::once(condition).chain(body).collect())
            }
            "case_statement" => {
                let inner = named_children(node).into_iter().filter(|n| is_statement(n.kind()));
                let inner: Vec<_> = inner.collect();
                let body = inner.into_iter().filter_map(|n| self.stmt(n)).collect();
                StmtKind::Unknown("`case`".into(), body)
            }
            "attributed_statement" => {
                let inner = named_children(node).last().copied()?;
                return self.stmt(inner).map(|s| s.kind);
            }
            "struct_specifier" | "union_specifier" | "enum_specifier" => {
                self.type_specifier(node);
                return None;
            }
            ";" => return None,
            "function_definition" => StmtKind::Unknown("a nested function".into(), Vec::new()),
            _ => StmtKind::Unknown("a statement of unknown kind".into(), Vec::new()),
        })
    }

    /// `real (*A)[m] = ...`, which reads as a call of `real` to a parser that knows no declarations.
    fn disguised_declaration(&mut self, node: Node<'_>) -> Option<StmtKind> {
        let mut parts = Vec::new();
        let mut at = node;
        while at.kind() == "comma_expression" {
            parts.push(at.child_by_field_name("left")?);
            at = at.child_by_field_name("right")?;
        }
        parts.push(at);
        let mut base = None;
        let mut found = Vec::new();
        for part in parts {
            let (mut target, value) = if part.kind() == "assignment_expression" {
                (part.child_by_field_name("left")?, part.child_by_field_name("right"))
            } else {
                (part, None)
            };
            let mut sizes = Vec::new();
            while target.kind() == "subscript_expression" {
                sizes.push(target.child_by_field_name("index")?);
                target = target.child_by_field_name("argument")?;
            }
            let pointer = if base.is_none() {
                let name =
                    target.child_by_field_name("function").filter(|_| target.kind() == "call_expression")?;
                let name = self.node_text(name);
                if !matches!(self.lookup(name), Some(Meaning::Type(_)) | None) {
                    return None;
                }
                base = Some(self.named_type(name)).filter(|ty| !matches!(ty, Type::Other(_)));
                base.as_ref()?;
                let args = named_children(target.child_by_field_name("arguments")?);
                let [pointer] = args.as_slice() else { return None };
                *pointer
            } else {
                *named_children(target).first().filter(|_| target.kind() == "parenthesized_expression")?
            };
            let is_pointer =
                pointer.kind() == "pointer_expression" && self.node_text(pointer).starts_with('*');
            let name =
                pointer.child_by_field_name("argument").filter(|n| is_pointer && n.kind() == "identifier")?;
            found.push((part, name, sizes, value));
        }
        let base = base?;
        let mut declared = Vec::new();
        for (part, name, sizes, value) in found {
            let mut ty = base.clone();
            for size in sizes {
                ty = Type::Array {
                    of: Box::new(ty),
                    len: Some(Box::new(self.expr(size))),
                    is_restrict: false,
                };
            }
            let ty = Type::Pointer { to: Box::new(ty), is_restrict: false };
            let name = self.node_text(name);
            let var = self.add_var(name, ty, VarKind::Local { is_static: false }, range(part));
            declared.push(Declared { var, init: value.map(|v| self.expr(v)) });
        }
        Some(StmtKind::Declare(declared))
    }

    fn local_declaration(&mut self, node: Node<'_>) -> StmtKind {
        let specifiers = self.specifiers(node);
        let mut declared = Vec::new();
        for (name, ty, init, range) in self.declarators(node, &specifiers.ty) {
            if ty == Type::Function {
                self.bind(&name, Meaning::Other);
                continue;
            }
            if specifiers.is_extern {
                // A file-scope variable in disguise, which this reader does not follow.
                self.bind(&name, Meaning::Other);
                continue;
            }
            let kind = VarKind::Local { is_static: specifiers.is_static };
            let var = self.add_var(&name, ty, kind, range);
            let init = init.map(|n| self.expr(n));
            declared.push(Declared { var, init });
        }
        StmtKind::Declare(declared)
    }

    fn for_statement(&mut self, node: Node<'_>) -> StmtKind {
        let init = node.child_by_field_name("initializer").and_then(|n| {
            if n.kind() == "declaration" {
                return self.stmt(n);
            }
            let e = self.expr(n);
            Some(Stmt { range: e.range, kind: StmtKind::Expr(e) })
        });
        let condition = node.child_by_field_name("condition").map(|n| self.expr(n));
        let step = node.child_by_field_name("update").map(|n| self.expr(n));
        let body = *self.boxed_stmt(node.child_by_field_name("body"), node);
        let mut parts = For { init, condition, step, body };
        self.count_down(&mut parts);
        StmtKind::For(Box::new(parts))
    }
}

impl Converter<'_> {
    /// `for (i = n; i-- > 0;)` as `for (i = n - 1; i >= 0; i--)`, which leaves the same value as well.
    fn count_down(&self, f: &mut For) {
        let (None, Some(condition)) = (&f.step, &f.condition) else { return };
        let stepped = match &condition.kind {
            ExprKind::Binary(oxeye_ir::BinaryOp::Gt, l, r) if constant(r) == Some(0) => l,
            _ => return,
        };
        let ExprKind::Step { target, by: -1 } = &stepped.kind else { return };
        // Only behind the variable: `i-- > 0` looks at it before it steps.
        let is_behind = stepped.range.start == target.range.start;
        let Some(var) = target.as_var().filter(|_| is_behind) else { return };
        let is_signed = self.file.var(var).ty.as_scalar().is_some_and(|s| {
            matches!(s.ty, oxeye_ir::ScalarType::I32 | oxeye_ir::ScalarType::I64) && !s.is_volatile
        });
        let first = match f.init.as_mut().map(|s| &mut s.kind) {
            Some(StmtKind::Declare(declared)) => match declared.as_mut_slice() {
                [Declared { var: v, init: Some(first) }] if *v == var => first,
                _ => return,
            },
            Some(StmtKind::Expr(Expr { kind: ExprKind::Assign(None, set, first), .. }))
                if set.as_var() == Some(var) =>
            {
                &mut **first
            }
            _ => return,
        };
        if !is_signed || first.mentions(var) {
            return;
        }
        let range = condition.range;
        let at = |kind| Expr { kind, range };
        let int = |n| Box::new(at(ExprKind::Int(n, oxeye_ir::ScalarType::I32)));
        let before = first.clone();
        *first = Expr {
            range: before.range,
            kind: ExprKind::Binary(oxeye_ir::BinaryOp::Sub, Box::new(before), int(1)),
        };
        let counter = Box::new((**target).clone());
        let step = at(ExprKind::Step { target: counter.clone(), by: -1 });
        f.condition = Some(at(ExprKind::Binary(oxeye_ir::BinaryOp::Ge, counter, int(0))));
        f.step = Some(step);
    }
}

/// Whether a `break` or `continue` in a statement means a loop around it.
fn leaves_early(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Break | StmtKind::Continue => true,
        StmtKind::For(_) | StmtKind::While { .. } | StmtKind::DoWhile { .. } => false,
        _ => s.children().into_iter().any(leaves_early),
    }
}

fn is_statement(kind: &str) -> bool {
    kind.ends_with("_statement") || kind == "declaration"
}

/// Whether parameters are names without types.
fn is_old_style(declarator: Node<'_>) -> bool {
    let list = declarator.child_by_field_name("parameters");
    list.is_some_and(|l| named_children(l).iter().any(|n| n.kind() == "identifier"))
}

/// The first piece that is wrong or missing.
fn first_error(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node;
    loop {
        let next = children(at).into_iter().find(|n| n.is_error() || n.is_missing() || n.has_error());
        match next {
            Some(n) if n.is_error() || n.is_missing() => return Some(n),
            Some(n) => at = n,
            None => return Some(at),
        }
    }
}

/// The scalar type behind words such as `long unsigned int`.
fn arithmetic_type(text: &str) -> Option<Scalar> {
    use oxeye_ir::ScalarType::*;
    let words: Vec<_> = text.split_whitespace().filter(|w| *w != "const" && *w != "volatile").collect();
    let n = |word: &str| words.iter().filter(|w| **w == word).count();
    const KNOWN: &[&str] = &["signed", "unsigned", "long", "short", "char", "int", "float", "double"];
    let mut is_bool = false;
    let ty = match words.as_slice() {
        ["_Bool"] | ["bool"] => {
            is_bool = true;
            U8
        }
        ["float"] => F32,
        ["double"] => F64,
        _ if words.is_empty() || words.iter().any(|w| !KNOWN.contains(w)) => return None,
        _ if n("float") + n("double") > 0 => return None,
        _ => match (n("char"), n("short"), n("long"), n("unsigned")) {
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

/// The type under a typedef name; the name is how the source spells it.
fn spelled(ty: Type, name: &str) -> Type {
    match ty {
        Type::Scalar(s) => Type::Scalar(Scalar { spelling: Some(name.to_owned()), ..s }),
        other => other,
    }
}

fn make_volatile(ty: &mut Type) {
    match ty {
        Type::Scalar(s) => s.is_volatile = true,
        Type::Pointer { to: inner, .. } | Type::Array { of: inner, .. } => make_volatile(inner),
        Type::Struct(_) => *ty = Type::Other("a volatile structure".into()),
        _ => {}
    }
}

/// The value of an integer constant expression.
pub(crate) fn constant(e: &Expr) -> Option<i64> {
    use oxeye_ir::BinaryOp::*;
    match &e.kind {
        ExprKind::Int(value, _) => Some(*value),
        ExprKind::Promote(e) | ExprKind::Cast(Type::Scalar(_), e) => constant(e),
        ExprKind::Unary(oxeye_ir::UnaryOp::Neg, e) => constant(e)?.checked_neg(),
        ExprKind::Binary(op, l, r) => {
            let (l, r) = (constant(l)?, constant(r)?);
            match op {
                Add => l.checked_add(r),
                Sub => l.checked_sub(r),
                Mul => l.checked_mul(r),
                Div => l.checked_div(r),
                Rem => l.checked_rem(r),
                Shl => u32::try_from(r).ok().and_then(|r| l.checked_shl(r)),
                _ => None,
            }
        }
        _ => None,
    }
}
