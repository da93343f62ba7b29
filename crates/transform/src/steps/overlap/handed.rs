//! Which arrays the loops hand on in temporaries of a tile, and what each tile computes of every loop.

use super::border::Border;
use super::chain::{Chain, Group};
use crate::refusal::Reason;
use oxeye_analysis::is_covered;
use oxeye_ir::{Access, Affine, ArrayId, Expr, Loop, LoopId, Storage};
use std::collections::BTreeMap;

/// An array that one loop computes for itself and later ones, instance by instance.
pub(super) struct Handed {
    /// The loop that writes it.
    pub(super) writer: usize,
    /// Of each tiled loop, the dimension that its iterator indexes, and what is added to that where it is written.
    pub(super) dims: Vec<(usize, Affine)>,
    /// Loops that read it; of each tiled loop, how many iterations further the instances are that wrote what is read: the least
    /// and the greatest number.
    reads: Vec<(usize, Vec<Halo>)>,
    /// What is read of it besides.
    pub(super) border: Option<Border>,
}

/// What a tile computes of a loop beyond the iterations that are its own: from so many iterations before its first one (if
/// negative) to so many behind its last one.
pub(super) type Halo = (i64, i64);

/// Which of the loops that take part.
fn ordinal(k: usize) -> String {
    match ["first", "second", "third", "fourth", "fifth", "sixth"].get(k) {
        Some(word) => (*word).to_owned(),
        None => format!("{}th", k + 1),
    }
}

/// What tiles compute.
pub(super) struct Plan {
    pub(super) handed: BTreeMap<ArrayId, Handed>,
    /// Of each loop, one for each loop that is tiled.
    pub(super) halos: Vec<Vec<Halo>>,
}

/// The dimension that an iterator indexes in an access together with something that is the same for all iterations, and that.
fn dimension_of(access: &Access, iterator: LoopId) -> Option<(usize, Affine)> {
    let offset = |index: &Expr| Some(index.as_affine()?.clone() - Affine::var(iterator));
    let mut offsets = access.indices.iter().map(offset).enumerate();
    offsets.find_map(|(dim, offset)| Some((dim, offset.filter(|offset| offset.loops().next().is_none())?)))
}

/// Of each tiled loop, how many iterations further the instances are that write what an access of a loop names: the least and
/// the greatest number.
fn apart(chain: &Chain, access: &Access, dims: &[(usize, Affine)]) -> Option<Vec<Halo>> {
    let of_loop = |(l, (dim, at)): (&Loop, &(usize, Affine))| {
        let index = access.indices.get(*dim)?.as_affine()?.clone();
        chain.range(&(index - Affine::var(l.id) - at.clone()))
    };
    chain.loops.iter().zip(dims).map(of_loop).collect()
}

impl Handed {
    /// The array as one that is handed on, or why it is none.
    fn of(group: &Group, id: ArrayId) -> Result<Self, String> {
        let (array, name) = (group.program.array(id), group.name(id));
        let mut writers = (0..group.chains.len()).filter(|k| group.chains[*k].writes(id));
        let (Some(writer), None) = (writers.next(), writers.next()) else {
            return Err(format!("not exactly one of the loops writes `{name}`"));
        };
        if group.chains[..writer].iter().any(|chain| chain.uses(id)) {
            return Err(format!("a loop before uses `{name}`, too"));
        }
        let is_reshaped = group.program.reshapes.iter().any(|(a, b)| *a == id || *b == id);
        let is_rotated = group.nest.rotations.iter().any(|rotation| rotation.pointers.contains(&id));
        if is_reshaped || is_rotated || matches!(array.storage, Storage::Body(_) | Storage::Temp(Some(_))) {
            return Err(format!("`{name}` has other names as well"));
        }
        let not_indexed = || {
            format!("`{name}` is not indexed by iterators of the tiled loops plus constants or short loops")
        };
        let targets = group.chains[writer].accesses.iter().filter(|(access, w)| *w && access.array == id);
        let target = targets.map(|(access, _)| access).next().ok_or_else(not_indexed)?;
        let iterators = group.chains[writer].loops.iter().map(|l| dimension_of(target, l.id));
        let dims: Vec<(usize, Affine)> = iterators.collect::<Option<_>>().ok_or_else(not_indexed)?;
        let mut reads: Vec<(usize, Vec<Halo>)> = Vec::new();
        for (k, chain) in group.chains.iter().enumerate() {
            for (access, _) in chain.accesses.iter().filter(|(access, _)| access.array == id) {
                let apart = apart(chain, access, &dims).ok_or_else(not_indexed)?;
                if k != writer {
                    reads.push((k, apart));
                } else if apart.iter().any(|n| *n != (0, 0)) {
                    return Err(format!("one iteration uses what another computes of `{name}`"));
                }
            }
        }
        let is_known = |(dim, extent): (usize, &Option<Expr>)| {
            extent.is_some() || dims.iter().any(|(tiled, _)| *tiled == dim)
        };
        if !array.shape.iter().enumerate().all(is_known) {
            return Err(format!("how long rows of `{name}` are is not known"));
        }
        let border = match is_covered(group.program, &group.nest, id, &[]) {
            true => None,
            false => Some(Border::of(group, writer, id).ok_or_else(|| {
                format!("elements of `{name}` may be read that the loops do not write before")
            })?),
        };
        Ok(Self { writer, dims, reads, border })
    }
}

impl Plan {
    /// Hands on what has to be handed on, and what nobody reads behind the nest.
    ///
    /// # Errors
    /// If an array has to be handed on that cannot be.
    pub(super) fn of(group: &Group) -> Result<Self, Reason> {
        let mut handed = BTreeMap::new();
        let mut refused = None;
        for id in group.nest.arrays().into_iter().filter(|id| group.is_dead(*id) && !group.is_private(*id)) {
            match Handed::of(group, id) {
                Ok(found) if !found.reads.is_empty() => drop(handed.insert(id, found)),
                Ok(_) => {}
                Err(why) => drop(refused.get_or_insert(why)),
            }
        }
        let mut plan = Self { handed, halos: Vec::new() };
        loop {
            plan.halos = plan.halos(group);
            let Some((id, why)) = plan.missing(group) else { break };
            let found = Handed::of(group, id)
                .map_err(|refused| Reason::unsupported(format!("{why}, and {refused}")))?;
            plan.handed.insert(id, found);
        }
        if plan.handed.is_empty() {
            let why = refused.map(|why| format!(": {why}")).unwrap_or_default();
            return Err(Reason::unsupported(format!("there is no array that tiles could hand on{why}")));
        }
        Ok(plan)
    }

    /// Whether others than later loops may read what the loop writes, so that each iteration belongs to one tile.
    pub(super) fn has_results(&self, group: &Group, chain: &Chain) -> bool {
        let is_result = |id: &ArrayId| match self.handed.contains_key(id) {
            true => !group.is_dead(*id),
            false => !group.is_private(*id),
        };
        chain.written().iter().any(is_result)
    }

    /// What later loops need of each loop.
    fn halos(&self, group: &Group) -> Vec<Vec<Halo>> {
        let mut halos: Vec<Vec<Halo>> = vec![Vec::new(); group.chains.len()];
        for k in (0..group.chains.len()).rev() {
            let mut needed: Vec<Vec<Halo>> = Vec::new();
            for handed in self.handed.values().filter(|handed| handed.writer == k) {
                needed.extend(handed.reads.iter().map(|(reader, apart)| {
                    let of = halos[*reader].iter().zip(apart);
                    of.map(|((from, to), (least, greatest))| (from + least, to + greatest)).collect()
                }));
            }
            if needed.is_empty() || self.has_results(group, &group.chains[k]) {
                needed.push(vec![(0, 0); group.n_tiled]);
            }
            let widest = |d: usize| {
                let all = needed.iter().map(|halo| halo[d]);
                all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default()
            };
            halos[k] = (0..group.n_tiled).map(widest).collect();
        }
        halos
    }

    fn is_repeated(&self, k: usize) -> bool {
        self.halos[k].iter().any(|halo| *halo != (0, 0))
    }

    /// An array that has to be handed on and is not yet, and why.
    fn missing(&self, group: &Group) -> Option<(ArrayId, String)> {
        for (k, chain) in group.chains.iter().enumerate().filter(|(k, _)| self.is_repeated(*k)) {
            let is_kept = |id: &ArrayId| group.is_private(*id) || self.handed.contains_key(id);
            if let Some(id) = chain.written().into_iter().find(|id| !is_kept(id)) {
                let (l, name) = (ordinal(k), group.name(id));
                return Some((id, format!("several tiles need the {l} loop, which writes `{name}`")));
            }
        }
        let is_broken = |(first, second): (usize, usize), is_ordered: bool| {
            !is_ordered || (first != second && (self.is_repeated(first) || self.is_repeated(second)))
        };
        let own = group.conflicts.iter().filter(|c| !self.handed.contains_key(&c.array));
        let conflict = own.into_iter().find(|c| is_broken((c.first, c.second), c.is_ordered))?;
        let name = group.name(conflict.array);
        let (first, second) = (ordinal(conflict.first), ordinal(conflict.second));
        let why = match conflict.first == conflict.second {
            true => format!("tiles would change the order in which the {first} loop uses `{name}`"),
            false => format!("the {first} and the {second} loop use `{name}` in iterations of several tiles"),
        };
        Some((conflict.array, why))
    }
}
