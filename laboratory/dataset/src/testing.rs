//! Records for tests; behind the feature `testing`.

use crate::generate::generate;
use crate::record::{Record, Response, Retest, Status};
use oxeye_embed::HostVector;
use oxeye_transform::templates::{PANEL_VERSION, panel};
use oxeye_transform::{Policy, normalize_nest};

/// A record with made-up times, the `k`-th.
pub fn record(k: usize) -> Record {
    let nest = generate(9, k + 1).swap_remove(k);
    let response = |(t, template): (usize, &oxeye_transform::templates::Template)| {
        let timed = (t + k).is_multiple_of(3) || t == 0;
        let seconds = timed.then(|| 1e-3 * (1 + (t * 7 + k) % 5) as f64);
        Response {
            template: template.to_string(),
            status: if timed { Status::Timed } else { Status::Inapplicable },
            seconds,
            median_seconds: seconds,
            same_as: None,
            detail: "none".into(),
        }
    };
    Record {
        subject: nest.program.clone(),
        normal_hash: format!("{k:016x}"),
        host: HostVector { l1_bytes: Some(32768.0), ..HostVector::default() },
        cpu: "test".into(),
        threads: 2,
        compiler: "none".into(),
        flags: "-O3".into(),
        panel_version: PANEL_VERSION,
        footprint_bytes: 1e6,
        flops: 1e6,
        source_seconds: Some(2e-3),
        panel: panel().iter().enumerate().map(response).collect(),
        retest: Some(Retest { template: 3, subject_seconds: 1e-3, seconds: 2e-3 }),
        failure: None,
        same_form_as: None,
        cost: [0.5, 1.0, 2.0],
        nest,
    }
}

/// The `k`-th record with the normal form that its nest has, and made-up times.
///
/// # Panics
/// If a generated nest cannot be read, which is a bug of the generator.
pub fn real_record(k: usize) -> Record {
    let mut record = record(k);
    let (program, nest) = record.nest.parse().expect("a nest");
    let normal = normalize_nest(&program, &nest, Policy { reassociate: true, finite: false });
    record.normal_hash = format!("{:016x}", normal.hash);
    for (t, response) in record.panel.iter_mut().enumerate().skip(1) {
        response.status = match (t + k) % 7 {
            0 => Status::Inapplicable,
            3 => Status::Wrong,
            _ => Status::Timed,
        };
        let seconds = 1e-3 * (0.25 + ((t * 5 + k) % 9) as f64 / 4.0);
        response.seconds = (response.status == Status::Timed).then_some(seconds);
        response.median_seconds = response.seconds;
    }
    record.retest = None;
    record
}
