//! What to try on a nest: what helped its donors, the panel, and the suggested schedules, as candidates with a score.

use super::align::{AlignedNode, align};
use super::donors::Donor;
use super::predict::Predict;
use super::remap::{Names, NotCarried, remap};
use super::score::{Scenario, choose, expected};
use crate::knowledge::NestDescription;
use crate::parallel::{self, guarded};
use crate::schedule::{Choice, NoRecipe, Proved, Rendering, Schedule, Unproved, instantiate, prove};
use oxeye_database::EntryId;
use oxeye_transform::templates::{Base, Instantiator, Loops, Order, Strategy, Template, panel};
use oxeye_transform::{Change, Machine, PreparedNest, Recipe, StoredRecipe, Suggestions, Transformation};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A donor of the same normal form counts as much as so many very near ones.
const EXACT_WEIGHT: f64 = 4.0;
/// The encoder's prediction counts as much as this share of all donors, and as this by itself: of families that training
/// did not see, its best three come nearer to the best than those of donors (`models/encoder.md`).
const PREDICTION_SHARE: f64 = 1.0;
const PREDICTION_ALONE: f64 = 0.5;
/// What a donor's trial says of the same template begun from another order.
const OTHER_ORDER: f64 = 0.5;
/// Only what gained more than this, log2, is taken from a donor.
const LEAST_GAIN: f64 = 0.03;

/// A nest for which advice is wanted.
pub(crate) struct Adviser<'a> {
    pub(crate) nest: &'a PreparedNest<'a>,
    pub(crate) machine: &'a Machine,
    pub(crate) how: Rendering<'a>,
    pub(crate) description: &'a NestDescription,
    pub(crate) predict: Option<&'a dyn Predict>,
    /// The distance beyond which donors say nothing, if the encoder knows it.
    pub(crate) far: Option<f64>,
    /// How many schedules to choose.
    pub(crate) k: usize,
}

/// What is known of the schedules of a nest, and which of them to measure.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The nests it comes from, those of the same normal form first, then nearest first.
    pub donors: Vec<Donor>,
    /// Which loop of each donor is which loop of this nest.
    pub aligned: Vec<Vec<AlignedNode>>,
    /// The distance beyond which donors say nothing, if the encoder knows it.
    pub far: Option<f64>,
    /// Legal schedules with different C texts.
    pub options: Vec<AdvisedOption>,
    /// Positions of those to measure, the most promising first.
    pub chosen: Vec<usize>,
    /// What could not be made for this nest, and why.
    pub refused: Vec<AdvisedRefusal>,
}

/// Something that could not be made for a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvisedRefusal {
    /// Short name for people.
    pub name: String,
    /// Why not, in words.
    pub reason: String,
    /// What it gained on which donor, if it helped one.
    pub helped: Option<String>,
    /// The recipe, if it came to one before it was refused.
    pub recipe: Option<Recipe>,
}

/// A legal schedule.
#[derive(Clone, Debug)]
pub struct AdvisedOption {
    /// The schedule, with all the templates that make it.
    pub schedule: Schedule,
    /// What it makes of the nest, until a trial has taken it.
    pub(crate) proved: Option<Arc<Proved>>,
    /// Entries whose recipe it is, if no template makes it.
    own_recipe_of: Vec<EntryId>,
    /// What is thought of it.
    pub choice: Choice,
}

/// Something to try, before it is proved.
struct Idea {
    schedule: Schedule,
    own_recipe_of: Vec<EntryId>,
    /// What it gained on which donor, if it helped one.
    helped: Option<String>,
}

impl Adviser<'_> {
    /// Proves everything that is worth a thought, and chooses. `suggested` are the nest's own suggestions.
    pub(crate) fn advise(&self, donors: Vec<Donor>, suggested: &Suggestions) -> Advice {
        let here = self.description.stored().nodes;
        let aligned: Vec<Vec<AlignedNode>> = donors.iter().map(|donor| align(&donor.nodes, &here)).collect();
        let mut refused = Vec::new();
        let ideas = self.ideas(&donors, &aligned, suggested, &mut refused);
        let mut options = self.proved(ideas, &mut refused);
        let scenarios = self.scenarios(&donors, &options);
        let chosen = choose(&scenarios, options.len(), self.k);
        for (position, option) in options.iter_mut().enumerate() {
            option.choice.expected = expected(&scenarios, position);
            self.name_donor(option, position, &donors, &scenarios);
        }
        Advice { donors, aligned, far: self.far, options, chosen, refused }
    }

    /// Ideas with different recipes: what helped donors, then the suggestions, then the panel.
    fn ideas(
        &self,
        donors: &[Donor],
        aligned: &[Vec<AlignedNode>],
        suggested: &Suggestions,
        refused: &mut Vec<AdvisedRefusal>,
    ) -> Vec<Idea> {
        let mut made = self.instantiated(suggested);
        let mut ideas = Ideas { ideas: Vec::new(), refused };
        for (donor, aligned) in donors.iter().zip(aligned) {
            for trial in donor.trials.iter().filter(|trial| trial.log_gain > LEAST_GAIN) {
                let helped = Some(format!("gained {:.2}x on {}", trial.log_gain.exp2(), donor.in_words()));
                let steps = match &trial.recipe {
                    Ok(StoredRecipe { template: Some(template), .. }) => {
                        ideas.add_template(template, &mut made, helped);
                        continue;
                    }
                    Ok(StoredRecipe { template: None, steps }) => self.carried(steps, donor, aligned),
                    Err(why) => Err(NotCarried::Unreadable(why.clone())),
                };
                let mut name = format!("steps of {}", donor.what());
                // Names tell the candidates of a nest apart.
                let n_alike = ideas.ideas.iter().filter(|i| i.schedule.name.starts_with(&name)).count();
                if n_alike > 0 {
                    name += &format!(" ({})", n_alike + 1);
                }
                match steps {
                    Ok(recipe) => {
                        let schedule = Schedule { name, templates: Vec::new(), recipe };
                        ideas.add(Idea { schedule, own_recipe_of: vec![trial.id], helped });
                    }
                    Err(why) => ideas.refuse(name, why.to_string(), helped),
                }
            }
        }
        for suggestion in &suggested.recipes {
            ideas.add(Idea::of(suggestion.template, suggestion.recipe.clone(), None));
        }
        for template in panel() {
            ideas.add_template(template, &mut made, None);
        }
        ideas.ideas
    }

    /// Makes templates into recipes for this nest, each once.
    fn instantiated<'s>(&'s self, suggested: &Suggestions) -> Made<'s> {
        let known = suggested.recipes.iter().map(|s| (s.template, Ok(s.recipe.clone()))).collect();
        let instantiator = Instantiator::of(self.nest, self.machine, self.how.policy);
        Made { known, instantiator, is_normal: self.description.normal.change == Change::Spelling }
    }

    /// A donor's recipe that no template makes, in the words of this nest.
    fn carried(&self, recipe: &Recipe, donor: &Donor, aligned: &[AlignedNode]) -> Result<Recipe, NotCarried> {
        if speaks_of_normal_form(recipe) {
            let n_loops = |nodes: &[AlignedNode]| nodes.iter().filter(|node| node.kind == "loop").count();
            let n_here = self.description.normal.nest.loops().len();
            let n_donor = donor.nodes.iter().filter(|node| node.kind == "loop").count();
            if n_loops(aligned) == 0 {
                return Err(NotCarried::UnknownLoops);
            }
            return Ok(remap(recipe, &Names::of(aligned, n_donor, n_here))?);
        }
        if donor.exact {
            // Its loops may be called otherwise there: then the judge says so, or it is another schedule, as legal.
            return Ok(recipe.clone());
        }
        Err(NotCarried::AnotherSource)
    }

    /// Proves every idea and merges those with the same C text.
    fn proved(&self, ideas: Vec<Idea>, refused: &mut Vec<AdvisedRefusal>) -> Vec<AdvisedOption> {
        let proofs = parallel::map(&ideas, |idea| self.proof(&idea.schedule));
        let mut options: Vec<AdvisedOption> = Vec::new();
        for (idea, proof) in ideas.into_iter().zip(proofs) {
            let Idea { schedule, own_recipe_of, helped } = idea;
            let (proved, predicted) = match proof.map_err(Unproved::from).and_then(|proof| proof) {
                Ok(found) => found,
                Err(why) => {
                    let Schedule { name, recipe, .. } = schedule;
                    refused.push(AdvisedRefusal {
                        name,
                        reason: why.to_string(),
                        helped,
                        recipe: Some(recipe),
                    });
                    continue;
                }
            };
            let same = options.iter_mut().find(|option| option.text() == Some(proved.text.as_str()));
            match same {
                Some(same) => {
                    same.schedule.templates.extend(schedule.templates);
                    same.own_recipe_of.extend(own_recipe_of);
                    same.choice.predicted = mean([same.choice.predicted, predicted]);
                }
                None => options.push(AdvisedOption {
                    schedule,
                    proved: Some(Arc::new(proved)),
                    own_recipe_of,
                    choice: Choice { predicted, ..Choice::default() },
                }),
            }
        }
        options
    }

    /// Proves a schedule and asks what it would gain; a bug in the prediction costs no more than the prediction.
    fn proof(&self, schedule: &Schedule) -> Result<(Proved, Option<f64>), Unproved> {
        let proved = prove(self.how, self.nest, &schedule.recipe)?;
        let predicted = self.predict.and_then(|predict| {
            guarded(|| predict.log_speedup(&schedule.templates, &proved.applied)).ok().flatten()
        });
        Ok((proved, predicted))
    }

    /// Every donor is a scenario, and so is the prediction.
    fn scenarios(&self, donors: &[Donor], options: &[AdvisedOption]) -> Vec<Scenario> {
        let scale = self.scale(donors);
        let of_donor = |donor: &Donor| {
            let likeness = donor.trials.iter().map(|trial| trial.likeness).fold(0.0, f64::max);
            let nearness = match donor.distance {
                _ if donor.exact => EXACT_WEIGHT,
                Some(distance) => (-(distance / scale).powi(2)).exp(),
                None => 1.0,
            };
            let gains = options.iter().map(|option| option.gain_on(donor)).collect();
            Scenario { weight: nearness * likeness, gains }
        };
        let mut scenarios: Vec<Scenario> = donors.iter().map(of_donor).collect();
        let predicted: Vec<Option<f64>> = options.iter().map(|option| option.choice.predicted).collect();
        if predicted.iter().any(Option::is_some) {
            let all: f64 = scenarios.iter().map(|s| s.weight).sum();
            scenarios.push(Scenario { weight: PREDICTION_ALONE + PREDICTION_SHARE * all, gains: predicted });
        }
        scenarios
    }

    /// The distance at which a donor's word is worth a third. Where nothing is known of distances, the donors' own.
    fn scale(&self, donors: &[Donor]) -> f64 {
        let near: Vec<f64> = donors.iter().filter(|d| !d.exact).filter_map(|d| d.distance).collect();
        let mean = near.iter().sum::<f64>() / near.len().max(1) as f64;
        self.far.map_or(mean, |far| far / 2.0).max(f64::MIN_POSITIVE)
    }

    /// The donor that speaks for an option most.
    fn name_donor(
        &self,
        option: &mut AdvisedOption,
        position: usize,
        donors: &[Donor],
        scenarios: &[Scenario],
    ) {
        let word =
            |idx: usize| Some(scenarios[idx].weight * scenarios[idx].gains[position].filter(|g| *g > 0.0)?);
        let told = (0..donors.len()).filter_map(|idx| Some((idx, word(idx)?)));
        // The first of equals.
        let most = told.reduce(|first, other| if other.1 > first.1 { other } else { first });
        if let Some((idx, _)) = most {
            option.choice.donor_idx = Some(idx);
            option.choice.donor = Some(donors[idx].label());
            option.choice.distance = donors[idx].distance;
        }
    }
}

impl AdvisedOption {
    /// The C block, until a trial has taken it.
    pub(crate) fn text(&self) -> Option<&str> {
        self.proved.as_ref().map(|proved| proved.text.as_str())
    }

    /// log2 of what it gained on a donor, over all trials by how much their circumstances are like those here; `None` if it
    /// was not tried there.
    pub(crate) fn gain_on(&self, donor: &Donor) -> Option<f64> {
        let told = donor.trials.iter().filter_map(|trial| {
            let likeness = match &trial.recipe {
                Ok(StoredRecipe { template: Some(template), .. }) => self.likeness(template)?,
                _ => f64::from(u8::from(self.own_recipe_of.contains(&trial.id))),
            };
            Some((trial.likeness * likeness, trial.log_gain))
        });
        let (weight, sum) = told.fold((0.0, 0.0), |(weight, sum), (w, gain)| (weight + w, sum + w * gain));
        (weight > 0.0).then(|| sum / weight)
    }

    /// How much a template is like those that make this option, from 0 to 1; `None` if it is another one.
    fn likeness(&self, template: &Template) -> Option<f64> {
        let same = self
            .schedule
            .templates
            .iter()
            .filter(|own| Template { base: template.base, ..**own } == *template);
        let alike =
            |own: &Template| if own.base == template.base || !keeps_order(own) { 1.0 } else { OTHER_ORDER };
        same.map(alike).reduce(f64::max)
    }
}

/// Whether a template keeps the order of the loops that it starts from.
fn keeps_order(template: &Template) -> bool {
    matches!(template.strategy, Strategy::Loops(Loops { order: Order::Source, .. }))
}

/// Whether the steps speak of the loops of the normal form and not of the source's.
fn speaks_of_normal_form(recipe: &Recipe) -> bool {
    matches!(recipe.steps.first(), Some(Transformation::Normalize(_)))
}

/// Of those that are known.
fn mean(values: [Option<f64>; 2]) -> Option<f64> {
    match values {
        [Some(a), Some(b)] => Some(0.5 * (a + b)),
        [a, b] => a.or(b),
    }
}

impl Idea {
    fn of(template: Template, recipe: Recipe, helped: Option<String>) -> Self {
        Self { schedule: Schedule::of_template(template, recipe), own_recipe_of: Vec::new(), helped }
    }
}

/// Templates as recipes for one nest.
struct Made<'a> {
    known: BTreeMap<Template, Result<Recipe, NoRecipe>>,
    instantiator: Instantiator<'a>,
    /// Whether the nest is its own normal form.
    is_normal: bool,
}

impl Made<'_> {
    fn one(&mut self, template: &Template) -> Result<Recipe, NoRecipe> {
        let instantiator = &mut self.instantiator;
        self.known.entry(*template).or_insert_with(|| instantiate(instantiator, template)).clone()
    }

    /// A template, begun from the source and from the normal form: both where it keeps the order it starts from, which are
    /// different schedules then, the one that it was meant for first; else the normal form only if the source will not do.
    ///
    /// # Errors
    /// Why neither will do.
    fn all(&mut self, template: &Template) -> Result<Vec<(Template, Recipe)>, NoRecipe> {
        let from = |base| Template { base, ..*template };
        let order = match template.base {
            _ if self.is_normal => vec![Base::Source],
            Base::Normal if keeps_order(template) => vec![Base::Normal, Base::Source],
            Base::Source | Base::Normal => vec![Base::Source, Base::Normal],
        };
        let (mut found, mut why) = (Vec::new(), None);
        for template in order.into_iter().map(from) {
            if !found.is_empty() && !keeps_order(&template) {
                break;
            }
            match self.one(&template) {
                Ok(recipe) => found.push((template, recipe)),
                Err(reason) => why = why.or(Some(reason)),
            }
        }
        match why {
            Some(why) if found.is_empty() => Err(why),
            _ => Ok(found),
        }
    }
}

/// Ideas with different recipes, and what came to none.
struct Ideas<'r> {
    ideas: Vec<Idea>,
    refused: &'r mut Vec<AdvisedRefusal>,
}

impl Ideas<'_> {
    fn add_template(&mut self, template: &Template, made: &mut Made<'_>, helped: Option<String>) {
        match made.all(template) {
            Ok(found) => {
                for (template, recipe) in found {
                    self.add(Idea::of(template, recipe, helped.clone()));
                }
            }
            Err(why) => self.refuse(template.title(), why.to_string(), helped),
        }
    }

    /// What leaves the nest as it is is no idea.
    fn add(&mut self, idea: Idea) {
        if idea.schedule.recipe.steps.is_empty() {
            return;
        }
        match self.ideas.iter_mut().find(|known| known.schedule.recipe == idea.schedule.recipe) {
            Some(same) => {
                let known = &mut same.schedule.templates;
                for template in idea.schedule.templates {
                    if !known.contains(&template) {
                        known.push(template);
                    }
                }
                same.own_recipe_of.extend(idea.own_recipe_of);
            }
            None => self.ideas.push(idea),
        }
    }

    /// Once, with the donor that it helped most.
    fn refuse(&mut self, name: String, reason: String, helped: Option<String>) {
        if self.refused.iter().all(|known| known.name != name) {
            self.refused.push(AdvisedRefusal { name, reason, helped, recipe: None });
        }
    }
}

impl AdvisedRefusal {
    /// What was refused, and whom it helped.
    pub fn what(&self) -> String {
        match &self.helped {
            Some(helped) => format!("{} ({helped})", self.name),
            None => self.name.clone(),
        }
    }
}

impl Advice {
    /// Why nobody's word counts here; `None` if somebody's does. Where donors are too far away, the encoder still ranks what
    /// the nest itself suggests.
    pub(crate) fn useless(&self) -> Option<String> {
        if self.options.iter().any(|option| option.choice.predicted.is_some()) {
            return None;
        }
        if self.donors.is_empty() {
            return Some("the recipe database knows no other nest".into());
        }
        let far = self.far?;
        let nearest = self.donors.iter().filter_map(|donor| donor.distance).reduce(f64::min)?;
        (nearest > far).then(|| {
            format!("the nearest nest of the recipe database is at a distance of {nearest:.2}, and beyond {far:.2} others say nothing")
        })
    }
}
