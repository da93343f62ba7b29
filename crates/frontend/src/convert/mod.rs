//! From the preprocessed text to the [`ast`](crate::ast): parsing, names and scopes here, the rest in modules by
//! construct.

mod blocks;
mod body_parts;
mod complex;
mod counts;
mod declarations;
mod endless;
mod evolved;
mod expressions;
mod functions;
mod headers;
mod jumps;
mod lanes;
mod long_doubles;
mod statements;
mod steps;
mod structures;
mod switches;
mod typeof_types;

use crate::ast::*;
use crate::attributes::Attribute;
use crate::callees;
use crate::constants;
use crate::elements;
use crate::handles::connect;
use crate::preprocess::Preprocessed;
use crate::readable::{Readable, name_of};
use std::collections::{HashMap, HashSet};
use tree_sitter::Node;

pub(crate) use lanes::is_over_lanes;
pub(crate) use steps::apart;

/// What a name means in a scope.
#[derive(Clone, Debug)]
enum Meaning {
    Var(VarId),
    Type(Type),
    Constant(i64),
    /// A function, or something the reader does not follow.
    Other,
}

/// Greatest depth of nodes that are read.
const MAX_DEPTH: usize = 220;

/// Builds the tree of a file.
struct Converter<'a> {
    text: &'a str,
    file: File,
    scopes: Vec<HashMap<String, Meaning>>,
    system_typedefs: HashMap<&'a str, &'a str>,
    function: Option<usize>,
    depth: usize,
    /// Whether members of structures may be packed by a directive.
    is_packed: bool,
    /// Attributes that were blanked, in the order of the text.
    attributes: Vec<(usize, Attribute)>,
    /// Names of types that are aligned otherwise than others of their kind.
    aligned_types: HashSet<String>,
    /// What stands for words of complex numbers in the text.
    words: &'a Readable,
    /// Whether a plain `char` has no sign.
    has_unsigned_char: bool,
    /// Whether the compiler multiplies complex numbers by the plain formula.
    has_plain_products: bool,
    /// Functions that store the structure or complex number that they return through one more parameter, and its type.
    with_results: HashMap<String, usize>,
    /// Functions of which a declaration says that they return a structure.
    declared_results: HashSet<String>,
    /// Statements to run before the current one; `None` where that is not the same.
    before: Option<Vec<Stmt>>,
}

fn range(node: Node<'_>) -> Range {
    Range { start: node.start_byte(), end: node.end_byte() }
}

fn named_children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
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
    let words = Readable::of(&preprocessed.text);
    let tree = parser.parse(&words.text, None)?;
    let mut converter = Converter {
        text: &words.text,
        file: File::default(),
        scopes: vec![HashMap::new()],
        system_typedefs: preprocessed.system_typedefs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect(),
        function: None,
        depth: 0,
        is_packed: preprocessed.pragmas.iter().any(|(_, pragma)| pragma.starts_with("pack")),
        attributes: preprocessed.attributes.clone(),
        aligned_types: HashSet::new(),
        words: &words,
        has_unsigned_char: preprocessed.predefined("__CHAR_UNSIGNED__").is_some(),
        has_plain_products: preprocessed.has_plain_products(),
        with_results: HashMap::new(),
        declared_results: HashSet::new(),
        before: None,
    };
    converter.attributes.sort_by_key(|(at, _)| *at);
    converter.top_level(tree.root_node());
    let mut file = converter.file;
    steps::settle(&mut file);
    lanes::settle(&mut file);
    jumps::settle(&mut file);
    evolved::settle(&mut file);
    connect(&mut file);
    elements::find(&mut file);
    constants::find(&mut file);
    callees::find(&mut file, &preprocessed.text);
    Some(file)
}

impl<'a> Converter<'a> {
    fn node_text(&self, node: Node<'_>) -> &'a str {
        let text = self.text.get(node.start_byte()..node.end_byte()).unwrap_or("");
        name_of(text).unwrap_or(text)
    }

    fn lookup(&self, name: &str) -> Option<&Meaning> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn bind(&mut self, name: &str, meaning: Meaning) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), meaning);
        }
    }

    fn add_var(&mut self, name: &str, ty: Type, kind: VarKind, range: Range) -> VarId {
        if let (VarKind::Global { .. }, Some(Meaning::Var(id))) = (kind, self.scopes[0].get(name)) {
            // Declared again: keeps the more complete type.
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
        let is_function = |node: &Node<'_>| node.kind() == "function_definition";
        let defined: HashSet<String> =
            children(root).into_iter().filter(is_function).filter_map(|n| self.name_of_function(n)).collect();
        // Functions wait for those that return the structures which they use, if these were only declared so far.
        let (mut done, mut waiting) = (HashSet::new(), Vec::new());
        for node in children(root) {
            match node.kind() {
                "function_definition" => {
                    let own = self.name_of_function(node).unwrap_or_default();
                    let is_awaited = self.declared_results.contains(&own);
                    done.insert(own);
                    let is_missing = |name: &String| defined.contains(name) && !done.contains(name);
                    if !is_awaited && self.declared_results.iter().any(is_missing) {
                        waiting.push(node);
                        continue;
                    }
                    if is_awaited {
                        self.function_definition(node);
                    }
                    if !self.declared_results.iter().any(is_missing) {
                        waiting.drain(..).for_each(|node| self.function_definition(node));
                    }
                    if !is_awaited {
                        self.function_definition(node);
                    }
                }
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
        waiting.into_iter().for_each(|node| self.function_definition(node));
    }

    /// Functions and declarations inside a part that does not parse as a whole.
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
}
