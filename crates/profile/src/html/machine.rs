//! The machine: its description, its ceilings, its memory sweep.

use super::parts::{figure, shown};
use crate::figures::{format_capacity, format_number};
use crate::plot::{escape, memory_sweep};
use crate::report::ReportData;
use oxeye_host::{FloatType, HostProfile};
use std::collections::BTreeSet;
use std::fmt::Write;

pub(super) fn machine(page: &mut String, data: &ReportData) {
    let host = &data.host;
    let topology = &host.topology;
    page.push_str("<section>\n<h2>Machine</h2>\n<dl>\n");
    let mut fact = |name: &str, text: &str| {
        let _ = writeln!(page, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(text));
    };
    fact("Processor", &host.key.cpu_model);
    let cores = format!(
        "{} of {}, {} each; {} to use",
        several(topology.sockets, "socket"),
        several(topology.cores_per_socket, "core"),
        several(topology.threads_per_core, "thread"),
        host.key.cores
    );
    fact("Cores", &cores);
    if let Some(clock) = host.clock_ghz {
        fact("Clock of a busy core", &format!("{} GHz", format_number(clock.value)));
    }
    if !topology.vector_extensions.is_empty() {
        fact("Vector extensions", &topology.vector_extensions.join(", "));
    }
    let caches = topology.caches.iter().map(|c| {
        let shared = if c.shared_by > 1 { format!(", shared by {}", c.shared_by) } else { String::new() };
        format!("L{} {}{shared}", c.level, format_capacity(c.bytes))
    });
    fact("Caches", &caches.collect::<Vec<_>>().join("; "));
    if let Some(bytes) = topology.memory_bytes {
        fact("Memory", &format_capacity(bytes));
    }
    match host.fork_join_us {
        Some(time) => fact("Fork-join", &format!("{} µs", format_number(time.value))),
        None => fact("Fork-join", "not measured"),
    }
    let effort = if host.thorough { "thoroughly" } else { "briefly" };
    fact("Measured", &format!("{effort}, {}", host.measured_at));
    fact("Noise", &host.noise.sentence);
    page.push_str("</dl>\n");
    ceilings(page, host);
    if !host.curve.is_empty() {
        page.push_str("<h3>Read bandwidth by size</h3>\n");
        figure(page, |size| memory_sweep(host, size));
    }
    page.push_str("</section>\n");
}

/// Bandwidths and peaks with one core and with all.
fn ceilings(page: &mut String, host: &HostProfile) {
    let threads: BTreeSet<u32> = [1, host.all_cores().max(1)].into();
    page.push_str("<h3>Ceilings</h3>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\"></th><th class=\"n\" scope=\"col\">effective size</th>");
    for n in &threads {
        let _ = write!(page, "<th class=\"n\" scope=\"col\">{}</th>", several(*n, "core"));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for level in host.levels() {
        let size = level.capacity_bytes.map_or("–".to_string(), format_capacity);
        let _ = write!(
            page,
            "<tr><th scope=\"row\">{} bandwidth</th><td class=\"n\">{size}</td>",
            escape(&level.name)
        );
        for n in &threads {
            let cell = shown(host.bandwidth(&level.name, *n), |x| format!("{} GB/s", format_number(x)));
            let _ = write!(page, "<td class=\"n\">{cell}</td>");
        }
        page.push_str("</tr>\n");
    }
    for ty in [FloatType::F64, FloatType::F32] {
        for (kind, bits) in [("SIMD", u32::MAX), ("scalar", 0)] {
            let _ =
                write!(page, "<tr><th scope=\"row\">{} {kind} peak</th><td class=\"n\">–</td>", ty.name());
            for n in &threads {
                let cell = shown(host.peak_gflops(ty, *n, bits), |x| format!("{} GFLOP/s", format_number(x)));
                let _ = write!(page, "<td class=\"n\">{cell}</td>");
            }
            page.push_str("</tr>\n");
        }
    }
    page.push_str("</tbody></table></div>\n");
}

fn several(n: u32, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
