//! Nests as C blocks.

mod behind;
mod fallback;
mod lanes;
mod lines;
mod open_loop;

use crate::CodegenError;
use crate::context::{Checks, Context};
use crate::expand::{Expander, Item, Places, collect_loops, places};
use crate::leaving::{jumps, left_early};
use crate::memory::{Memory, stack};
use crate::open_orders::OpenOrders;
use crate::options::RenderOptions;
use crate::own_branch::{OwnBranch, calls};
use crate::print::element_type;
use crate::reduction::ReductionText;
use crate::registers::{needs_memory, promote, writes};
use crate::team::{Sharing, is_divided, refused};
use crate::watch::Watch;
use crate::widen::widen;
use lines::{Line, declarations_first, insert_used, unwrap_block};
use oxeye_binding::Binding;
use oxeye_ir::{ArrayId, Execution, Expr, Loop, MathFn, Nest, Node, Program, Stmt, Update, WorkSharing};
use std::collections::BTreeSet;

/// A nest as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// A C block.
    pub text: String,
    /// Whether it has directives of OpenMP, other than those in the user's own text where that stands as the other branch.
    pub openmp: bool,
}

/// Renders a nest as a C block `{ … }` that can replace the original statement. It may use the definitions of
/// [`crate::prelude`].
///
/// # Errors
/// Why the nest has no rendering.
pub fn render(
    program: &Program,
    binding: &Binding,
    nest: &Nest,
    options: &RenderOptions,
) -> Result<Rendered, CodegenError> {
    render_with(program, binding, nest, options, None)
}

/// The text of [`render`].
///
/// # Errors
/// As [`render`].
pub fn render_nest(
    program: &Program,
    binding: &Binding,
    nest: &Nest,
    options: &RenderOptions,
) -> Result<String, CodegenError> {
    Ok(render(program, binding, nest, options)?.text)
}

/// The same, for a nest that tells of its accesses if there is a `watch`.
pub(crate) fn render_with(
    program: &Program,
    binding: &Binding,
    nest: &Nest,
    options: &RenderOptions,
    watch: Option<Watch>,
) -> Result<Rendered, CodegenError> {
    check(program, nest)?;
    let original_nest = program.nests.get(&nest.id).unwrap_or(nest);
    let mut widened = nest.clone();
    let own_branch = OwnBranch::take(original_nest, &mut widened);
    let long = widen(program, original_nest, &mut widened);
    let nest = &widened;
    let mut places = places(program, nest);
    let open = OpenOrders { all: options.reassociate, into: original_nest.unordered.clone() };
    let expander = Expander { program, binding, places: &places, open: &open };
    let (roots_before, roots) = nest.roots.split_at(own_branch.as_ref().map_or(0, |own| own.n_before));
    let mut items = expander.nodes(roots_before);
    let n_before = items.len();
    items.extend(expander.nodes(roots));
    let jumps = jumps(&items, &mut places);
    let mut cx = Context::new(program, binding, &nest.arrays().into_iter().collect(), &options.reserved);
    cx.declares_first = options.declarations_first;
    cx.open = open;
    cx.long = long;
    cx.watch = watch;
    cx.math.has_copysign = calls(original_nest, MathFn::Copysign);
    cx.apart = binding.rows_apart(original_nest.id).collect();
    cx.checks = options.checks.as_deref().map(Checks::new);
    let has_threads = options.threads > 1 && binding.team(nest.id).is_none() && is_shared(nest);
    let before = cx.enter_views(&[original_nest, nest], options.original.as_deref(), has_threads);
    promote(&mut cx, &items, &places);
    if let Some(team) = binding.team(nest.id) {
        cx.in_team = true;
        if options.threads < 2 {
            return refused("only one thread was asked for");
        }
        let moves = !original_nest.rotations.is_empty() || !binding.advances(nest.id).is_empty();
        if moves || !before.after.is_empty() {
            return refused("every thread would set a variable after it");
        }
        cx.shared = Sharing::plan(&cx, &items, &mut places, team, nest)?.shared;
        let shared = cx.shared.clone();
        cx.registers.retain(|id, _| !shared.contains(id));
    }
    let memory = Memory::plan(&mut cx, nest.id, (&items, &places), options)?;
    cx.shared.retain(|id| !memory.heap.contains_key(id));
    let test = cx.alias_test(original_nest, nest)?;
    let mut r = Renderer {
        cx,
        options,
        places: &places,
        memory: &memory,
        out: Vec::new(),
        depth: 1,
        in_parallel: false,
        in_simd: false,
        openmp: false,
        threads_if: String::new(),
        jumps,
    };
    if r.cx.in_team {
        // The first threads wait until the others have finished what comes before.
        r.directive("#pragma omp barrier");
    }
    r.declare(before.lines);
    let used_from = r.out.len();
    let mut conditions = before.conditions;
    conditions.extend(r.cx.value_conditions(&options.known));
    let n_others = conditions.len();
    if let Some(least) = options.guard.least {
        conditions.push(r.cx.is_large(original_nest, least)?);
    }
    conditions.extend(r.cx.are_long(original_nest, &options.guard)?);
    if let Some(least) = options.guard.threads.filter(|_| !r.cx.in_team) {
        r.threads_if = format!(" if({})", r.cx.is_large(original_nest, least)?);
    }
    r.cx.known = options.known.iter().copied().collect();
    let has_test = test.is_some();
    if let Some(test) = test {
        r.declare(test.declarations);
        conditions.push(match conditions.is_empty() || !test.condition.contains("||") {
            true => test.condition,
            false => format!("({})", test.condition),
        });
    }
    let mut condition = None;
    if let Some(own) = &own_branch {
        condition = Some(r.values_tested(own, roots_before, nest, &items[..n_before], &conditions)?);
    } else if !conditions.is_empty() {
        let tested = conditions.join(" && ");
        if memory.is_empty() && !r.cx.in_team {
            condition = Some(tested);
        } else {
            let name = match options.guard.has_least() {
                true if n_others == 0 && !has_test => "large",
                true => "suitable",
                false => "distinct",
            };
            let name = r.cx.fresh(name);
            r.declare([format!("const int {name} = {tested};")]);
            condition = Some(name);
        }
    }
    let (lines, assignments) = memory.allocations(&mut r.cx, condition.as_deref());
    r.declare(lines);
    if r.cx.in_team {
        r.share(assignments, condition.is_some());
    }
    if !memory.is_empty() {
        condition = Some(memory.success());
    }
    match condition {
        None => {
            r.top(original_nest, nest, &items[n_before..])?;
            r.moves(original_nest);
            r.lines(before.after);
        }
        Some(condition) => {
            r.line(format!("if ({condition}) {{"));
            r.depth += 1;
            r.top(original_nest, nest, &items[n_before..])?;
            r.moves(original_nest);
            r.lines(before.after);
            r.depth -= 1;
            r.line("} else {");
            r.cx.known.clear();
            let at = r.out.len();
            r.fallback(nest)?;
            unwrap_block(&mut r.out, at);
            r.line("}");
            if r.cx.in_team && !memory.is_empty() {
                r.directive("#pragma omp master");
                r.line("{");
                r.depth += 1;
                r.lines(memory.frees());
                r.depth -= 1;
                r.line("}");
            } else {
                r.lines(memory.frees());
            }
        }
    }
    r.openmp |= insert_used(&mut r.out, used_from, before.if_used, &r.threads_if);
    let openmp = r.openmp;
    Ok(Rendered { text: commented(&r.finish(), &options.comment, options.indent), openmp })
}

/// Whether several threads run a part of the nest.
fn is_shared(nest: &Nest) -> bool {
    nest.loops().iter().any(|l| matches!(l.execution, Execution::Parallel { .. }))
}

/// A rendered block with a comment at its top. `indent` is that of [`RenderOptions`].
pub fn commented(block: &str, comment: &[String], indent: usize) -> String {
    let lines: Vec<String> = comment.iter().flat_map(|l| l.lines()).map(|l| l.replace("*/", "* /")).collect();
    let (Some(body), false) = (block.strip_prefix("{\n"), lines.is_empty()) else { return block.to_owned() };
    let columns = " ".repeat(indent + 4);
    let mut text = String::from("{\n");
    for (k, line) in lines.iter().enumerate() {
        let start = if k == 0 { "/* " } else { " * " };
        let end = if k + 1 == lines.len() { " */" } else { "" };
        text += &columns;
        text += format!("{start}{line}{end}").trim_end();
        text.push('\n');
    }
    text + body
}

/// Checks the renderer's assumptions.
fn check(program: &Program, nest: &Nest) -> Result<(), CodegenError> {
    let malformed = |what: String| Err(CodegenError::Malformed { what });
    for (access, _) in nest.accesses() {
        let Some(array) = program.arrays.get(&access.array) else {
            return malformed(format!("{} is not an array of the program", access.array));
        };
        if array.shape.len() != access.indices.len() {
            return malformed(format!("`{}` is accessed with the wrong number of indices", array.name));
        }
    }
    for l in nest.loops() {
        if l.step == 0 || l.lower.0.is_empty() || l.upper.0.is_empty() {
            return malformed(format!("the loop over `{}` has no step or no bounds", l.name));
        }
    }
    Ok(())
}

struct Renderer<'a> {
    cx: Context<'a>,
    options: &'a RenderOptions,
    places: &'a Places,
    memory: &'a Memory,
    out: Vec<Line>,
    depth: usize,
    in_parallel: bool,
    in_simd: bool,
    /// Whether there was a directive of OpenMP.
    openmp: bool,
    /// The clause that keeps threads away from small sizes.
    threads_if: String,
    /// Flags that the text does without, since they are set where a `break` does the same.
    jumps: BTreeSet<ArrayId>,
}

impl Renderer<'_> {
    fn line(&mut self, text: impl Into<String>) {
        self.out.push(Line::new(self.depth, text));
    }

    /// A directive of OpenMP.
    fn directive(&mut self, text: impl Into<String>) {
        self.openmp = true;
        self.line(text);
    }

    fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            self.line(line);
        }
    }

    /// Declarations.
    fn declare(&mut self, lines: impl IntoIterator<Item = String>) {
        let depth = self.depth;
        self.out.extend(lines.into_iter().map(|line| Line::declaration(depth, line)));
    }

    fn finish(mut self) -> String {
        if self.options.declarations_first {
            declarations_first(&mut self.out);
            unwrap_block(&mut self.out, 0);
        }
        let mut text = String::from("{\n");
        for Line { depth, text: line, .. } in &self.out {
            if !line.is_empty() {
                // Verbatim text keeps its own columns.
                let columns = if *depth == 0 { 0 } else { self.options.indent + 4 * depth };
                text += &" ".repeat(columns);
            }
            text += line;
            text.push('\n');
        }
        text += &" ".repeat(self.options.indent);
        text.push('}');
        text
    }

    fn top(&mut self, original: &Nest, nest: &Nest, items: &[Item]) -> Result<(), CodegenError> {
        let ranges = self.cx.check_ranges(original, nest);
        self.lines(ranges);
        let declarations = self.memory.declarations(&self.cx, self.places, None);
        self.declare(declarations);
        if self.cx.in_team { self.together(items) } else { self.items(items) }
    }

    /// What looks at values before the nest, if the other conditions hold; gives the condition that all of them do.
    fn values_tested(
        &mut self,
        own: &OwnBranch,
        roots: &[Node],
        nest: &Nest,
        items: &[Item],
        conditions: &[String],
    ) -> Result<String, CodegenError> {
        let declarations = self.cx.declare_before(roots, nest, self.options.original.as_deref());
        self.declare(declarations);
        let differs = self.cx.access(&own.differs);
        // Debug builds check what the nest itself does.
        let checks = self.cx.checks.take();
        if conditions.is_empty() {
            self.items(items)?;
        } else {
            self.line(format!("{differs} = 1;"));
            self.braced(format!("if ({})", conditions.join(" && ")), |r| r.items(items))?;
        }
        self.cx.checks = checks;
        Ok(format!("!{differs}"))
    }

    /// Gives all threads of a team the same buffers, and one thread's variables where they need the same. `is_tested`
    /// if the threads have tested something that none of them may change before all have tested it.
    fn share(&mut self, assignments: Vec<String>, is_tested: bool) {
        let mut names = self.memory.names();
        for id in self.cx.shared.clone() {
            let array = self.cx.program.array(id);
            let name = self.cx.name(id).to_owned();
            if self.places.contains_key(&id) {
                let declaration = stack(&self.cx, array);
                self.declare([declaration]);
            }
            let pointer = self.cx.fresh(&format!("{name}_of_one"));
            if array.shape.is_empty() {
                self.declare([format!("{} *{pointer} = &{name};", element_type(array))]);
                self.cx.names.insert(id, format!("(*{pointer})"));
            } else {
                self.declare([format!("__typeof__(&{name}[0]) {pointer} = {name};")]);
                self.cx.names.insert(id, pointer.clone());
            }
            names.push(pointer);
        }
        if !names.is_empty() {
            self.directive(format!("#pragma omp single copyprivate({})", names.join(", ")));
            self.line("{");
            self.depth += 1;
            self.lines(assignments);
            self.depth -= 1;
            self.line("}");
        } else if is_tested {
            self.directive("#pragma omp barrier");
        }
    }

    /// Siblings that all threads of a team run: each is divided among them, or run by one of them.
    fn together(&mut self, items: &[Item]) -> Result<(), CodegenError> {
        let mut rest = items;
        while let Some(first) = rest.first() {
            if !is_divided(first) {
                let n = rest.iter().take_while(|i| !is_divided(i)).count();
                let (alone, after) = rest.split_at(n);
                self.directive("#pragma omp single");
                self.line("{");
                self.depth += 1;
                self.items(alone)?;
                self.depth -= 1;
                self.line("}");
                rest = after;
                continue;
            }
            rest = &rest[1..];
            match first {
                Item::Loop { header, body } if !matches!(header.execution, Execution::Parallel { .. }) => {
                    self.counting(header, |r, text| {
                        r.braced(text, |r| {
                            let declarations = r.memory.declarations(&r.cx, r.places, Some(header.id));
                            r.declare(declarations);
                            r.together(body)
                        })
                    })?;
                }
                Item::If { condition, then, otherwise } => {
                    let condition = self.cx.expr(condition).text;
                    self.braced(format!("if ({condition})"), |r| r.together(then))?;
                    if !otherwise.is_empty() {
                        self.braced("else".to_owned(), |r| r.together(otherwise))?;
                    }
                }
                Item::Scope { of, body } => {
                    self.line("{");
                    self.depth += 1;
                    let declarations = self.memory.declarations(&self.cx, self.places, Some(*of));
                    self.declare(declarations);
                    self.together(body)?;
                    self.depth -= 1;
                    self.line("}");
                }
                Item::Loop { .. } | Item::Stmt(_) | Item::Vector(_) => {
                    self.items(std::slice::from_ref(first))?
                }
            }
        }
        Ok(())
    }

    /// Siblings; a block with copies around them where an array kept in variables is needed in memory.
    fn items(&mut self, items: &[Item]) -> Result<(), CodegenError> {
        let spillable: Vec<ArrayId> = self
            .cx
            .registers
            .iter()
            .filter(|(id, r)| r.spills && !self.cx.spilled.contains(id))
            .map(|(id, _)| *id)
            .collect();
        let needs = |item: &Item| -> Vec<ArrayId> {
            spillable.iter().copied().filter(|id| needs_memory(item, *id)).collect()
        };
        let mut rest = items;
        while let Some(first) = rest.first() {
            let wanted = needs(first);
            if wanted.is_empty() {
                self.item(first)?;
                rest = &rest[1..];
                continue;
            }
            let run = rest.iter().take_while(|i| needs(i) == wanted).count();
            let (spilled, others) = rest.split_at(run);
            let braces = run < items.len();
            rest = others;
            if braces {
                self.line("{");
                self.depth += 1;
            }
            for id in &wanted {
                let array = self.cx.program.array(*id);
                let declaration = stack(&self.cx, array);
                self.declare([declaration]);
                let copies = self.cx.register_copies(*id, true);
                self.lines(copies);
            }
            self.cx.spilled.extend(&wanted);
            self.plain_items(spilled)?;
            for id in &wanted {
                self.cx.spilled.remove(id);
                if writes(spilled, *id) {
                    let copies = self.cx.register_copies(*id, false);
                    self.lines(copies);
                }
            }
            if braces {
                self.depth -= 1;
                self.line("}");
            }
        }
        Ok(())
    }

    fn plain_items(&mut self, items: &[Item]) -> Result<(), CodegenError> {
        let mut rest = items;
        while let Some((first, after)) = rest.split_first() {
            let pair = match (first, after.first()) {
                (Item::Stmt(one), Some(Item::Stmt(other))) if self.cx.watch.is_none() => {
                    crate::complex::parts_of_one(one, other)
                }
                _ => None,
            };
            match pair {
                Some(both) => {
                    let lines = self.parts(both);
                    self.lines(lines);
                    rest = &after[1..];
                }
                None => {
                    self.item(first)?;
                    rest = after;
                }
            }
        }
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Result<(), CodegenError> {
        match item {
            Item::Stmt(s) if self.jumps.contains(&s.target.array) => {
                if s.sets_flag() {
                    self.line("break;");
                }
                Ok(())
            }
            Item::Stmt(s) => {
                let lines = self.stmt(s);
                self.lines(lines);
                Ok(())
            }
            Item::If { condition, then, otherwise } => {
                let condition = self.cx.expr(condition).text;
                if then.is_empty() {
                    return self.braced(format!("if (!({condition}))"), |r| r.items(otherwise));
                }
                self.braced(format!("if ({condition})"), |r| r.items(then))?;
                if otherwise.is_empty() {
                    return Ok(());
                }
                self.braced("else".to_owned(), |r| r.items(otherwise))
            }
            Item::Scope { of, body } => {
                self.line("{");
                self.depth += 1;
                let declarations = self.memory.declarations(&self.cx, self.places, Some(*of));
                self.declare(declarations);
                self.items(body)?;
                self.depth -= 1;
                self.line("}");
                Ok(())
            }
            Item::Loop { header, body } => self.a_loop(header, body),
            Item::Vector(v) => self.vector(v),
        }
    }

    /// `header { body }`, without the braces around a single statement.
    fn braced(
        &mut self,
        header: String,
        body: impl FnOnce(&mut Self) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        let is_end = |line: &Line| line.depth == self.depth && line.text == "}";
        let follows = header == "else" && self.out.last().is_some_and(is_end);
        let header = if follows { format!("}} {header}") } else { header };
        if follows {
            self.out.pop();
        }
        let at = self.out.len();
        let taken = self.cx.taken.clone();
        self.line(format!("{header} {{"));
        self.depth += 1;
        body(self)?;
        self.depth -= 1;
        self.cx.taken = taken;
        unwrap_block(&mut self.out, at + 1);
        let single =
            self.out.len() == at + 2 && self.out[at + 1].text.ends_with(';') && !header.contains("else");
        if single && !header.starts_with("if") {
            self.out[at].text = header;
        } else if self.out.len() == at + 1 {
            self.out[at].text = format!("{header} {{}}");
        } else {
            self.line("}");
        }
        Ok(())
    }

    /// A loop, which `write` writes with the head that it is given. What its head needs is declared before it: in a block of
    /// their own where heads cannot declare counters.
    fn counting(
        &mut self,
        header: &Loop,
        write: impl FnOnce(&mut Self, String) -> Result<(), CodegenError>,
    ) -> Result<(), CodegenError> {
        let mut hoisted = Vec::new();
        let text = self.cx.header(header, &mut hoisted);
        let in_block = self.cx.declares_first;
        if in_block {
            self.line("{");
            self.depth += 1;
        }
        self.declare(hoisted);
        write(self, text)?;
        self.cx.leave_loop(header.id);
        if in_block {
            self.depth -= 1;
            self.line("}");
        }
        Ok(())
    }

    fn a_loop(&mut self, header: &Loop, body: &[Item]) -> Result<(), CodegenError> {
        let mut inside = BTreeSet::new();
        collect_loops(body, &mut inside);
        match self.cx.watch.clone() {
            // What is no longer looked at runs as fast as ever.
            Some(watch) if inside.is_empty() => {
                self.line(format!("if ({}) {{", crate::watch::IS_ON));
                self.depth += 1;
                self.one_loop(header, body)?;
                self.depth -= 1;
                self.line("} else {");
                self.depth += 1;
                self.cx.watch = None;
                self.one_loop(header, body)?;
                self.cx.watch = Some(watch);
                self.depth -= 1;
                self.line("}");
                Ok(())
            }
            _ => self.one_loop(header, body),
        }
    }

    fn one_loop(&mut self, header: &Loop, body: &[Item]) -> Result<(), CodegenError> {
        if header.upper.is_open() {
            return self.open_loop(header, body);
        }
        let openmp = self.options.threads > 1 && !self.in_simd;
        let mut directive = None;
        let mut hint = None;
        let mut reduction = ReductionText::default();
        let (was_parallel, was_simd) = (self.in_parallel, self.in_simd);
        let is_vector = matches!(header.execution, Execution::Vector { .. });
        match &header.execution {
            Execution::Parallel { reductions, sharing } if openmp && !self.in_parallel => {
                reduction =
                    self.cx.reductions(header, body, reductions, Some(self.memory))?.unwrap_or_default();
                let schedule = match sharing {
                    WorkSharing::Static => "static",
                    WorkSharing::Dynamic => "dynamic",
                };
                let is_within = self.cx.in_team || !reduction.parts.is_empty();
                let within = if is_within { "for" } else { "parallel for" };
                let threads_if = if is_within { "" } else { &self.threads_if };
                let clauses = format!("{}{threads_if}", reduction.clause);
                directive = Some(format!("#pragma omp {within} schedule({schedule}){clauses}"));
                self.in_parallel = true;
            }
            Execution::Vector { reductions, .. } => {
                if let Some(text) = self.cx.reductions(header, body, reductions, None)? {
                    reduction = text;
                    let is_sum = |array| reductions.iter().any(|r| r.array == array);
                    let sums_up = |item: &Item| matches!(item, Item::Stmt(s) if is_sum(s.target.array));
                    let is_plain = self.options.plain_sums && self.in_parallel && body.iter().all(sums_up);
                    if openmp {
                        directive = (!is_plain).then(|| format!("#pragma omp simd{}", reduction.clause));
                        self.in_simd = true;
                    } else if self.options.threads <= 1 {
                        hint = Some("OXEYE_IVDEP");
                    }
                }
            }
            _ => {}
        }
        let wrapped = !reduction.before.is_empty();
        if wrapped {
            self.line(match reduction.conditions.is_empty() {
                true => "{".to_owned(),
                false => format!("if ({}) {{", reduction.conditions.join(" && ")),
            });
            self.depth += 1;
            self.declare(std::mem::take(&mut reduction.before));
        }
        let parts = std::mem::take(&mut reduction.parts);
        let mut aliases = std::mem::take(&mut reduction.aliases);
        self.counting(header, |r, text| {
            if !parts.is_empty() {
                if !r.cx.in_team {
                    r.directive(format!("#pragma omp parallel{}", r.threads_if));
                }
                r.line("{");
                r.depth += 1;
            }
            for part in &parts {
                r.declare(part.declarations.clone());
                r.lines(part.start.clone());
                r.cx.copies.parts.insert(part.array, part.name.clone());
            }
            directive.into_iter().for_each(|directive| r.directive(directive));
            hint.into_iter().for_each(|hint| r.line(hint));
            let had_silent_roots = r.cx.math.silent_roots;
            r.cx.math.silent_roots |= is_vector && r.options.roots_set_errno;
            let n_aliases = r.cx.copies.elements.len();
            r.cx.copies.elements.append(&mut aliases);
            r.braced(text, |r| r.loop_body(header, body))?;
            r.cx.math.silent_roots = had_silent_roots;
            r.cx.copies.elements.truncate(n_aliases);
            for part in &parts {
                r.cx.copies.parts.remove(&part.array);
                r.lines(part.combine.clone());
            }
            if !parts.is_empty() {
                r.depth -= 1;
                r.line("}");
            }
            Ok(())
        })?;
        self.in_parallel = was_parallel;
        self.in_simd = was_simd;
        if wrapped {
            self.lines(reduction.after);
            self.depth -= 1;
            self.line("}");
        }
        Ok(())
    }

    fn loop_body(&mut self, header: &Loop, body: &[Item]) -> Result<(), CodegenError> {
        let declarations = self.memory.declarations(&self.cx, self.places, Some(header.id));
        self.declare(declarations);
        if let Some((flag, inside)) = left_early(header, body).filter(|_| !self.in_simd) {
            self.leave_if(flag);
            return self.items(inside);
        }
        self.items(body)
    }

    /// Two statements that use the parts of one complex number, which is computed once.
    fn parts(&mut self, both: [&Stmt; 2]) -> Vec<String> {
        let name = self.cx.fresh("number");
        self.cx.taken.remove(&name);
        let mut lines = vec!["{".to_owned()];
        for (k, s) in both.into_iter().enumerate() {
            let Expr::Call { function, single, args } = &s.value else { continue };
            let Some((number, Some(part))) = crate::complex::number(&self.cx, *function, *single, args)
            else {
                continue;
            };
            if k == 0 {
                let ty = if *single { "float" } else { "double" };
                lines.push(format!("    const {ty} _Complex {name} = {number};"));
            }
            let target = self.cx.access(&s.target);
            let sign = match s.update {
                Update::Add => "+=",
                Update::Sub => "-=",
                _ => "=",
            };
            lines.push(format!("    {target} {sign} {part} {name};"));
        }
        lines.push("}".to_owned());
        lines
    }

    /// A statement outside vectors.
    fn stmt(&mut self, s: &Stmt) -> Vec<String> {
        if let Some(lines) = self.cx.watched_stmt(s) {
            return lines;
        }
        let target = self.cx.access(&s.target);
        let check = self.cx.number_check(&s.target, &target);
        let mut lines = self.update(s, &target);
        lines.extend(check);
        lines
    }

    /// The same without a check.
    fn update(&mut self, s: &Stmt, target: &str) -> Vec<String> {
        let sign = match s.update {
            Update::Assign => "=",
            Update::Add => "+=",
            Update::Sub => "-=",
            Update::Mul => "*=",
            Update::Div => "/=",
            Update::Min | Update::Max => {
                let sign = if s.update == Update::Min { "<" } else { ">" };
                let value = self.cx.expr(&s.value);
                if value.text.len() <= 40 {
                    let value = value.at(11);
                    return vec![format!("{target} = {target} {sign} {value} ? {target} : {value};")];
                }
                let name = self.cx.fresh("value");
                self.cx.taken.remove(&name);
                let ty = self.cx.type_of(&s.value).c_name();
                return vec![
                    "{".to_owned(),
                    format!("    const {ty} {name} = {};", value.text),
                    format!("    {target} = {target} {sign} {name} ? {target} : {name};"),
                    "}".to_owned(),
                ];
            }
        };
        vec![format!("{target} {sign} {};", self.cx.expr(&s.value).text)]
    }
}
