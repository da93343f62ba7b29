//! Instantiates templates: recipes for one nest on one machine.

use super::machine::Machine;
use super::strategies::builder::Builder;
use super::strategies::{contraction, factor, fission, merge, split, stencil, tile, write_out};
use super::template::{
    Base, BlockShape, Independent, Lanes, Loops, Order, STRIP, Shares, Strategy, Template, Threads,
};
use super::unfit::Unfit;
use crate::normalize::Change;
use crate::order::{self, Preference};
use crate::policy::Policy;
use crate::prepared::{Normalized, PreparedNest};
use crate::recipe::Recipe;
use crate::refusal::Reason;
use crate::scan;
use crate::schedule::Schedule;
use crate::steps::Transformation;
use crate::steps::{Normalize, Reorder};
use oxeye_ir::{Nest, Program};
use std::collections::BTreeMap;

/// All templates that are worth trying for a nest, best guess first.
pub fn templates(program: &Program, nest: &Nest, machine: &Machine, policy: Policy) -> Vec<Template> {
    Instantiator::new(program, nest, machine, policy).templates()
}

/// Nests with more statements than this are not normalized for tuning: testing every pair of statements for dependence
/// after every step would take minutes.
pub const MOST_NORMAL_STATEMENTS: usize = 40;

impl Template {
    /// The recipe for a nest on a machine. For several templates and one nest, [`Instantiator`] does less work.
    ///
    /// # Errors
    /// Why there is none: the template does not fit the nest, or cannot be proved legal.
    pub fn instantiate(
        &self,
        program: &Program,
        nest: &Nest,
        machine: &Machine,
        policy: Policy,
    ) -> Result<Recipe, Unfit> {
        Instantiator::new(program, nest, machine, policy).instantiate(self)
    }
}

/// Instantiates templates for one nest on one machine; work common to several templates is done once.
pub struct Instantiator<'a> {
    prepared: PreparedNest<'a>,
    policy: Policy,
    machine: Machine,
    source: Start,
    /// The normal form, once a template asks for it, and how much it differs from the source.
    normal: Option<(Start, Change)>,
}

/// The starting point of templates with the same base.
struct Start {
    nest: Nest,
    schedule: Schedule,
    policy: Policy,
    machine: Machine,
    /// Steps that every recipe begins with.
    first: Vec<Transformation>,
    /// Statements that could be packed contractions.
    products: Vec<contraction::Product>,
    /// Results by strategy and by how its own concurrent loops are shared.
    made: BTreeMap<(Strategy, Option<Shares>), Result<Made, Unfit>>,
}

/// A recipe before threads and vector lanes are added.
#[derive(Clone)]
struct Made {
    builder: Builder,
    /// Why parts of the nest stay as they are.
    refused: Vec<Reason>,
}

impl<'a> Instantiator<'a> {
    /// For a nest of `program`.
    pub fn new(program: &'a Program, nest: &'a Nest, machine: &Machine, policy: Policy) -> Self {
        Self::of(&PreparedNest::new(program, nest), machine, policy)
    }

    /// For a prepared nest, whose analyses may already be computed.
    pub fn of(prepared: &PreparedNest<'a>, machine: &Machine, policy: Policy) -> Self {
        let prepared = prepared.clone();
        let (schedule, nest) = (prepared.schedule().clone(), prepared.nest().clone());
        let source = Start::new(schedule, nest, *machine, policy, Vec::new());
        Self { prepared, policy, machine: *machine, source, normal: None }
    }

    /// The prepared nest.
    pub fn prepared(&self) -> &PreparedNest<'a> {
        &self.prepared
    }

    /// The recipe, with every step proved legal. With the normal form as its base it starts with
    /// [`Transformation::Normalize`].
    ///
    /// # Errors
    /// Why there is none.
    pub fn instantiate(&mut self, template: &Template) -> Result<Recipe, Unfit> {
        if template.base == Base::Normal && self.is_large() {
            let why = format!("not normalized: the nest has more than {MOST_NORMAL_STATEMENTS} statements");
            return Err(Unfit::Inapplicable(why));
        }
        self.start(template.base).attempt(template)
    }

    fn is_large(&self) -> bool {
        self.prepared.nest().stmts().len() > MOST_NORMAL_STATEMENTS
    }

    /// Whether any loop has bounds that can be analysed: otherwise no template applies.
    pub(crate) fn has_loops(&self) -> bool {
        self.source.has_loops()
    }

    /// Why parts of the nest are left out by the template's strategy.
    pub(crate) fn refused_parts(&mut self, template: &Template) -> Vec<Reason> {
        self.start(template.base).made(template).map(|made| made.refused.clone()).unwrap_or_default()
    }

    /// All templates that are worth trying for the nest, best guess first. Includes those with the normal form as their
    /// base, if it differs from the nest.
    pub fn templates(&mut self) -> Vec<Template> {
        if !self.has_loops() {
            return Vec::new();
        }
        let mut found = self.source.templates();
        if !self.is_large() {
            found.extend(self.normal_templates());
        }
        // Contractions, time tiles and short loops written out gain most where they apply; one thread is for nests too short to
        // share.
        let team = self.machine.threads > 1;
        found.sort_by_key(|template| match (template.threads, template.strategy) {
            (Threads::One, _) if team => 2,
            (_, Strategy::Loops(_) | Strategy::Crossings | Strategy::Merged | Strategy::Fissioned) => 1,
            _ => 0,
        });
        found
    }

    fn start(&mut self, base: Base) -> &mut Start {
        match base {
            Base::Source => &mut self.source,
            Base::Normal => &mut self.normal().0,
        }
    }

    fn normal(&mut self) -> &mut (Start, Change) {
        let Self { prepared, policy, machine, .. } = self;
        self.normal.get_or_insert_with(|| {
            let Normalized { normal, schedule, .. } = prepared.normalized(*policy);
            let first = vec![Transformation::Normalize(Normalize {})];
            (Start::new(schedule.clone(), normal.nest.clone(), *machine, *policy, first), normal.change)
        })
    }

    /// Templates for which normalization could help: orders that start from distributed loops and small strides, and
    /// strategies that need a form which the source does not have.
    fn normal_templates(&mut self) -> Vec<Template> {
        let team = self.machine.threads > 1;
        let shared = if team { Threads::Outer(Shares::Fitting) } else { Threads::One };
        let loops = |order| Strategy::Loops(Loops { order, tile: None, jam: None });
        let ranked = |independent, fuse| loops(Order::Ranked { rank: 0, independent, fuse });
        let with = |(strategy, threads)| Template { base: Base::Normal, ..usual(strategy, threads) };
        let mut found = vec![(loops(Order::Source), shared)];
        match self.normal().1 {
            Change::Spelling => return Vec::new(),
            // The orders of the source's own statements are among its own templates.
            Change::Order => return found.into_iter().map(with).collect(),
            Change::Statements => {}
        }
        found.extend([true, false].map(|fuse| (ranked(Independent::Outer, fuse), shared)));
        if team {
            found.push((loops(Order::Source), Threads::One));
        }
        found.push((ranked(Independent::Anywhere, true), Threads::One));
        let special = self.start(Base::Normal).strategies();
        for strategy in special.into_iter().filter(|s| !matches!(s, Strategy::Loops(_))) {
            if self.reach(Base::Normal, strategy, shared) > self.reach(Base::Source, strategy, shared) {
                found.push((strategy, shared));
            }
        }
        found.into_iter().map(with).collect()
    }

    /// How much of a nest a strategy applies to: the number of products for a contraction, and how many are summed up where
    /// they belong; otherwise 0 or 1.
    fn reach(&mut self, base: Base, strategy: Strategy, threads: Threads) -> (usize, usize) {
        let start = self.start(base);
        let n_products = start.products.len();
        let n_in_place = start.products.iter().filter(|product| !product.is_aside).count();
        match start.made(&usual(strategy, threads)) {
            Err(_) => (0, 0),
            Ok(made) if matches!(strategy, Strategy::PackedContraction(_)) => {
                (n_products - made.refused.len(), n_in_place)
            }
            Ok(_) => (1, 0),
        }
    }
}

/// A template with the usual vector lanes for the strategy.
fn usual(strategy: Strategy, threads: Threads) -> Template {
    Template { base: Base::Source, strategy, threads, lanes: strategy.usual_lanes() }
}

impl Start {
    fn new(
        schedule: Schedule,
        nest: Nest,
        machine: Machine,
        policy: Policy,
        first: Vec<Transformation>,
    ) -> Self {
        let products = contraction::products(&schedule);
        Self { nest, schedule, policy, machine, first, products, made: BTreeMap::new() }
    }

    fn has_loops(&self) -> bool {
        self.schedule.statements.iter().any(|s| !s.time.loops.is_empty())
    }

    fn attempt(&mut self, template: &Template) -> Result<Recipe, Unfit> {
        if template.threads != Threads::One && self.machine.threads < 2 {
            return Err(Unfit::Inapplicable("there is only one thread".into()));
        }
        let mut builder = self.made(template)?.builder.clone();
        match template.threads {
            Threads::One => {}
            Threads::Outer(shares) => {
                if !builder.share_outer_loops(shares) {
                    return Err(Unfit::Inapplicable(
                        "no loop with enough work has independent iterations".into(),
                    ));
                }
            }
            Threads::Strips { width } => {
                if !builder.share_strips(width) {
                    return Err(Unfit::Inapplicable(
                        "no perfect nest has an innermost loop with independent iterations".into(),
                    ));
                }
            }
        }
        match template.lanes {
            Lanes::Off => {}
            Lanes::Contiguous => builder.vectorize(false),
            Lanes::Scattered => builder.vectorize(true),
            Lanes::Batches => {
                if !builder.gather_batches() {
                    return Err(Unfit::Inapplicable("no loop has long arithmetic under a condition".into()));
                }
                builder.vectorize(false);
            }
        }
        let recipe = Recipe { steps: [&self.first[..], &builder.steps].concat() };
        scan::generate(builder.schedule, &self.nest).map(|_| recipe).map_err(Unfit::Unwritable)
    }

    fn made(&mut self, template: &Template) -> Result<&Made, Unfit> {
        if !self.has_loops() {
            return Err(Unfit::Inapplicable("no loop of the nest has bounds that can be analysed".into()));
        }
        let own = match template.strategy {
            Strategy::Loops(_)
            | Strategy::Crossings
            | Strategy::Regions
            | Strategy::Merged
            | Strategy::WrittenOut
            | Strategy::Fissioned => None,
            Strategy::PackedContraction(_) | Strategy::Factor { .. } | Strategy::TimeTiles { .. } => {
                match template.threads {
                    Threads::One => None,
                    Threads::Outer(shares) => Some(shares),
                    Threads::Strips { .. } => Some(Shares::Fitting),
                }
            }
        };
        let key = (template.strategy, own);
        if !self.made.contains_key(&key) {
            let made = self.make(&template.strategy, own);
            self.made.insert(key, made);
        }
        self.made[&key].as_ref().map_err(Unfit::clone)
    }

    fn make(&self, strategy: &Strategy, shares: Option<Shares>) -> Result<Made, Unfit> {
        let builder = Builder::new(&self.schedule, self.policy, &self.machine);
        let whole = |builder| Made { builder, refused: Vec::new() };
        match strategy {
            Strategy::Loops(loops) => self.loops(builder, loops).map(whole),
            Strategy::PackedContraction(blocks) => self.contract(builder, blocks, shares),
            Strategy::Factor { steps, blocks } => {
                factor::blocked(&builder, &self.products, *steps, blocks, shares).map(whole)
            }
            Strategy::TimeTiles { steps, rows } => {
                stencil::time_tiles(builder, (*steps, *rows), shares).map(whole)
            }
            Strategy::Crossings => split::at_crossings(builder).map(whole),
            Strategy::Regions => split::at_conditions(builder).map(whole),
            Strategy::Merged => merge::with_shifts(builder).map(whole),
            Strategy::WrittenOut => write_out::short_loops(builder).map(whole),
            Strategy::Fissioned => fission::at_kinds(builder).map(whole),
        }
    }

    fn loops(&self, mut builder: Builder, loops: &Loops) -> Result<Builder, Unfit> {
        if let Order::Ranked { rank, independent, fuse } = loops.order {
            let preference = Preference {
                nth: rank.into(),
                parallel_from: match independent {
                    Independent::Anywhere | Independent::Innermost => None,
                    Independent::Outer => Some(0),
                    Independent::Inner => Some(1),
                },
                parallel_last: independent == Independent::Innermost,
                fuse,
                ..Preference::default()
            };
            self.reorder(&mut builder, &preference)?;
        }
        if let Some(share) = loops.tile {
            tile::tile(&mut builder, share.bytes(&self.machine))
                .map_err(|reason| Unfit::Inapplicable(reason.text))?;
        }
        if let Some(jam) = loops.jam {
            tile::jam(&mut builder, jam).map_err(|reason| Unfit::Inapplicable(reason.text))?;
        }
        Ok(builder)
    }

    fn reorder(&self, builder: &mut Builder, preference: &Preference) -> Result<(), Unfit> {
        let schedules = order::order(&self.schedule, self.policy, preference)
            .ok_or_else(|| Unfit::Inapplicable("there is no such legal loop order".into()))?;
        builder
            .step(Transformation::Reorder(Reorder { schedules }))
            .map_err(|reason| Unfit::Refused(vec![reason]))
    }

    /// Every product in blocks; the rest of the nest in separate loops.
    fn contract(
        &self,
        mut builder: Builder,
        blocks: &BlockShape,
        shares: Option<Shares>,
    ) -> Result<Made, Unfit> {
        if self.products.is_empty() {
            return Err(Unfit::Inapplicable("no statement sums up products over three loops".into()));
        }
        let mut refused = Vec::new();
        let start = builder.clone();
        let many = self.products.iter().any(|product| product.many.is_some());
        // Over all their loops, or at least over three.
        for all in Vec::from_iter(many.then_some(true).into_iter().chain([false])) {
            let innermost = self.products.iter().map(|product| {
                let [rows, columns, depth] = product.loops(all);
                (product.stmt, [rows, depth, columns].concat())
            });
            let preference = Preference {
                innermost: innermost.collect(),
                parallel_from: Some(0),
                ..Preference::default()
            };
            builder = start.clone();
            self.reorder(&mut builder, &preference)?;
            refused = Vec::new();
            for product in &self.products {
                refused.extend(builder.contract(product.stmt, &product.loops(all), blocks, shares).err());
            }
            if refused.len() < self.products.len() {
                break;
            }
        }
        if refused.len() < self.products.len() {
            Ok(Made { builder, refused })
        } else {
            Err(Unfit::Refused(refused))
        }
    }

    fn templates(&self) -> Vec<Template> {
        let team = self.machine.threads > 1;
        let mut found = Vec::new();
        for strategy in self.strategies() {
            let mut variants = vec![Threads::One];
            // Loops that run behind each other are for one thread; a part is cut off for the sake of several.
            if strategy == Strategy::Fissioned {
                variants = Vec::from_iter(team.then_some(Threads::Outer(Shares::Fitting)));
            } else if team && strategy != Strategy::Merged {
                variants = vec![Threads::Outer(Shares::Fitting), Threads::Strips { width: STRIP }];
                // A wavefront is made to be shared.
                if !matches!(strategy, Strategy::TimeTiles { .. }) {
                    variants.push(Threads::One);
                }
            }
            let in_order = Strategy::Loops(Loops { order: Order::Source, tile: None, jam: None });
            if strategy == in_order && Builder::new(&self.schedule, self.policy, &self.machine).has_batches()
            {
                let shared = if team { Threads::Outer(Shares::Fitting) } else { Threads::One };
                let in_batches = |threads| Template { lanes: Lanes::Batches, ..usual(strategy, threads) };
                found.extend([shared, Threads::One].map(in_batches));
            }
            found.extend(variants.into_iter().map(|threads| usual(strategy, threads)));
        }
        found
    }

    fn strategies(&self) -> Vec<Strategy> {
        let loops = |order| Strategy::Loops(Loops { order, tile: None, jam: None });
        let ranked = |rank, independent, fuse| loops(Order::Ranked { rank, independent, fuse });
        let mut found = vec![loops(Order::Source), Strategy::Fissioned];
        if !self.products.is_empty() {
            found.push(Strategy::PackedContraction(BlockShape::USUAL));
        }
        for independent in [Independent::Outer, Independent::Anywhere] {
            found.extend([true, false].map(|fuse| ranked(0, independent, fuse)));
        }
        let deepest = self.schedule.paths().iter().map(Vec::len).max().unwrap_or(0);
        if deepest >= 2 {
            found.push(ranked(0, Independent::Innermost, true));
            found.extend((1..4).map(|rank| ranked(rank, Independent::Inner, true)));
        }
        let tiles: &[(u16, u16)] = match deepest {
            0 | 1 => &[],
            2 => &[(16, 256), (32, 1024)],
            3 => &[(8, 32), (16, 32), (4, 16), (16, 64)],
            _ => &[(4, 4), (4, 8), (8, 8)],
        };
        found.extend(tiles.iter().map(|(steps, rows)| Strategy::TimeTiles { steps: *steps, rows: *rows }));
        found.extend([Strategy::Crossings, Strategy::Regions, Strategy::WrittenOut]);
        if self.schedule.roots.len() > 1 {
            found.push(Strategy::Merged);
        }
        if !self.products.is_empty() && self.schedule.statements.len() > 1 {
            found.push(Strategy::Factor { steps: 64, blocks: BlockShape::USUAL });
        }
        found
    }
}
