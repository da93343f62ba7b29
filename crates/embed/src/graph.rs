//! The nest as a graph of loops, statements, accesses and arrays.

use crate::schema::{FEATURE_SCHEMA, Feature, FeatureList, N_EDGE, N_HOST, N_NODE, N_PROFILE};
use crate::vector::Features;
use crate::{AccessFeature, ArrayFeature, EmbedError, LoopFeature, ProfileVector, StmtFeature};
use serde::{Deserialize, Serialize};

/// A nest with sizes and a machine, as numbers. Made by [`crate::graph`]; the order of nodes and edges depends neither
/// on names nor on ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NestGraph {
    /// [`FEATURE_SCHEMA`].
    pub schema: String,
    /// Loops, statements, accesses, then arrays.
    pub nodes: Vec<Node>,
    /// By kind, then by their ends.
    pub edges: Vec<Edge>,
    /// The machine: [`crate::HostVector::features`].
    pub host: Features<N_HOST>,
    /// A run of the original nest: [`ProfileVector::features`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Features<N_PROFILE>>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Which one: an id of the textual IR (`L0`, `S1`, `A2`), or an access as its statement and its position in
    /// [`oxeye_analysis::StmtModel::accesses`] (`S1.0`).
    pub id: String,
    /// [`LoopFeature`], [`StmtFeature`], [`AccessFeature`] or [`ArrayFeature`].
    pub features: Features<N_NODE>,
}

/// A directed edge. The encoder follows edges both ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// What it says.
    pub kind: EdgeKind,
    /// Position of its start in [`NestGraph::nodes`].
    pub from: usize,
    /// Position of its end in [`NestGraph::nodes`].
    pub to: usize,
    /// [`crate::EdgeFeature`].
    pub features: Features<N_EDGE>,
}

/// Kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// A loop.
    Loop,
    /// A statement.
    Stmt,
    /// One access of a statement.
    Access,
    /// An array or scalar.
    Array,
}

impl NodeKind {
    /// All kinds, in the order of the readout.
    pub const ALL: [NodeKind; 4] = [NodeKind::Loop, NodeKind::Stmt, NodeKind::Access, NodeKind::Array];

    /// In one lower-case word, as in the names of tensors.
    pub fn name(self) -> &'static str {
        match self {
            NodeKind::Loop => "loop",
            NodeKind::Stmt => "stmt",
            NodeKind::Access => "access",
            NodeKind::Array => "array",
        }
    }

    /// What the features of such a node mean.
    pub fn table(self) -> &'static [Feature] {
        match self {
            NodeKind::Loop => LoopFeature::TABLE,
            NodeKind::Stmt => StmtFeature::TABLE,
            NodeKind::Access => AccessFeature::TABLE,
            NodeKind::Array => ArrayFeature::TABLE,
        }
    }
}

/// Kinds of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    /// From a loop to a loop directly inside; guards are looked through.
    Nest,
    /// From a loop to a statement directly inside; guards are looked through.
    Body,
    /// From a statement to one of its accesses.
    Access,
    /// From an access to its array.
    Array,
    /// From an access to each loop around it.
    Stride,
    /// From a statement to one that reads what it wrote in the same iteration of all common loops.
    Flow,
    /// From a statement to one that must stay behind it in each iteration because it overwrites an element.
    Order,
    /// From a statement to one that depends on it in a later iteration.
    Carried,
    /// From a loop to a statement that depends on one of its earlier iterations.
    Carries,
}

impl EdgeKind {
    /// All kinds, in the order of the rounds.
    pub const ALL: [EdgeKind; 9] = [
        EdgeKind::Nest,
        EdgeKind::Body,
        EdgeKind::Access,
        EdgeKind::Array,
        EdgeKind::Stride,
        EdgeKind::Flow,
        EdgeKind::Order,
        EdgeKind::Carried,
        EdgeKind::Carries,
    ];

    /// In one lower-case word, as in the names of tensors.
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Nest => "nest",
            EdgeKind::Body => "body",
            EdgeKind::Access => "access",
            EdgeKind::Array => "array",
            EdgeKind::Stride => "stride",
            EdgeKind::Flow => "flow",
            EdgeKind::Order => "order",
            EdgeKind::Carried => "carried",
            EdgeKind::Carries => "carries",
        }
    }

    /// What it joins: from and to.
    pub fn ends(self) -> (NodeKind, NodeKind) {
        match self {
            EdgeKind::Nest => (NodeKind::Loop, NodeKind::Loop),
            EdgeKind::Body | EdgeKind::Carries => (NodeKind::Loop, NodeKind::Stmt),
            EdgeKind::Access => (NodeKind::Stmt, NodeKind::Access),
            EdgeKind::Array => (NodeKind::Access, NodeKind::Array),
            EdgeKind::Stride => (NodeKind::Access, NodeKind::Loop),
            EdgeKind::Flow | EdgeKind::Order | EdgeKind::Carried => (NodeKind::Stmt, NodeKind::Stmt),
        }
    }
}

impl NestGraph {
    /// The same graph with the profile of a run of the original nest.
    pub fn with_profile(mut self, profile: &ProfileVector) -> Self {
        self.profile = Some(profile.features());
        self
    }

    /// The nodes of one kind.
    pub fn nodes_of(&self, kind: NodeKind) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| node.kind == kind)
    }

    /// Checks that [`crate::graph`] could have made this graph: right schema, edges between nodes of the right kinds,
    /// finite numbers only. Graphs from files may fail.
    ///
    /// # Errors
    /// [`EmbedError::OtherSchema`] and [`EmbedError::UnsoundGraph`].
    pub fn check(&self) -> Result<(), EmbedError> {
        if self.schema != FEATURE_SCHEMA {
            return Err(EmbedError::OtherSchema { found: self.schema.clone() });
        }
        let unsound = |what: String| Err(EmbedError::UnsoundGraph(what));
        if self.nodes.is_empty() {
            return unsound("it has no nodes".into());
        }
        if let Some(node) = self.nodes.iter().find(|node| !node.features.is_finite()) {
            return unsound(format!("node {} has features that are not finite", node.id));
        }
        for (idx, edge) in self.edges.iter().enumerate() {
            let kind = |end: usize| self.nodes.get(end).map(|node| node.kind);
            let (from, to) = edge.kind.ends();
            if kind(edge.from) != Some(from) || kind(edge.to) != Some(to) {
                let name = edge.kind.name();
                return unsound(format!(
                    "edge {idx} of kind {name} does not join a {} with a {}",
                    from.name(),
                    to.name()
                ));
            }
            if !edge.features.is_finite() {
                return unsound(format!("edge {idx} has features that are not finite"));
            }
        }
        if !self.host.is_finite() || self.profile.as_ref().is_some_and(|profile| !profile.is_finite()) {
            return unsound("host or profile features are not finite".into());
        }
        Ok(())
    }
}
