//! Templates as text: words separated by spaces, see the [module](super).

use super::template::{
    Base, BlockShape, Cache, Capped, Independent, Lanes, Loops, Order, Registers, Share, Shares, Strategy,
    Template, Threads,
};
use std::fmt;
use std::str::FromStr;

/// Text that is not a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a template: {reason}")]
pub struct TemplateError {
    /// The text that was not understood.
    pub text: String,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.base == Base::Normal {
            write!(f, "normal ")?;
        }
        match &self.strategy {
            Strategy::Loops(loops) => write!(f, "{loops}")?,
            Strategy::PackedContraction(blocks) => write!(f, "contract {blocks}")?,
            Strategy::Factor { steps, blocks } => write!(f, "factor:{steps} {blocks}")?,
            Strategy::TimeTiles { steps, rows } => write!(f, "time-tiles:{steps}x{rows}")?,
            Strategy::Crossings => write!(f, "crossings")?,
            Strategy::Merged => write!(f, "merged")?,
            Strategy::Fissioned => write!(f, "fissioned")?,
            Strategy::Regions => write!(f, "regions")?,
            Strategy::WrittenOut => write!(f, "written-out")?,
        }
        match self.threads {
            Threads::One => write!(f, " one-thread")?,
            Threads::Outer(Shares::Fitting) => write!(f, " threads")?,
            Threads::Outer(Shares::Static) => write!(f, " threads:static")?,
            Threads::Outer(Shares::Dynamic) => write!(f, " threads:dynamic")?,
            Threads::Strips { width } => write!(f, " strips:{width}")?,
        }
        f.write_str(match self.lanes {
            Lanes::Off => " scalar",
            Lanes::Contiguous => " simd",
            Lanes::Scattered => " simd:scattered",
            Lanes::Batches => " simd:batches",
        })
    }
}

impl fmt::Display for Loops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.order {
            Order::Source => write!(f, "source")?,
            Order::Ranked { rank, independent, fuse } => {
                let independent = match independent {
                    Independent::Anywhere => "memory",
                    Independent::Outer => "parallel-outer",
                    Independent::Inner => "parallel-inner",
                    Independent::Innermost => "parallel-innermost",
                };
                write!(f, "order:{rank} {independent} {}", if fuse { "fused" } else { "distributed" })?;
            }
        }
        if let Some(share) = self.tile {
            write!(f, " tile:{share}")?;
        }
        if let Some(jam) = self.jam {
            write!(f, " jam:{jam}")?;
        }
        Ok(())
    }
}

impl fmt::Display for BlockShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.registers {
            None => write!(f, "registers:auto")?,
            Some(Registers { rows, vectors }) => write!(f, "registers:{rows}x{vectors}")?,
        }
        write!(f, " rows:{} depth:{} columns:{}", self.rows, self.depth, self.columns)
    }
}

impl fmt::Display for Capped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.share, self.most)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.cache {
            Cache::L1 => "l1",
            Cache::L2 => "l2",
            Cache::L3 => "l3",
        })?;
        if self.divisor == 1 { Ok(()) } else { write!(f, "/{}", self.divisor) }
    }
}

impl From<Template> for String {
    fn from(template: Template) -> Self {
        template.to_string()
    }
}

impl TryFrom<String> for Template {
    type Error = TemplateError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl FromStr for Template {
    type Err = TemplateError;

    /// Words about threads and lanes, and block sizes, may be left out; the usual values are used then.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = Words(text.split_whitespace().collect());
        template(&mut words)
            .and_then(|template| match words.0.first() {
                Some(left) => Err(format!("`{left}` is not understood here")),
                None => Ok(template),
            })
            .map_err(|reason| TemplateError { text: text.to_owned(), reason })
    }
}

fn template(words: &mut Words<'_>) -> Result<Template, String> {
    let base = if words.accept("normal") { Base::Normal } else { Base::Source };
    let strategy = strategy(words)?;
    let threads = match (words.value("threads"), words.accept("one-thread")) {
        (Some(shares), _) => Threads::Outer(match shares {
            "static" => Shares::Static,
            "dynamic" => Shares::Dynamic,
            other => return Err(format!("threads get `static` or `dynamic` shares, not `{other}`")),
        }),
        (_, true) => Threads::One,
        _ => match words.value("strips") {
            Some(width) => Threads::Strips { width: positive(width)? },
            None => {
                words.accept("threads");
                Threads::Outer(Shares::Fitting)
            }
        },
    };
    let lanes = match words.value("simd") {
        Some("scattered") => Lanes::Scattered,
        Some("batches") => Lanes::Batches,
        Some(other) => {
            return Err(format!("`simd`, `simd:scattered` or `simd:batches`, not `simd:{other}`"));
        }
        None if words.accept("scalar") => Lanes::Off,
        None if words.accept("simd") => Lanes::Contiguous,
        None => strategy.usual_lanes(),
    };
    Ok(Template { base, strategy, threads, lanes })
}

fn strategy(words: &mut Words<'_>) -> Result<Strategy, String> {
    if words.accept("crossings") {
        return Ok(Strategy::Crossings);
    }
    if words.accept("regions") {
        return Ok(Strategy::Regions);
    }
    if words.accept("written-out") {
        return Ok(Strategy::WrittenOut);
    }
    if words.accept("merged") {
        return Ok(Strategy::Merged);
    }
    if words.accept("fissioned") {
        return Ok(Strategy::Fissioned);
    }
    if words.accept("contract") {
        return Ok(Strategy::PackedContraction(block_shape(words)?));
    }
    if let Some(steps) = words.value("factor") {
        return Ok(Strategy::Factor { steps: positive(steps)?, blocks: block_shape(words)? });
    }
    if let Some(sizes) = words.value("time-tiles") {
        let (steps, rows) = sizes.split_once('x').ok_or("time tiles need time steps x rows, such as 8x32")?;
        return Ok(Strategy::TimeTiles { steps: positive(steps)?, rows: positive(rows)? });
    }
    let order = match words.value("order") {
        Some(rank) => ranked(rank, words)?,
        None if words.accept("source") => Order::Source,
        None => {
            let found = words.0.first().map_or("nothing".into(), |w| format!("`{w}`"));
            return Err(format!(
                "it starts with source, order, contract, factor, time-tiles, crossings, regions, merged or fissioned, not with {found}"
            ));
        }
    };
    let tile = words.value("tile").map(share).transpose()?;
    let jam = words.value("jam").map(positive).transpose()?;
    Ok(Strategy::Loops(Loops { order, tile, jam }))
}

fn ranked(rank: &str, words: &mut Words<'_>) -> Result<Order, String> {
    let rank = rank.parse().map_err(|_| format!("`{rank}` is not a rank"))?;
    let places = [
        ("memory", Independent::Anywhere),
        ("parallel-outer", Independent::Outer),
        ("parallel-inner", Independent::Inner),
        ("parallel-innermost", Independent::Innermost),
    ];
    let place = places.into_iter().find(|(word, _)| words.accept(word));
    let (_, independent) = place
        .ok_or("an order continues with memory, parallel-outer, parallel-inner or parallel-innermost")?;
    let fuse = words.accept("fused");
    if !fuse && !words.accept("distributed") {
        return Err("an order is fused or distributed".into());
    }
    Ok(Order::Ranked { rank, independent, fuse })
}

fn block_shape(words: &mut Words<'_>) -> Result<BlockShape, String> {
    let mut blocks = BlockShape::USUAL;
    match words.value("registers") {
        None | Some("auto") => {}
        Some(sizes) => {
            let (rows, vectors) =
                sizes.split_once('x').ok_or("a register tile needs rows x vectors, such as 6x4")?;
            blocks.registers = Some(Registers { rows: positive(rows)?, vectors: positive(vectors)? });
        }
    }
    for (word, size) in
        [("rows", &mut blocks.rows), ("depth", &mut blocks.depth), ("columns", &mut blocks.columns)]
    {
        if let Some(value) = words.value(word) {
            let (part, most) = value
                .split_once("..")
                .ok_or_else(|| format!("`{word}` takes a share and a limit, such as l2/4..16"))?;
            *size = Capped { share: share(part)?, most: positive(most)? };
        }
    }
    Ok(blocks)
}

fn share(text: &str) -> Result<Share, String> {
    let (cache, divisor) = text.split_once('/').unwrap_or((text, "1"));
    let cache = match cache {
        "l1" => Cache::L1,
        "l2" => Cache::L2,
        "l3" => Cache::L3,
        other => return Err(format!("`{other}` is not a cache: l1, l2 or l3")),
    };
    Ok(Share { cache, divisor: positive(divisor)? })
}

fn positive<T: FromStr + Default + PartialEq>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|n| *n != T::default());
    number.ok_or_else(|| format!("`{text}` is not a number that fits here"))
}

/// The words not yet read.
struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    fn accept(&mut self, word: &str) -> bool {
        let found = self.0.first() == Some(&word);
        if found {
            self.0.remove(0);
        }
        found
    }

    /// The rest of the next word after `key:`, if it starts so.
    fn value(&mut self, key: &str) -> Option<&'a str> {
        let value = self.0.first()?.strip_prefix(key)?.strip_prefix(':')?;
        self.0.remove(0);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::panel;

    #[test]
    fn the_panel_parses_back() {
        for template in panel() {
            assert_eq!(template.to_string().parse(), Ok(*template));
            let json = serde_json::to_string(template).unwrap();
            assert_eq!(json, format!("\"{template}\""));
            assert_eq!(serde_json::from_str::<Template>(&json).unwrap(), *template);
            let normal = Template { base: Base::Normal, ..*template };
            assert_eq!(normal.to_string(), format!("normal {template}"));
            assert_eq!(normal.to_string().parse(), Ok(normal));
        }
    }

    #[test]
    fn what_is_left_out_is_usual() {
        let same = |short: &str, long: &str| {
            assert_eq!(short.parse::<Template>().unwrap().to_string(), long);
        };
        same("source", "source threads simd");
        same(
            "contract depth:l2/4..512",
            "contract registers:auto rows:l2/4..16 depth:l2/4..512 columns:l3/8..64 threads simd",
        );
        same(
            "order:0 parallel-innermost fused one-thread",
            "order:0 parallel-innermost fused one-thread simd:scattered",
        );
        same("  crossings   strips:64 ", "crossings strips:64 simd");
        same("regions", "regions threads simd");
        same("merged one-thread", "merged one-thread simd");
        same("fissioned", "fissioned threads simd");
        same("normal source", "normal source threads simd");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, wanted) in [
            (
                "",
                "it starts with source, order, contract, factor, time-tiles, crossings, regions, merged or fissioned, not with nothing",
            ),
            ("sideways", "not with `sideways`"),
            ("normal", "not with nothing"),
            ("normal normal source", "not with `normal`"),
            ("source normal", "`normal` is not understood here"),
            ("order:x memory fused", "`x` is not a rank"),
            ("order:0 fused", "an order continues with memory"),
            ("order:0 memory", "an order is fused or distributed"),
            ("source tile:l4", "`l4` is not a cache"),
            ("source tile:l1/0", "`0` is not a number that fits here"),
            ("source jam:300", "`300` is not a number that fits here"),
            ("time-tiles:8", "time tiles need time steps x rows"),
            ("contract rows:l2/4", "`rows` takes a share and a limit"),
            ("contract registers:6", "a register tile needs rows x vectors"),
            ("source threads:some", "threads get `static` or `dynamic` shares"),
            ("source simd:all", "`simd`, `simd:scattered` or `simd:batches`, not `simd:all`"),
            ("crossings tile:l1", "`tile:l1` is not understood here"),
            ("source simd threads", "`threads` is not understood here"),
        ] {
            let error = text.parse::<Template>().unwrap_err();
            assert!(error.reason.contains(wanted), "{text}: {error}");
        }
    }
}
