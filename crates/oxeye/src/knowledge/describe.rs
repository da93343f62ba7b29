//! What a nest is known by: its normal form, and where it lies among other nests.

use crate::parallel::{Panicked, guarded};
use oxeye_analysis::{executions, operations};
use oxeye_database::{EmbeddingSpace, NodeEmbedding, NormalForm};
use oxeye_embed::{
    EmbedError, Encoder, FEATURE_SCHEMA, HostVector, NestGraph, NodeKind, ProfileVector, graph, hand_made,
};
use oxeye_ir::{Program, Storage, SymId};
use oxeye_transform::templates::MOST_NORMAL_STATEMENTS;
use oxeye_transform::{NormalNest, Policy, PreparedNest};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// An encoder, and the space that its vectors are of.
#[derive(Clone, Debug)]
pub struct Embedder {
    encoder: Encoder,
    space: EmbeddingSpace,
}

/// A nest, described.
#[derive(Clone, Debug)]
pub struct NestDescription {
    /// The nest that is described.
    pub normal: NormalNest,
    /// What the database knows it by.
    pub form: NormalForm,
    /// Values of the symbols, by the names of the normal form's text.
    pub sizes: BTreeMap<String, i64>,
    /// Its features, with those of the run if there was one.
    pub graph: NestGraph,
    /// What the encoder says of it.
    pub embedding: oxeye_embed::Embedding,
    space: EmbeddingSpace,
}

/// The default encoder cannot be used: the weights do not belong to the features of this build.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the default encoder cannot be used: {0}")]
pub struct NoEncoder(pub(crate) String);

/// Why a nest has no description.
#[derive(Debug, thiserror::Error)]
pub enum Undescribed {
    /// Finding its normal form would take too long.
    #[error("a nest of more than {MOST_NORMAL_STATEMENTS} statements is not compared with others")]
    TooManyStatements,
    /// It has no statement, or numbers overflow.
    #[error(transparent)]
    NotEmbedded(#[from] EmbedError),
    /// There is no encoder.
    #[error(transparent)]
    NoEncoder(#[from] NoEncoder),
    /// A bug of ours.
    #[error(transparent)]
    Panicked(#[from] Panicked),
}

/// The kind of the nodes that hold, one part after another, where the nest lies without its profile.
const STATIC_KIND: &str = "nest";

impl Embedder {
    /// From the bytes of a file of weights.
    ///
    /// # Errors
    /// As [`oxeye_embed::Weights::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, EmbedError> {
        let encoder = Encoder::from_bytes(bytes)?;
        let model_hash = Sha256::digest(bytes).iter().take(16).fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        let number = FEATURE_SCHEMA.rsplit('/').next().and_then(|number| number.parse().ok());
        let space = EmbeddingSpace {
            feature_schema: number.unwrap_or(0),
            model: encoder.info().model_id.clone(),
            model_hash,
        };
        Ok(Self { encoder, space })
    }

    /// What its vectors can be compared with.
    pub fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    /// The encoder.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// Describes a nest under values of its program's symbols, on a machine. `seconds` is the time of one run of the
    /// nest as it is, if that is known.
    ///
    /// # Errors
    /// Why there is no description.
    pub fn describe(
        &self,
        nest: &PreparedNest<'_>,
        value_of: &dyn Fn(SymId) -> Option<i64>,
        host: &HostVector,
        policy: Policy,
        seconds: Option<f64>,
    ) -> Result<NestDescription, Undescribed> {
        if nest.nest().stmts().len() > MOST_NORMAL_STATEMENTS {
            return Err(Undescribed::TooManyStatements);
        }
        guarded(|| {
            let normal = nest.normal_form(policy).clone();
            let mut nest_graph = features(&normal, value_of, host)?;
            if let Some(seconds) = seconds {
                let gflops = flops(&normal, value_of).map(|count| 1e-9 * count / seconds);
                let profile = ProfileVector { seconds: Some(seconds), gflops, ..ProfileVector::default() };
                nest_graph = nest_graph.with_profile(&profile);
            }
            let embedding = self.encoder.embed(&nest_graph)?;
            let form = NormalForm { hash: format!("{:016x}", normal.hash), text: normal.text.clone() };
            let sizes = normal.symbols.iter().enumerate();
            let sizes = sizes.filter_map(|(k, symbol)| Some((format!("n{k}"), value_of(*symbol)?))).collect();
            Ok(NestDescription {
                normal,
                form,
                sizes,
                graph: nest_graph,
                embedding,
                space: self.space.clone(),
            })
        })?
    }
}

impl NestDescription {
    /// What its vectors can be compared with.
    pub fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    /// The vector that nests are compared by: with the profile if there was a run.
    pub fn vector(&self) -> &[f32] {
        self.embedding.profiled.as_ref().unwrap_or(&self.embedding.nest)
    }

    /// The embedding as the database keeps it: the vector, and those of the loops and statements, which are called as in
    /// the normal form's text. Nodes of kind `nest` hold the vector without the profile, in parts that end in zeros.
    pub fn stored(&self) -> oxeye_database::Embedding {
        // The nest in normal form is numbered as its text is.
        let known = self.graph.nodes.iter().zip(&self.embedding.nodes);
        let known = known.filter(|(node, _)| matches!(node.kind, NodeKind::Loop | NodeKind::Stmt));
        let mut nodes: Vec<NodeEmbedding> = known
            .map(|(node, (id, vector))| NodeEmbedding {
                id: id.clone(),
                kind: node.kind.name().into(),
                vector: vector.clone(),
            })
            .collect();
        // Vectors of nodes have one length, which need not be that of the nest's.
        let length = nodes.first().map_or(0, |node| node.vector.len());
        for (k, part) in self.embedding.nest.chunks(length.max(1)).enumerate().take_while(|_| length > 0) {
            let mut vector = part.to_vec();
            vector.resize(length, 0.0);
            nodes.push(NodeEmbedding { id: format!("{STATIC_KIND}.{k}"), kind: STATIC_KIND.into(), vector });
        }
        oxeye_database::Embedding { space: self.space.clone(), nest: self.vector().to_vec(), nodes }
    }

    /// The nest by hand-made features: the baseline without learning.
    pub fn hand_made(&self) -> Vec<f32> {
        hand_made(&self.graph)
    }
}

/// The vector without a profile that a stored embedding holds, if it does.
pub(crate) fn static_vector(embedding: &oxeye_database::Embedding) -> Option<Vec<f32>> {
    let parts = embedding.nodes.iter().filter(|node| node.kind == STATIC_KIND);
    let mut vector: Vec<f32> = parts.flat_map(|node| &node.vector).copied().collect();
    vector.truncate(embedding.nest.len());
    (vector.len() == embedding.nest.len()).then_some(vector)
}

/// The hand-made features of a stored normal form.
pub(crate) fn hand_made_of(text: &str, sizes: &BTreeMap<String, i64>, host: &HostVector) -> Option<Vec<f32>> {
    let program = Program::parse(text).ok()?;
    let nest = program.nests.values().next()?;
    let value_of = |symbol: SymId| sizes.get(&program.symbols.get(&symbol)?.name).copied();
    guarded(|| graph(&program, nest, &value_of, host)).ok()?.ok().map(|graph| hand_made(&graph))
}

/// The graph of a normal form. Where an array lives is the program's business, not the computation's: all that outlive
/// the nest count as parameters.
fn features(
    normal: &NormalNest,
    value_of: &dyn Fn(SymId) -> Option<i64>,
    host: &HostVector,
) -> Result<NestGraph, EmbedError> {
    let mut program = normal.program.clone();
    for array in program.arrays.values_mut() {
        if matches!(array.storage, Storage::Global | Storage::Local) {
            array.storage = Storage::Param;
        }
    }
    graph(&program, &normal.nest, value_of, host)
}

/// Floating-point operations of one run.
fn flops(normal: &NormalNest, value_of: &dyn Fn(SymId) -> Option<i64>) -> Option<f64> {
    let count = |stmt: &oxeye_ir::Stmt| {
        let runs = executions(&normal.nest, stmt.id, value_of)?;
        Some(runs.value * operations(&normal.program, stmt).flops() as f64)
    };
    let total: f64 = normal.nest.stmts().into_iter().map(count).sum::<Option<f64>>()?;
    (total > 0.0).then_some(total)
}
