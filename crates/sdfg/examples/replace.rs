//! Replaces every nest of SDFGs by a tasklet that does the same: `cargo run -p oxeye-sdfg --example replace -- FOLDER FILE...`
//! makes `FOLDER/NAME.sdfg` of each.

use oxeye_sdfg::{Changed, Grouping, Sdfg, read_sdfg, replace_nests, to_c};

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap_or_else(|| ".".into());
    for file in args {
        let name = std::path::Path::new(&file).file_stem().map(|s| s.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let written = std::fs::read_to_string(&file).map_err(|e| e.to_string()).and_then(|text| {
            let sdfg = Sdfg::parse(&text).map_err(|e| e.to_string())?;
            let unit = read_sdfg(&sdfg).map_err(|e| e.to_string())?;
            let c = to_c(&sdfg, &unit, Grouping::Together).map_err(|e| e.to_string())?;
            let changed = Changed {
                global: "#include <cstdlib>\n".into(),
                nests: c.nests.clone(),
                ..Changed::default()
            };
            let wanted = c.nests.keys().copied().collect();
            let replaced = replace_nests(&sdfg, &unit, &c, &changed, &wanted).map_err(|e| e.to_string())?;
            for (nest, why) in &replaced.refused {
                println!("{name}: nest {}: {why}", nest.0);
            }
            println!("{name}: {} of {} replaced", replaced.nests.len(), c.nests.len());
            std::fs::write(format!("{folder}/{name}.sdfg"), replaced.sdfg.write()).map_err(|e| e.to_string())
        });
        if let Err(error) = written {
            println!("{name}: {error}");
        }
    }
}
