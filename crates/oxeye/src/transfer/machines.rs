//! How much one machine is like another, as far as recipes are concerned.

use oxeye_database::Json;
use oxeye_embed::HostVector;

/// Of two machines of which too little is known to compare them.
const UNKNOWN: f64 = 0.7;
/// Of another machine whose figures are all the same; of one that has nothing in common.
const MOST: f64 = 0.95;
const LEAST: f64 = 0.3;
/// Figures that both have to have.
const FEWEST: usize = 3;

/// How much a machine is like this one, from 0 to 1: by caches and bandwidth of a core, width of vectors and rate of a core. Twice or
/// half of everything is [`MOST`] by the square root of two.
pub(super) fn likeness(here: &HostVector, there: &Json) -> f64 {
    let Ok(there) = serde_json::from_value::<HostVector>(there.value()) else { return UNKNOWN };
    let ratios: Vec<f64> = figures(here)
        .into_iter()
        .zip(figures(&there))
        .filter_map(|(here, there)| Some((here? / there?).log2().abs()))
        .filter(|ratio| ratio.is_finite())
        .collect();
    if ratios.len() < FEWEST {
        return UNKNOWN;
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    (MOST * (-0.5 * mean).exp2()).max(LEAST)
}

/// What recipes depend on, of a core.
fn figures(host: &HostVector) -> [Option<f64>; 7] {
    let of_core = |all: Option<f64>| Some(all? / host.cores.filter(|cores| *cores > 0.0)?);
    let of_thread = |all: Option<f64>| Some(all? / host.threads.filter(|threads| *threads > 0.0)?);
    [
        host.l1_bytes,
        host.l2_bytes,
        of_core(host.l3_bytes),
        host.vector_bytes,
        of_thread(host.peak_f32_gflops),
        of_thread(host.l2_gb_per_s),
        of_thread(host.dram_gb_per_s),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> HostVector {
        HostVector {
            l1_bytes: Some(32e3),
            l2_bytes: Some(1e6),
            l3_bytes: Some(32e6),
            cores: Some(2.0),
            threads: Some(2.0),
            vector_bytes: Some(32.0),
            peak_f32_gflops: Some(200.0),
            l2_gb_per_s: Some(300.0),
            dram_gb_per_s: Some(20.0),
            ..HostVector::default()
        }
    }

    fn summary(host: &HostVector) -> Json {
        Json::from(&serde_json::to_value(host).expect("JSON"))
    }

    #[test]
    fn machines_are_compared_core_by_core() {
        let here = host();
        assert_eq!(likeness(&here, &summary(&here)), MOST);
        let more = HostVector {
            cores: Some(64.0),
            threads: Some(64.0),
            l3_bytes: Some(1024e6),
            peak_f32_gflops: Some(6400.0),
            l2_gb_per_s: Some(9600.0),
            dram_gb_per_s: Some(640.0),
            ..host()
        };
        assert_eq!(likeness(&here, &summary(&more)), MOST);
        let wider = HostVector { vector_bytes: Some(64.0), ..host() };
        let other = HostVector { dram_gb_per_s: Some(5.0), l2_bytes: Some(0.25e6), ..wider.clone() };
        let [wider, other] = [wider, other].map(|host| likeness(&here, &summary(&host)));
        assert!(MOST > wider && wider > other && other > LEAST, "{wider} {other}");
    }

    #[test]
    fn what_is_not_known_is_no_likeness() {
        for text in ["null", "{}", r#"{"l1_bytes": 32000.0}"#, r#"{"l1_bytes": "big"}"#] {
            assert_eq!(likeness(&host(), &Json::parse(text).expect("JSON")), UNKNOWN, "{text}");
        }
    }
}
