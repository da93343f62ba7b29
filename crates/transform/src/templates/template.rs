//! Templates as values, and their titles.

use super::machine::Machine;
use serde::{Deserialize, Serialize};

/// A strategy for loop nests, with its parameters. See the [module](super).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    /// What the strategy starts from.
    pub base: Base,
    /// What is done with the loops.
    pub strategy: Strategy,
    /// How work is shared among threads.
    pub threads: Threads,
    /// Which innermost loops run in vector lanes.
    pub lanes: Lanes,
}

/// What a strategy starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// The nest as it stands in the source.
    Source,
    /// Its [normal form](crate::normalize_nest), which other spellings of the same computation share.
    Normal,
}

/// What is done with the loops of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// Loop order, cache tiles, and unrolling.
    Loops(Loops),
    /// Sums of products in packed cache blocks around a register tile.
    PackedContraction(BlockShape),
    /// A factorization such as LU in blocks of elimination steps.
    Factor {
        /// Elimination steps per block.
        steps: u16,
        /// Block sizes of the update after a block.
        blocks: BlockShape,
    },
    /// Sweeps inside a time loop, in tiles of several time steps on a wavefront. The length of a row depends on the
    /// nest's symbols, so the sizes are not shares of caches.
    TimeTiles {
        /// Time steps per tile.
        steps: u16,
        /// Rows per tile.
        rows: u16,
    },
    /// Loops cut where one iterator meets another.
    Crossings,
    /// Innermost loops cut where conditions inside them change.
    Regions,
    /// Short loops written out, so that those around them are for vector lanes.
    WrittenOut,
    /// Neighbouring loops merged, the later ones shifted so that they run as soon as what they read is there.
    Merged,
    /// Loops cut so that what runs in order stands apart from what threads may share.
    Fissioned,
}

/// Loop order, cache tiles and unrolling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loops {
    /// The order of the loops.
    pub order: Order,
    /// Innermost perfect nests in tiles of equal sides whose footprint is this share.
    pub tile: Option<Share>,
    /// Unroll the loops around innermost ones this many times and fuse the copies.
    pub jam: Option<u8>,
}

/// The order of the loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// The order of the source.
    Source,
    /// A legal order by preference.
    Ranked {
        /// Rank among the legal choices for the outermost loop, best first.
        rank: u8,
        /// Where loops with independent iterations should be.
        independent: Independent,
        /// Merge neighbouring loops that agree; otherwise every group of statements gets separate loops.
        fuse: bool,
    },
}

/// Where loops with independent iterations should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Independent {
    /// Wherever strides put them.
    Anywhere,
    /// Outermost.
    Outer,
    /// As far out as possible below the outermost loop.
    Inner,
    /// Innermost: vector lanes for the recurrences around them.
    Innermost,
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cache {
    /// First-level data cache of a core.
    L1,
    /// Second-level cache of a core.
    L2,
    /// Last-level cache.
    L3,
}

/// A share of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share {
    /// The cache.
    pub cache: Cache,
    /// The divisor of its size.
    pub divisor: u8,
}

impl Share {
    /// Size in bytes on a machine.
    pub fn bytes(self, machine: &Machine) -> u64 {
        let whole = match self.cache {
            Cache::L1 => machine.l1,
            Cache::L2 => machine.l2,
            Cache::L3 => machine.l3,
        };
        whole / u64::from(self.divisor.max(1))
    }
}

/// A share of a cache, up to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capped {
    /// The share.
    pub share: Share,
    /// Most register tiles, or iterations.
    pub most: u16,
}

/// A register tile of accumulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Registers {
    /// Rows.
    pub rows: u8,
    /// Vector registers per row.
    pub vectors: u8,
}

/// Block sizes of a contraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockShape {
    /// The register tile; `None`: as many accumulators as the vector registers of the machine hold.
    pub registers: Option<Registers>,
    /// Packed rows of a block, up to a number of register tiles.
    pub rows: Capped,
    /// Depth for which a packed column panel of one register tile's width takes the share, up to a number of
    /// iterations.
    pub depth: Capped,
    /// Packed columns of a block, up to a number of register tiles.
    pub columns: Capped,
}

impl BlockShape {
    /// Rows in a quarter of L2, depth for a column panel in an eighth of it, columns in an eighth of L3.
    pub const USUAL: Self = Self {
        registers: None,
        rows: Capped { share: Share { cache: Cache::L2, divisor: 4 }, most: 16 },
        depth: Capped { share: Share { cache: Cache::L2, divisor: 8 }, most: 256 },
        columns: Capped { share: Share { cache: Cache::L3, divisor: 8 }, most: 64 },
    };
}

/// How work is shared among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Threads {
    /// Not shared.
    One,
    /// The outermost loops with independent iterations.
    Outer(Shares),
    /// Innermost loops with independent iterations, in strips, with the loops around them inside each strip; besides,
    /// outermost loops that have no strips.
    Strips {
        /// Iterations per strip.
        width: u16,
    },
}

/// How iterations are assigned to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shares {
    /// Equal shares, unless the work varies between iterations.
    Fitting,
    /// Equal shares.
    Static,
    /// One by one, to the next free thread.
    Dynamic,
}

/// Which innermost loops run in vector lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lanes {
    /// Those that the compiler chooses.
    Off,
    /// Those whose accesses are contiguous.
    Contiguous,
    /// All that are legal.
    Scattered,
    /// Those with long arithmetic under a condition, in batches of the iterations for which it holds; of the others those whose
    /// accesses are contiguous.
    Batches,
}

impl Template {
    /// The unchanged nest.
    pub const AS_IT_IS: Self = Self {
        base: Base::Source,
        strategy: Strategy::Loops(Loops { order: Order::Source, tile: None, jam: None }),
        threads: Threads::One,
        lanes: Lanes::Off,
    };

    /// A short name for reports.
    pub fn title(&self) -> String {
        if *self == Self::AS_IT_IS {
            return "as it is".into();
        }
        if *self == (Self { base: Base::Normal, ..Self::AS_IT_IS }) {
            return "normal form".into();
        }
        let mut title = self.strategy_title();
        match self.threads {
            Threads::Outer(Shares::Fitting) => {}
            Threads::Outer(Shares::Static) => title += ", equal shares",
            Threads::Outer(Shares::Dynamic) => title += ", dynamic shares",
            Threads::Strips { width: STRIP } => title += ", strips",
            Threads::Strips { width } => title += &format!(", strips of {width}"),
            Threads::One => title += ", one thread",
        }
        match self.lanes {
            lanes if lanes == self.strategy.usual_lanes() => {}
            Lanes::Off => title += ", no vector loops",
            Lanes::Contiguous => title += ", contiguous vector loops",
            Lanes::Scattered => title += ", all vector loops",
            Lanes::Batches => title += ", in batches",
        }
        title
    }

    /// A short name for the strategy.
    pub(crate) fn strategy_title(&self) -> String {
        match (self.base, self.strategy) {
            (Base::Source, strategy) => strategy.title(),
            (Base::Normal, Strategy::Loops(loops @ Loops { order: Order::Source, .. })) => {
                loops.titled("order of the normal form")
            }
            (Base::Normal, strategy) => format!("normal form, {}", strategy.title()),
        }
    }
}

/// The usual width of strips.
pub(crate) const STRIP: u16 = 256;

impl Strategy {
    fn title(&self) -> String {
        match self {
            Strategy::Loops(loops) => loops.title(),
            Strategy::PackedContraction(blocks) => format!("contract{}", blocks.title()),
            Strategy::Factor { steps, blocks } => format!("blocked factorization {steps}{}", blocks.title()),
            Strategy::TimeTiles { steps, rows } => format!("time tiles {steps}x{rows}"),
            Strategy::Crossings => "split where iterators meet".into(),
            Strategy::Regions => "split where conditions change".into(),
            Strategy::WrittenOut => "short loops written out".into(),
            Strategy::Merged => "merged with shifts".into(),
            Strategy::Fissioned => "sequential part apart".into(),
        }
    }

    /// Recurrences in vector lanes have scattered accesses by design.
    pub(crate) fn usual_lanes(&self) -> Lanes {
        match self {
            Strategy::Loops(Loops {
                order: Order::Ranked { independent: Independent::Innermost, .. },
                ..
            }) => Lanes::Scattered,
            _ => Lanes::Contiguous,
        }
    }
}

impl Loops {
    fn title(&self) -> String {
        match self.order {
            Order::Source => self.titled("original order"),
            Order::Ranked { rank, independent, fuse } => {
                let (name, first) = match independent {
                    Independent::Anywhere => ("memory order", 0),
                    Independent::Outer => ("parallel outer loops", 0),
                    Independent::Inner => ("loop order", u8::MAX),
                    Independent::Innermost => ("recurrences in vector lanes", 0),
                };
                let rank = if rank == first { String::new() } else { format!(" {rank}") };
                self.titled(&format!("{name}{rank}{}", if fuse { "" } else { ", distributed" }))
            }
        }
    }

    /// A title with this name for the order.
    fn titled(&self, order: &str) -> String {
        let mut title = order.to_owned();
        if let Some(share) = self.tile {
            title += &format!(", tiles in {share}");
        }
        if let Some(jam) = self.jam {
            title += &format!(", {jam} jammed");
        }
        title
    }
}

impl BlockShape {
    fn title(&self) -> String {
        if *self == Self::USUAL { String::new() } else { format!(", {self}") }
    }
}
