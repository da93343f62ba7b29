//! The timed part of a program as one function.
//!
//! The programs in benchmarks/kernels time the statements between `bench_start()` and `bench_stop()` in `main`: calls
//! of functions of the same file, or the loops themselves. [`compose`] writes the file again with one function in the
//! place of `main`: those statements with every call replaced by the body of the function, parameters by arguments, and
//! locals that only name a constant by that constant. Assignments outside loops stand in loops of one iteration, so
//! that they are read like all others.

use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::{Node, Parser, Tree};

/// The name of the composed function.
pub(super) const NAME: &str = "timed_region";

/// A file with the timed statements as one function.
pub(super) struct Composed {
    /// The C text.
    pub(super) text: String,
    /// Names that the statements after the timed ones mention.
    pub(super) live: BTreeSet<String>,
}

/// Composes the timed statements of a C program.
pub(super) fn compose(source: &str) -> Result<Composed> {
    // Marks of regions hold for the functions they stand in.
    let source = &without_names(&source.replace("#pragma scop", "").replace("#pragma endscop", ""));
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into())?;
    let tree = parser.parse(source, None).context("the parser gave up")?;
    let mut composer = Composer { source, functions: functions(&tree, source), n_calls: 0, data: Vec::new() };
    let main = composer.functions.get("main").copied().context("there is no main")?;
    let body = main.child_by_field_name("body").context("main has no body")?;
    let statements = children(body);
    let calls = |s: &Node, name: &str| composer.text(*s).starts_with(name);
    let start =
        statements.iter().position(|s| calls(s, "bench_start(")).context("bench_start is not called")?;
    let stop = statements.iter().position(|s| calls(s, "bench_stop(")).context("bench_stop is not called")?;
    let mut env = composer.constants(body, &BTreeMap::new());
    let mut text = String::new();
    for declaration in statements[..start].iter().filter(|s| s.kind() == "declaration") {
        text += &composer.declared(*declaration, &env);
    }
    // `real(*a)[n] = …` with a typedef looks like a call.
    let mut types = BTreeSet::new();
    visit(tree.root_node(), &mut |n| {
        if n.kind() == "type_definition" {
            types.extend(n.child_by_field_name("declarator").map(|d| composer.text(d)));
        }
    });
    for statement in &statements[..start] {
        let declarator =
            statement.named_child(0).and_then(|e| e.child_by_field_name("left")).map(|l| composer.text(l));
        let is_type = |d: &&str| d.split_once("(*").is_some_and(|(ty, _)| types.contains(ty.trim()));
        if let Some(declarator) = declarator.filter(is_type) {
            text += &format!("{declarator};\n");
        }
    }
    for statement in &statements[start + 1..stop] {
        text += &composer.statement(*statement, &mut env, true)?;
        text.push('\n');
    }
    let mut live = BTreeSet::new();
    for statement in &statements[stop + 1..] {
        if !composer.text(*statement).starts_with("free(") {
            composer.identifiers(*statement, &env, &mut live);
        }
    }
    let before = &source[..main.start_byte()];
    let after = &source[main.end_byte()..];
    let data = composer.data.concat();
    let text = format!("{before}void {NAME}(void)\n{{\n{data}{text}}}\n{after}");
    Ok(Composed { text, live })
}

/// The text with macros that only give something another name replaced by that name.
fn without_names(source: &str) -> String {
    let is_name = |w: &str| {
        w.chars().all(|c| c.is_alphanumeric() || c == '_') && !w.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut names = BTreeMap::new();
    for line in source.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["#define", name, meaning] = words.as_slice()
            && is_name(name)
            && is_name(meaning)
        {
            names.insert(*name, *meaning);
        }
    }
    let mut text = String::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let end =
            if in_word(first) { rest.find(|c| !in_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, tail) = rest.split_at(end);
        let defines = text.trim_end().ends_with("#define") || text.trim_end().ends_with("#ifndef");
        text += names.get(word).filter(|_| !defines).copied().unwrap_or(word);
        rest = tail;
    }
    text
}

/// The meaning of names.
type Env = BTreeMap<String, String>;

struct Composer<'a> {
    source: &'a str,
    functions: BTreeMap<String, Node<'a>>,
    n_calls: usize,
    /// Declarations of numbers that are passed to functions.
    data: Vec<String>,
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    (0..node.named_child_count())
        .filter_map(|k| node.named_child(k as u32))
        .filter(|c| c.kind() != "comment")
        .collect()
}

fn functions<'a>(tree: &'a Tree, source: &str) -> BTreeMap<String, Node<'a>> {
    let definitions = children(tree.root_node()).into_iter().filter(|n| n.kind() == "function_definition");
    definitions
        .filter_map(|n| {
            let name = declared_name(n.child_by_field_name("declarator")?)?;
            Some((source[name.byte_range()].to_owned(), n))
        })
        .collect()
}

/// The identifier that a declarator declares.
fn declared_name(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "identifier" => Some(node),
        "parenthesized_declarator" => children(node).into_iter().find_map(declared_name),
        _ => declared_name(node.child_by_field_name("declarator")?),
    }
}

fn visit<'a>(node: Node<'a>, f: &mut dyn FnMut(Node<'a>)) {
    f(node);
    children(node).into_iter().for_each(|c| visit(c, f));
}

impl<'a> Composer<'a> {
    fn text(&self, node: Node<'_>) -> &'a str {
        &self.source[node.byte_range()]
    }

    fn identifiers(&self, node: Node<'_>, env: &Env, found: &mut BTreeSet<String>) {
        visit(node, &mut |n| {
            if n.kind() == "identifier" {
                let name = self.text(n);
                found.insert(env.get(name).map_or(name, String::as_str).to_owned());
            }
        });
    }

    /// Scalars that are initialised with a constant and never change, with those of `outer`.
    fn constants(&self, body: Node<'_>, outer: &Env) -> Env {
        let mut changed: BTreeSet<&str> = BTreeSet::new();
        let mut declared: BTreeSet<&str> = BTreeSet::new();
        visit(body, &mut |n| match n.kind() {
            "assignment_expression" => {
                changed.extend(n.child_by_field_name("left").map(|l| self.text(l)));
            }
            "update_expression" | "pointer_expression" => {
                changed.extend(n.child_by_field_name("argument").map(|l| self.text(l)));
            }
            "declaration" => declared
                .extend(self.declarators(n).into_iter().filter_map(|d| Some(self.text(declared_name(d)?)))),
            _ => {}
        });
        let mut env = outer.clone();
        declared.iter().for_each(|name| {
            env.remove(*name);
        });
        for declaration in children(body).into_iter().filter(|n| n.kind() == "declaration") {
            let ty = declaration.child_by_field_name("type").map_or("", |t| self.text(t));
            for declarator in self.declarators(declaration) {
                let (Some(name), Some(value)) =
                    (declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value"))
                else {
                    continue;
                };
                if name.kind() != "identifier" || changed.contains(self.text(name)) {
                    continue;
                }
                let mut constant = true;
                visit(value, &mut |n| {
                    constant &= match n.kind() {
                        "identifier" => !declared.contains(self.text(n)) || env.contains_key(self.text(n)),
                        "call_expression"
                        | "subscript_expression"
                        | "pointer_expression"
                        | "string_literal" => false,
                        _ => true,
                    };
                });
                if constant {
                    let value = self.replaced(value, &env);
                    let text = if ty == "int" { format!("({value})") } else { format!("(({ty})({value}))") };
                    env.insert(self.text(name).to_owned(), text);
                }
            }
        }
        env
    }

    fn declarators(&self, declaration: Node<'a>) -> Vec<Node<'a>> {
        let mut cursor = declaration.walk();
        declaration.children_by_field_name("declarator", &mut cursor).collect()
    }

    /// The text of a node with names replaced.
    fn replaced(&self, node: Node<'_>, env: &Env) -> String {
        let mut text = String::new();
        let mut from = node.start_byte();
        visit(node, &mut |n| {
            if n.kind() == "identifier"
                && let Some(with) = env.get(self.text(n))
            {
                text += &self.source[from..n.start_byte()];
                text += with;
                from = n.end_byte();
            }
        });
        text + &self.source[from..node.end_byte()]
    }

    /// A declaration without initial values, and without the names in `env`.
    fn declared(&self, declaration: Node<'a>, env: &Env) -> String {
        let Some(ty) = declaration.child_by_field_name("type") else { return String::new() };
        let mut text = String::new();
        for declarator in self.declarators(declaration) {
            let own = match declarator.kind() {
                "init_declarator" => declarator.child_by_field_name("declarator").unwrap_or(declarator),
                _ => declarator,
            };
            let is_constant =
                own.kind() == "identifier" && env.get(self.text(own)).is_some_and(|v| v.starts_with('('));
            if !is_constant {
                text += &format!("{} {};\n", self.text(ty), self.replaced(own, env));
            }
        }
        text
    }

    /// A statement with names replaced and calls of the file's functions opened.
    fn statement(&mut self, node: Node<'a>, env: &mut Env, is_straight: bool) -> Result<String> {
        match node.kind() {
            "expression_statement" => {
                let Some(e) = children(node).into_iter().next() else { return Ok(String::new()) };
                if e.kind() == "call_expression"
                    && let Some((text, _)) = self.call(e, env)?
                {
                    return Ok(text);
                }
                let text = self.replaced(node, env);
                let target = e.child_by_field_name("left").map(|l| l.kind());
                if is_straight
                    && e.kind() == "assignment_expression"
                    && target == Some("subscript_expression")
                {
                    self.n_calls += 1;
                    let once = format!("once_{}", self.n_calls);
                    return Ok(format!("for (int {once} = 0; {once} < 1; {once}++)\n{text}"));
                }
                Ok(text)
            }
            "declaration" => {
                for declarator in self.declarators(node) {
                    let (Some(name), Some(value)) =
                        (declared_name(declarator), declarator.child_by_field_name("value"))
                    else {
                        continue;
                    };
                    if value.kind() == "call_expression"
                        && let Some((text, Some(result))) = self.call(value, env)?
                    {
                        env.insert(self.text(name).to_owned(), result);
                        return Ok(text);
                    }
                    if env.get(self.text(name)).is_some_and(|v| v.starts_with('(')) {
                        return Ok(self.declared(node, env));
                    }
                }
                Ok(self.replaced(node, env))
            }
            "compound_statement" => {
                let mut text = String::from("{\n");
                for child in children(node) {
                    text += &self.statement(child, env, is_straight)?;
                    text.push('\n');
                }
                Ok(text + "}")
            }
            "for_statement" => {
                let Some(body) = node.child_by_field_name("body") else { bail!("a loop without a body") };
                let header = &self.source[node.start_byte()..body.start_byte()];
                let mut text = String::new();
                let mut from = node.start_byte();
                for part in children(node).into_iter().filter(|c| c.id() != body.id()) {
                    text += &self.source[from..part.start_byte()];
                    text += &self.replaced(part, env);
                    from = part.end_byte();
                }
                text += &self.source[from..node.start_byte() + header.len()];
                Ok(text + &self.statement(body, env, false)?)
            }
            kind if kind.starts_with("preproc") => Ok(format!("{}\n", self.text(node))),
            _ => Ok(self.replaced(node, env)),
        }
    }

    /// The body of a function of the file in the place of a call, and what it returns; `None` for other functions.
    fn call(&mut self, call: Node<'a>, env: &Env) -> Result<Option<(String, Option<String>)>> {
        let name = call.child_by_field_name("function").map_or("", |f| self.text(f));
        let Some(function) = self.functions.get(name).copied() else { return Ok(None) };
        let body = function.child_by_field_name("body").context("a function without a body")?;
        self.n_calls += 1;
        let suffix = self.n_calls;
        let mut own = Env::new();
        let mut parameters = None;
        visit(function, &mut |n| {
            if n.kind() == "parameter_list" && parameters.is_none() {
                parameters = Some(n);
            }
        });
        let parameters = parameters.map(children).unwrap_or_default();
        let arguments = call.child_by_field_name("arguments").map(children).unwrap_or_default();
        for (parameter, argument) in parameters.iter().zip(&arguments) {
            let Some(parameter) = parameter.child_by_field_name("declarator").and_then(declared_name) else {
                continue;
            };
            let text = self.replaced(*argument, env);
            // A floating-point number is data, not part of the computation.
            if argument.kind() == "number_literal" && text.contains('.') {
                own.insert(self.text(parameter).to_owned(), format!("{}_{suffix}", self.text(parameter)));
                self.data.push(format!("double {}_{suffix};\n", self.text(parameter)));
                continue;
            }
            let text = if argument.kind() == "identifier" { text } else { format!("({text})") };
            own.insert(self.text(parameter).to_owned(), text);
        }
        let mut own = self.constants(body, &own);
        visit(body, &mut |n| {
            if n.kind() == "declaration" {
                for declarator in self.declarators(n) {
                    if let Some(name) = declared_name(declarator) {
                        let name = self.text(name);
                        own.entry(name.to_owned()).or_insert_with(|| format!("{name}_{suffix}"));
                    }
                }
            }
        });
        let mut text = String::new();
        let mut result = None;
        for statement in children(body) {
            if statement.kind() == "return_statement" {
                result = children(statement).first().map(|e| self.replaced(*e, &own));
                continue;
            }
            text += &self.statement(statement, &mut own, true)?;
            text.push('\n');
        }
        Ok(Some((text, result)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_opened() {
        let source = "
#define REAL double
static REAL x[10], y[10];
static void scale(int n, REAL factor, REAL *v)
{
    int shift = 1;
    for (int i = 0; i < n; i++)
        v[i] = factor * v[i] + shift;
    v[n - 1] = 0;
}
int main(void)
{
    int n = 10;
    bench_start();
    scale(n, 2.5, x);
    bench_stop();
    checksum(x, n);
    free(y);
    return 0;
}
";
        let composed = compose(source).unwrap();
        let (_, region) = composed.text.split_once("void timed_region").unwrap();
        assert!(region.contains("double factor_1;"), "{region}");
        assert!(region.contains("for (int i_1 = 0; i_1 < (10); i_1++)"), "{region}");
        assert!(region.contains("x[i_1] = factor_1 * x[i_1] + (1);"), "{region}");
        assert!(region.contains("once_2 < 1"), "{region}");
        assert!(composed.live.contains("x") && !composed.live.contains("y"), "{:?}", composed.live);
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(compose("int main(void) { return 0; }").err().unwrap().to_string().contains("bench_start"));
    }
}
