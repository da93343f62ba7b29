//! Recipes for the nests of a program: what the nests suggest, what the panel of templates makes of them, and random ones,
//! all of them legal; whether they are fast nobody asks.

use oxeye::{Compiler, NestRecipe, RECIPE_SCHEMA, Recipe, RecipeFile, Transformation};
use oxeye_binding::Binding;
use oxeye_frontend::{Function, Member, ReadOptions, Unit};
use oxeye_ir::testing::Random;
use oxeye_ir::{Nest, NestId, Program, ScalarType, Span, SymId};
use oxeye_random::Rng;
use oxeye_transform::steps::Normalize;
use oxeye_transform::templates::{Base, Instantiator, Template, panel, suggest_overlaps};
use oxeye_transform::testing::random_recipe;
use oxeye_transform::{Machine, Policy, PreparedNest, suggest_for};
use std::collections::{BTreeMap, BTreeSet};

/// Small caches, so that small nests are tiled.
const MACHINE: Machine = Machine { l1: 1 << 10, l2: 4 << 10, l3: 32 << 10, threads: 2, vector_bytes: 32 };

/// Recipes that are drawn for a nest before it is left as it is.
const MOST_DRAWS: usize = 8;

/// Nests inside of each other that are opened, at most.
const MOST_OPENED: usize = 2;

/// In a hundred nests: those that are taken as control around the nests inside, and those of which rows behind pointers are
/// reached through their pointers.
const OPENED: f64 = 0.2;
const UNEVEN: f64 = 0.5;
/// In a hundred groups: those that are one nest, or a part of which is.
const GROUPED: f64 = 0.5;
/// How often the text for a nest is for one value of a size.
const KNOWN: f64 = 0.2;
/// How often a nest is a function of its own, for instructions that not all processors have.
const WIDE: f64 = 0.3;
/// How often such a nest stays as it is written.
const OWN_TEXT: f64 = 0.3;

/// Recipes for all nests of a unit, with other ones in every version.
pub(crate) fn recipes(unit: &Unit, options: &ReadOptions, version: u64, seed: u64) -> RecipeFile {
    // The last of three versions may reorder sums.
    let policy = Policy { reassociate: version % 3 == 2, finite: false };
    let mut rng = Rng::new(seed, 1000 + version);
    let threads = *rng.pick(&[1, 2, 2, 3]);
    let tests = Rng::new(seed, 2000 + version);
    let groups = Rng::new(seed, 3000 + version);
    let mut drawing = Drawing { unit, options, policy, rng, tests, groups, nests: Vec::new() };
    for function in &unit.functions {
        let nests: Vec<NestId> = function.program.nests.keys().copied().collect();
        drawing.of_function(function, &nests, &mut Vec::new(), &mut Vec::new());
    }
    RecipeFile {
        schema: RECIPE_SCHEMA.to_owned(),
        compiler: Compiler { command: options.compiler.clone(), args: options.args.clone(), chosen: true },
        threads,
        reassociate: policy.reassociate,
        no_alias: false,
        keeps_order: false,
        directives: false,
        quiet: Vec::new(),
        vector_bytes: None,
        machine: None,
        nests: drawing.nests,
    }
}

/// Recipes while they are drawn.
struct Drawing<'u> {
    unit: &'u Unit,
    options: &'u ReadOptions,
    policy: Policy,
    rng: Rng,
    /// For what is tested before a nest.
    tests: Rng,
    /// For which neighbours are one nest.
    groups: Rng,
    nests: Vec<NestRecipe>,
}

/// A nest of a function that was read for it.
struct Chosen<'f> {
    function: &'f Function,
    id: NestId,
    /// Its number in the function, or that of the first member of a group, and how many are behind that.
    ordinal: usize,
    joined: usize,
}

impl Drawing<'_> {
    /// For these nests of a function, which are inside of the nests `within`, at the places `opened`.
    fn of_function(
        &mut self,
        function: &Function,
        nests: &[NestId],
        within: &mut Vec<usize>,
        opened: &mut Vec<Span>,
    ) {
        let members = function.members(opened.last().copied());
        let mut n_grouped = 0;
        for (number, span) in members.iter().copied().enumerate() {
            if number < n_grouped {
                continue;
            }
            if let Some(joined) = self.group(function, &members, number, (within, opened)) {
                n_grouped = number + 1 + joined;
                continue;
            }
            let is_it =
                |id: &NestId| function.program.nests[id].span.is_some_and(|own| own.start == span.start);
            let Some((ordinal, id)) = nests.iter().copied().enumerate().find(|(_, id)| is_it(id)) else {
                continue;
            };
            if within.len() < MOST_OPENED && self.rng.chance(OPENED) {
                opened.push(span);
                within.push(ordinal);
                let inside = self.unit.open(self.options, &function.name, opened);
                if let Ok(Some(inside)) = &inside {
                    self.of_function(&inside.function, &inside.nests, within, opened);
                }
                opened.pop();
                within.pop();
                if matches!(inside, Ok(Some(_))) {
                    continue;
                }
            }
            self.draw(&Chosen { function, id, ordinal, joined: 0 }, within);
        }
    }

    /// Makes one nest of this member and some behind it, if they may be a group. How many behind it that are.
    fn group(
        &mut self,
        function: &Function,
        members: &[Span],
        ordinal: usize,
        (within, opened): (&[usize], &[Span]),
    ) -> Option<usize> {
        let first = members.get(ordinal)?;
        let start = |member: &Member| function.place(member).map(|span| span.start);
        let neighbours = function.groups.iter().find_map(|group| {
            let at = group.iter().position(|member| start(member) == Some(first.start))?;
            (at + 1 < group.len()).then(|| &group[at + 1..])
        })?;
        if !self.groups.chance(GROUPED) {
            return None;
        }
        let last = function.place(self.groups.pick(neighbours))?;
        let joined = members.iter().position(|span| span.start == last.start)?.checked_sub(ordinal)?;
        let group = Span { end: last.end, ..*first };
        let read = self.unit.group(self.options, &function.name, opened, group).ok().flatten()?;
        let id = *read.nests.first()?;
        let n_before = self.nests.len();
        self.draw(&Chosen { function: &read.function, id, ordinal, joined }, within);
        (self.nests.len() > n_before).then_some(joined)
    }

    fn draw(&mut self, chosen: &Chosen<'_>, within: &[usize]) {
        let Chosen { function, id, ordinal, joined } = *chosen;
        let (program, mut binding) = (&function.program, function.binding.clone());
        let uneven = self.uneven(program, &mut binding, id);
        let nest = &program.nests[&id];
        let Some((name, recipe)) = legal_recipe(program, nest, self.policy, &mut self.rng) else { return };
        let known = self.known(program, nest);
        let isa = self.tests.chance(WIDE).then(|| "avx2".to_owned());
        // With vectors of its own a nest may also stay as it is written.
        let own_text = isa.is_some() && known.is_empty() && self.tests.chance(OWN_TEXT);
        let recipe = if own_text { Recipe::default() } else { recipe };
        self.nests.push(NestRecipe {
            isa,
            function: function.name.clone(),
            within: within.to_vec(),
            ordinal,
            joined,
            line: nest.span.map_or(0, |span| span.line),
            name,
            threads: None,
            guard: None,
            known,
            own_text,
            uneven,
            recipe: recipe.into(),
        });
    }

    /// A value for a size of the nest, which it may have in some runs.
    fn known(&mut self, program: &Program, nest: &Nest) -> BTreeMap<String, i64> {
        if !self.tests.chance(KNOWN) {
            return BTreeMap::new();
        }
        let is_int = |id: &SymId| program.symbols.get(id).is_some_and(|symbol| symbol.ty == ScalarType::I32);
        let sizes: Vec<SymId> = nest.symbols_of_inner_bounds().into_iter().filter(is_int).collect();
        if sizes.is_empty() {
            return BTreeMap::new();
        }
        let symbol = &program.symbols[self.tests.pick(&sizes)];
        [(symbol.name.clone(), self.tests.within(1, 12) as i64)].into()
    }

    /// Lets rows of a nest be reached through their pointers: those of all arrays, as a capture that has seen uneven ones does,
    /// or of some.
    fn uneven(&mut self, program: &Program, binding: &mut Binding, nest: NestId) -> Vec<String> {
        let tests = binding.entry(nest).into_iter().flat_map(|entry| &entry.rows);
        let names: BTreeSet<String> =
            tests.filter_map(|test| Some(program.arrays.get(&test.array)?.name.clone())).collect();
        if names.is_empty() || !self.rng.chance(UNEVEN) {
            return Vec::new();
        }
        let share = *self.rng.pick(&[1.0, 1.0, 0.5]);
        let chosen: Vec<String> = names.into_iter().filter(|_| self.rng.chance(share)).collect();
        for name in &chosen {
            binding.set_uneven_rows(program, nest, name);
        }
        chosen
    }
}

/// Overlapped tiles of loops that hand arrays on, as they are and with what the nest then suggests.
fn overlapped(prepared: &PreparedNest<'_>, policy: Policy) -> Vec<(String, Recipe)> {
    let mut found = Vec::new();
    for (name, base) in suggest_overlaps(prepared, &MACHINE, policy) {
        let Ok(rewritten) = prepared.rewritten(&base, policy) else { continue };
        for further in suggest_for(&rewritten.prepared(), &MACHINE, policy).recipes {
            let steps = [base.steps.clone(), further.recipe.steps].concat();
            found.push((format!("{name}, {}", further.name), Recipe { steps }));
        }
        found.push((name, base));
    }
    found
}

/// A recipe that is legal for a nest, and what it comes from.
fn legal_recipe(program: &Program, nest: &Nest, policy: Policy, rng: &mut Rng) -> Option<(String, Recipe)> {
    let prepared = PreparedNest::new(program, nest);
    let mut instantiator = Instantiator::of(&prepared, &MACHINE, policy);
    let mut random = Random::new(rng.bits());
    let mut suggested: Option<Vec<(String, Recipe)>> = None;
    let tiled = overlapped(&prepared, policy);
    for _ in 0..MOST_DRAWS {
        let drawn = match rng.within(0, 9) {
            0..=3 if !tiled.is_empty() && rng.chance(0.7) => Some(rng.pick(&tiled).clone()),
            0..=3 => {
                let all = suggested.get_or_insert_with(|| {
                    let found = suggest_for(&prepared, &MACHINE, policy).recipes;
                    found.into_iter().map(|s| (s.name, s.recipe)).collect()
                });
                if all.is_empty() { None } else { Some(rng.pick(all).clone()) }
            }
            4..=6 => {
                let template: Template = *rng.pick(panel());
                let base = *rng.pick(&[Base::Source, Base::Normal]);
                let template = Template { base, ..template };
                instantiator.instantiate(&template).ok().map(|recipe| (template.title(), recipe))
            }
            7..=8 => {
                let recipe = random_recipe(program, nest, policy, 4, &mut random);
                Some(("random steps".to_owned(), recipe))
            }
            _ => {
                let normal = prepared.normal_form(policy);
                let mut recipe = random_recipe(&normal.program, &normal.nest, policy, 3, &mut random);
                recipe.steps.insert(0, Transformation::Normalize(Normalize {}));
                Some(("random steps on the normal form".to_owned(), recipe))
            }
        };
        let Some((name, recipe)) = drawn else { continue };
        if !recipe.steps.is_empty() && prepared.apply(&recipe, policy).is_ok() {
            return Some((name, recipe));
        }
    }
    None
}
