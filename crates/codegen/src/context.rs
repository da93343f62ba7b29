//! The scope of the text being written: names, register variables, and spellings of iterators.

use crate::open_orders::OpenOrders;
use crate::types::{IteratorTypes, vector_type};
use crate::watch::Watch;
use crate::widen::Long;
use oxeye_binding::Binding;
use oxeye_ir::{Access, Affine, ArrayId, Expr, LoopId, Program, ScalarType, Storage, SymId, Var};
use std::collections::{BTreeMap, BTreeSet};

/// The vector loop whose lanes are being written.
#[derive(Clone, Debug)]
pub(crate) struct LaneScope {
    /// The vector loop.
    pub(crate) of: LoopId,
    /// Elements per vector.
    pub(crate) lanes: u32,
    /// Its iterator in lane 0.
    pub(crate) base: Affine,
    /// Scalars of which every lane has its own copy.
    pub(crate) varying: BTreeSet<ArrayId>,
}

/// An array held in variables.
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    pub(crate) element: ScalarType,
    /// Elements per variable; `None`: scalars.
    pub(crate) lanes: Option<u32>,
    /// Variables by index, with the last index divided by the number of lanes.
    pub(crate) variables: BTreeMap<Vec<i64>, String>,
    /// Whether some parts of the nest need the array in memory.
    pub(crate) spills: bool,
}

impl Registers {
    /// Elements per variable.
    pub(crate) fn width(&self) -> i64 {
        self.lanes.map_or(1, i64::from)
    }

    /// Declarations, one line per row.
    pub(crate) fn declarations(&self) -> Vec<String> {
        let ty = match self.lanes {
            Some(w) => vector_type(self.element, w),
            None => self.element.c_name().to_owned(),
        };
        let mut rows: BTreeMap<&[i64], Vec<String>> = BTreeMap::new();
        for (index, name) in &self.variables {
            let row = index.split_last().map_or(&[][..], |(_, row)| row);
            // Elements that part of the nest leaves unwritten are copied too.
            let start = match (self.spills, self.lanes) {
                (false, _) => "",
                (true, None) => " = 0",
                (true, Some(_)) => " = {0}",
            };
            rows.entry(row).or_default().push(format!("{name}{start}"));
        }
        rows.values().map(|names| format!("{ty} {};", names.join(", "))).collect()
    }
}

/// How functions of `<math.h>` are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Math {
    /// Whether the user's text calls `copysign`, so that it is declared there.
    pub(crate) has_copysign: bool,
    /// Whether square roots are those that do not set `errno`.
    pub(crate) silent_roots: bool,
}

/// Names and substitutions in scope.
pub(crate) struct Context<'a> {
    pub(crate) program: &'a Program,
    /// How it meets what is around it.
    pub(crate) binding: &'a Binding,
    /// Names of arrays; temporaries may be renamed.
    pub(crate) names: BTreeMap<ArrayId, String>,
    /// Rows behind pointers that are reached through their pointers.
    pub(crate) apart: BTreeSet<ArrayId>,
    /// Names given to symbols that are expressions.
    pub(crate) symbol_names: BTreeMap<SymId, String>,
    /// Symbols of known values.
    pub(crate) known: BTreeMap<SymId, i64>,
    /// The variable that says whether members may be read before the nest.
    pub(crate) reached: Option<String>,
    /// Every word in use in the nest.
    pub(crate) taken: BTreeSet<String>,
    /// Iterators in scope with their declared types.
    pub(crate) iterators: BTreeMap<LoopId, (String, ScalarType)>,
    /// Arrays kept in register variables.
    pub(crate) registers: BTreeMap<ArrayId, Registers>,
    /// Those that are currently in memory.
    pub(crate) spilled: BTreeSet<ArrayId>,
    pub(crate) copies: Copies,
    /// The vector loop being written, if any.
    pub(crate) lane_scope: Option<LaneScope>,
    pub(crate) open: OpenOrders,
    /// Whether declarations stand at the beginnings of blocks only.
    pub(crate) declares_first: bool,
    /// Whether 32-bit integers are widened before arithmetic.
    pub(crate) wide: bool,
    /// Expressions that are computed in 64 bits.
    pub(crate) long: Long,
    /// Whether all threads of a team run the block.
    pub(crate) in_team: bool,
    /// Variables of one thread of the team that all threads use, through pointers.
    pub(crate) shared: BTreeSet<ArrayId>,
    /// Variables that are declared before the nest.
    pub(crate) declared: BTreeSet<ArrayId>,
    /// How functions of `<math.h>` are written.
    pub(crate) math: Math,
    /// What accesses are checked against, in debug builds.
    pub(crate) checks: Option<Checks>,
    /// The accesses that the text tells of.
    pub(crate) watch: Option<Watch>,
}

/// What a loop accumulates into instead of memory.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// Variables for elements.
    pub(crate) elements: Vec<(Access, String)>,
    /// Parts of a thread for arrays, one row behind the other.
    pub(crate) parts: BTreeMap<ArrayId, String>,
}

/// The words of a C expression that are identifiers.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| w.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_'))
}

/// Whether the text is one C identifier.
pub(crate) fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether the array is declared outside the nest.
pub(crate) fn is_outer(storage: Storage) -> bool {
    matches!(storage, Storage::Param | Storage::Global | Storage::Local)
}

const KEYWORDS: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while", "asm", "typeof", "unix", "linux",
];

impl<'a> Context<'a> {
    /// A context with names for every symbol and the given arrays; new names avoid the reserved ones.
    pub(crate) fn new(
        program: &'a Program,
        binding: &'a Binding,
        arrays: &BTreeSet<ArrayId>,
        reserved: &[String],
    ) -> Self {
        let mut cx = Self {
            program,
            binding,
            names: BTreeMap::new(),
            apart: BTreeSet::new(),
            symbol_names: BTreeMap::new(),
            known: BTreeMap::new(),
            reached: None,
            taken: KEYWORDS.iter().map(|k| (*k).to_owned()).chain(reserved.iter().cloned()).collect(),
            iterators: BTreeMap::new(),
            registers: BTreeMap::new(),
            spilled: BTreeSet::new(),
            copies: Copies::default(),
            lane_scope: None,
            open: OpenOrders::default(),
            declares_first: false,
            wide: false,
            long: Long::default(),
            in_team: false,
            shared: BTreeSet::new(),
            declared: BTreeSet::new(),
            math: Math { has_copysign: true, silent_roots: false },
            checks: None,
            watch: None,
        };
        for symbol in program.symbols.values() {
            cx.taken.extend(identifiers(&symbol.name).map(str::to_owned));
        }
        let own = |a: &oxeye_ir::Array| {
            matches!(a.storage, oxeye_ir::Storage::Body(_) | oxeye_ir::Storage::Temp(_))
        };
        for array in program.arrays.values().filter(|a| !own(a)) {
            cx.taken.extend(identifiers(&array.name).map(str::to_owned));
            cx.names.insert(array.id, array.name.clone());
        }
        for array in program.arrays.values().filter(|a| own(a) && arrays.contains(&a.id)) {
            let name = cx.fresh(&array.name);
            cx.names.insert(array.id, name);
        }
        cx
    }

    /// An identifier for an array.
    pub(crate) fn plain_name(&self, array: &oxeye_ir::Array) -> String {
        let name = self.name(array.id);
        match self.binding.views.get(&array.id).filter(|_| !is_identifier(name)) {
            Some(view) => view.plain_name(),
            None => name.to_owned(),
        }
    }

    /// An unused name like `wanted`, which is reserved from now on.
    pub(crate) fn fresh(&mut self, wanted: &str) -> String {
        let name = self.unused(wanted);
        self.taken.insert(name.clone());
        name
    }

    fn unused(&self, wanted: &str) -> String {
        let wanted = if is_identifier(wanted) { wanted } else { "x" };
        if !self.taken.contains(wanted) {
            return wanted.to_owned();
        }
        let digits_at = wanted.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, start) = match wanted[digits_at..].parse::<u64>() {
            Ok(k) if !wanted[digits_at..].starts_with('0') => (&wanted[..digits_at], k + 1),
            _ => (wanted, 2),
        };
        (start..)
            .map(|k| format!("{stem}{k}"))
            .find(|name| !self.taken.contains(name))
            .unwrap_or_else(|| wanted.to_owned())
    }

    /// Brings an iterator into scope under a unique name, which is returned.
    pub(crate) fn enter_loop(&mut self, id: LoopId, wanted: &str, ty: ScalarType) -> String {
        let name = self.fresh(wanted);
        self.iterators.insert(id, (name.clone(), ty));
        name
    }

    /// Takes an iterator out of scope; its name becomes free.
    pub(crate) fn leave_loop(&mut self, id: LoopId) {
        if let Some((name, _)) = self.iterators.remove(&id) {
            self.taken.remove(&name);
        }
    }

    /// An affine expression with the current chunk of the vector loop substituted, and symbols of known values.
    pub(crate) fn resolve(&self, a: &Affine) -> Affine {
        a.substitute(&|v| match v {
            Var::Loop(l) => {
                self.lane_scope.as_ref().filter(|scope| scope.of == l).map(|scope| scope.base.clone())
            }
            Var::Sym(s) => self.known.get(&s).map(|value| Affine::constant(*value)),
        })
    }

    /// Constant indices of an access in lane 0.
    pub(crate) fn constant_indices(&self, access: &Access) -> Option<Vec<i64>> {
        access.indices.iter().map(|e| self.resolve(e.as_affine()?).as_constant()).collect()
    }

    /// The name of an array.
    pub(crate) fn name(&self, id: ArrayId) -> &str {
        self.names.get(&id).map_or("?", String::as_str)
    }

    /// Whether the value differs between lanes of the vector loop being written.
    pub(crate) fn is_varying(&self, e: &Expr) -> bool {
        let Some(scope) = &self.lane_scope else { return false };
        e.uses(scope.of) || e.reads().iter().any(|a| scope.varying.contains(&a.array))
    }
}

impl IteratorTypes for Context<'_> {
    fn type_of_loop(&self, id: LoopId) -> ScalarType {
        self.iterators.get(&id).map_or(ScalarType::I32, |(_, ty)| *ty)
    }
}

/// What the accesses of a nest are checked against.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    /// The nest, as findings name it.
    pub(crate) place: String,
    /// Variables with the address of an array, the first one that the nest may use of it, and the first behind that.
    pub(crate) ranges: BTreeMap<ArrayId, [String; 3]>,
}

impl Checks {
    /// Checks whose findings are said to be in this nest.
    pub(crate) fn new(place: &str) -> Self {
        Self { place: place.to_owned(), ranges: BTreeMap::new() }
    }
}
