//! Writes SDFGs as C: `cargo run -p oxeye-sdfg --example to_c -- FOLDER FILE...` makes `FOLDER/NAME.c` of each.

use oxeye_sdfg::{Grouping, Sdfg, read_sdfg, to_c};

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
            std::fs::write(format!("{folder}/{name}.c"), c.source).map_err(|e| e.to_string())
        });
        if let Err(error) = written {
            println!("{name}: {error}");
        }
    }
}
