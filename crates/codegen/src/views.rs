//! Members of structures around a nest: values and pointers read once before it, the tests that they depend on, and the
//! structures in which a replay puts them.

use crate::context::{Context, identifiers, is_identifier};
use crate::rows::{Asked, least_extent};
use crate::scans::{IfUsed, scanned};
use oxeye_binding::{Constant, Entry, RowTest, View};
use oxeye_ir::{Access, Array, ArrayId, Expr, Nest, Node, SymId, Var};
use std::collections::{BTreeMap, BTreeSet};

/// What stands before a nest.
#[derive(Default)]
pub(crate) struct Before {
    /// Declarations.
    pub(crate) lines: Vec<String>,
    /// Conditions under which anything other than the original text runs.
    pub(crate) conditions: Vec<String>,
    /// What is needed only if it is used.
    pub(crate) if_used: Vec<IfUsed>,
    /// Assignments after the nest.
    pub(crate) after: Vec<String>,
}

/// Whether the symbol is the first or the last index of rows that are used.
fn is_end_of(test: &RowTest, symbol: SymId) -> bool {
    let mut found = false;
    for e in test.exprs() {
        e.visit(&mut |e| found |= matches!(e, Expr::Affine(a) if a.uses(symbol)));
    }
    found
}

/// Whether an array's base, or a scalar, is an expression that is worth a name.
fn is_named(array: &Array, view: &View) -> bool {
    array.shape.is_empty() || view.is_loaded || view.has_elements() || !view.followed().is_empty()
}

/// Whether a nest sets a scalar, whatever its values are, before anything reads it.
fn is_set_first(nest: &Nest, scalar: ArrayId) -> bool {
    let uses = |node: &Node| -> Vec<bool> {
        let of = |(access, is_written): (&Access, bool)| (access.array == scalar).then_some(is_written);
        node.own_accesses().into_iter().filter_map(of).collect()
    };
    let mut first = None;
    nest.visit(&mut |_, node| {
        if first.is_none() && !uses(node).is_empty() {
            first = Some(node);
        }
    });
    let is_root = |node: &Node| nest.roots.iter().any(|root| std::ptr::eq(root, node));
    first.is_some_and(|node| is_root(node) && uses(node) == [true])
}

impl Context<'_> {
    /// Tests whether a nest gets to what is read beforehand.
    fn test_reached(&mut self, reached: Option<&Expr>, before: &mut Before) {
        let Some(reached) = reached else { return };
        let condition = self.expr(reached).text;
        let name = self.fresh("reached");
        before.lines.push(format!("const int {name} = {condition};"));
        before.conditions.push(name.clone());
        self.reached = Some(name);
    }

    /// Gives names to members that the nest uses. `original` is the text that runs if the conditions do not hold; what is
    /// looked for only if it is needed is looked for by several threads, if it has them.
    pub(crate) fn enter_views(
        &mut self,
        nests: &[&Nest],
        original: Option<&str>,
        has_threads: bool,
    ) -> Before {
        let (program, binding) = (self.program, self.binding);
        let mut before = Before::default();
        let symbols = binding.symbols_of(program, nests);
        let computed = binding.computed_symbols(program, nests);
        let arrays: BTreeSet<ArrayId> = nests.iter().flat_map(|n| n.arrays()).collect();
        let is_expression = |s: &SymId| program.symbols.get(s).is_some_and(|s| !is_identifier(&s.name));
        let has_views =
            symbols.iter().any(is_expression) || arrays.iter().any(|a| binding.views.contains_key(a));
        let entry = nests.iter().find_map(|n| binding.entry(n.id));
        if !has_views && entry.is_none() {
            return before;
        }
        // The original text must not see these names.
        let words: BTreeSet<String> = original.into_iter().flat_map(identifiers).map(str::to_owned).collect();
        let foreign: Vec<String> = words.difference(&self.taken).cloned().collect();
        self.taken.extend(foreign.iter().cloned());
        self.test_reached(entry.and_then(|e| e.reached.as_ref()), &mut before);
        for id in symbols {
            let Some(symbol) = program.symbols.get(&id).filter(|s| !is_identifier(&s.name)) else { continue };
            if binding.row_extent(program, id).is_some() {
                continue;
            }
            let (wanted, value) = match (binding.symbol_view(id), binding.load(id)) {
                (Some(view), _) => (view.plain_name(), self.guarded(view.base())),
                (None, Some(load)) => {
                    let plain = binding.views.get(&load.array).map(View::plain_name);
                    let of = plain.unwrap_or_else(|| program.array(load.array).name.clone());
                    (format!("{of}_at"), self.guarded(symbol.name.clone()))
                }
                (None, None) => ("extent".to_owned(), symbol.name.clone()),
            };
            let name = self.fresh(&wanted);
            let line = format!("const {} {name} = {value};", symbol.ty.c_name());
            match computed.contains(&id) {
                true => before.lines.push(line),
                false => before.if_used.push(IfUsed::declaration(&name, line)),
            }
            self.symbol_names.insert(id, name);
        }
        let mut bases: BTreeMap<String, String> = BTreeMap::new();
        for id in &arrays {
            let (Some(view), Some(array)) = (binding.views.get(id), program.arrays.get(id)) else { continue };
            if !is_named(array, view) {
                continue;
            }
            let base = view.base();
            if let Some(name) = bases.get(&base) {
                self.names.insert(*id, name.clone());
                continue;
            }
            let name = self.fresh(&view.plain_name());
            if array.shape.is_empty() {
                self.scalar(nests, array, &base, &name, &mut before);
            } else {
                before
                    .lines
                    .push(format!("__typeof__(&({base})[0]) const {name} = {};", self.guarded(base.clone())));
            }
            bases.insert(base, name.clone());
            self.names.insert(*id, name);
        }
        if let Some(entry) = entry {
            self.enter_scans(entry, has_threads, &mut before);
        }
        for test in entry.into_iter().flat_map(|e| &e.rows) {
            let array = program.array(test.array);
            let plain = binding.views.get(&array.id).map_or_else(|| array.name.clone(), View::plain_name);
            let table = self.name(test.array).to_owned();
            let used = test.used.as_ref().map(|used| {
                let used = self.expr(used).text;
                let name = self.fresh(&format!("{plain}_used"));
                before.lines.push(format!("const int {name} = {used};"));
                before.conditions.push(name.clone());
                name
            });
            if self.apart.contains(&test.array) {
                for (extent, range) in array.shape.iter().zip(&test.ranges).skip(1) {
                    let symbol = extent.as_ref().and_then(Expr::as_affine).and_then(oxeye_ir::Affine::as_var);
                    let Some(Var::Sym(symbol)) = symbol else { continue };
                    let name = self.fresh(&format!("{plain}_extent"));
                    let was_wide = std::mem::replace(&mut self.wide, true);
                    let value = self.expr(&least_extent(range)).text;
                    self.wide = was_wide;
                    let line = format!("const long {name} = {value};");
                    before.if_used.push(IfUsed::declaration(&name, line));
                    self.symbol_names.insert(symbol, name);
                }
                continue;
            }
            let even = self.fresh(&format!("{plain}_even"));
            let mut value = self.rows(test, &table, Asked::Even);
            for condition in used.iter().chain(&self.reached) {
                value = format!("{condition} && {value}");
            }
            before.lines.push(format!("const int {even} = {value};"));
            before.conditions.push(even.clone());
            for (k, extent) in array.shape.iter().enumerate().skip(1) {
                let symbol = extent.as_ref().and_then(Expr::as_affine).and_then(oxeye_ir::Affine::as_var);
                let Some(Var::Sym(symbol)) = symbol else { continue };
                let name = self.fresh(&format!("{plain}_extent"));
                let value = self.rows(test, &table, Asked::Extent(k));
                before.lines.push(format!("const long {name} = {even} ? {value} : 1;"));
                self.symbol_names.insert(symbol, name);
            }
            let name = self.fresh(&format!("{plain}_rows"));
            let ty = crate::print::element_type(array);
            let value = self.rows(test, &table, Asked::Origin);
            before.lines.push(format!("{ty} *const {name} = {even} ? ({ty} *)({value}) : 0;"));
            self.names.insert(test.array, name);
        }
        foreign.iter().for_each(|word| _ = self.taken.remove(word));
        for test in entry.into_iter().flat_map(|e| &e.tests) {
            before.conditions.push(self.entry_test(test));
        }
        before
    }

    /// Names what scans find, and adds them.
    fn enter_scans(&mut self, entry: &Entry, has_threads: bool, before: &mut Before) {
        let program = self.program;
        for (first, last) in scanned(&entry.scans) {
            let rows = entry.rows.iter().find(|test| is_end_of(test, first)).map(|test| test.array);
            let reached = entry.reaches.iter().find(|reach| reach.first == first).map(|reach| reach.array);
            let of = rows.or(reached);
            let plain = |array| self.plain_name(program.array(array));
            let stem = of.map_or_else(|| "failed".to_owned(), plain);
            for (symbol, end) in [(first, "first"), (last, "last")] {
                let name = self.fresh(&format!("{stem}_{end}"));
                self.symbol_names.insert(symbol, name);
            }
        }
        let reached = self.reached.clone();
        let (lines, others) = self.entry_scans(entry, reached.as_deref(), has_threads);
        before.lines.extend(lines);
        before.if_used.extend(others);
    }

    /// Declares a scalar of a structure, `base`, and puts it back after the nests if they change it.
    fn scalar(&mut self, nests: &[&Nest], array: &Array, base: &str, name: &str, before: &mut Before) {
        let ty = crate::print::element_type(array).to_owned();
        let all = || nests.iter().flat_map(|nest| nest.accesses());
        let is_written = all().any(|(access, is_written)| is_written && access.array == array.id);
        // What a variable of the function holds is needed only if it is read later.
        let is_own = array.storage == oxeye_ir::Storage::Local;
        let is_live = !is_own || nests.iter().any(|nest| nest.live_out.contains(&array.id));
        // It may have no value before, and even comparing that would be undefined.
        if nests.iter().all(|nest| is_set_first(nest, array.id)) {
            before.lines.push(format!("{ty} {name};"));
            before.after.extend(is_live.then(|| format!("{base} = {name};")));
            return;
        }
        let qualifier = if is_written { "" } else { "const " };
        before.lines.push(format!("{qualifier}{ty} {name} = {};", self.guarded(base.to_owned())));
        if is_written && is_live {
            // A scalar that the nest may not have written is not stored: it may be another thread's, or not writable. Its bytes
            // are compared, since zeros of both signs are equal.
            let (start, end) = (self.fresh(&format!("{name}_start")), self.fresh(&format!("{name}_end")));
            before.lines.push(format!("const {ty} {start} = {name};"));
            before.after.extend([
                "{".to_owned(),
                format!("    const {ty} {end} = {name};"),
                format!("    if (__builtin_memcmp(&{end}, &{start}, sizeof {end}) != 0)"),
                format!("        {base} = {end};"),
                "}".to_owned(),
            ]);
        }
    }

    /// A test that the original text runs if it fails.
    pub(crate) fn entry_test(&mut self, test: &Expr) -> String {
        // The difference of two sizes, or an opposite, may not fit into their type.
        let mut is_plain = true;
        test.visit(&mut |e| {
            let is_term = |a: &oxeye_ir::Affine| a.as_constant().is_some() || a.as_var().is_some();
            is_plain &= !matches!(e, Expr::Affine(a) if !is_term(a));
        });
        let was_wide = self.wide;
        self.wide |= !is_plain;
        let text = format!("({})", self.expr(test).text);
        self.wide = was_wide;
        text
    }

    /// An expression, evaluated only if the nest evaluates it.
    fn guarded(&self, text: String) -> String {
        match &self.reached {
            None => text,
            Some(reached) => format!("{reached} ? {text} : 0"),
        }
    }

    /// The address of an array or scalar as an integer.
    pub(crate) fn address(&self, array: &Array) -> String {
        let name = self.name(array.id);
        match self.binding.views.get(&array.id) {
            Some(view) if array.shape.is_empty() => {
                let address = self.guarded(format!("(__UINTPTR_TYPE__)&({})", view.base()));
                if self.reached.is_some() { format!("({address})") } else { address }
            }
            Some(view) if !is_named(array, view) && !view.is_rows_of_structures() => {
                format!("(__UINTPTR_TYPE__)({})", view.base())
            }
            _ if array.shape.is_empty() && array.storage != oxeye_ir::Storage::Temp(None) => {
                format!("(__UINTPTR_TYPE__)&{name}")
            }
            _ => format!("(__UINTPTR_TYPE__){name}"),
        }
    }

    /// C expressions of the objects that must not change.
    pub(crate) fn constants(&self, constant: Constant) -> Vec<String> {
        let loads = |view: &View| view.loads().into_iter().map(|n| view.prefix(n)).collect::<Vec<_>>();
        match constant {
            Constant::Symbol(id) => match self.binding.symbol_view(id) {
                Some(view) => loads(view).into_iter().chain([view.base()]).collect(),
                None => {
                    let load = self.binding.load(id).and_then(|load| self.binding.views.get(&load.array));
                    let itself = self.program.symbols.get(&id).map(|s| s.name.clone());
                    load.map(loads).into_iter().flatten().chain(itself).collect()
                }
            },
            Constant::Base(id) => self.binding.views.get(&id).map(loads).unwrap_or_default(),
        }
    }
}
