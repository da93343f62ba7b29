//! Prints what is read from SDFGs: `cargo run -p oxeye-sdfg --example show_sdfg -- [--table] FILE...`.

use oxeye_ir::Region;
use oxeye_sdfg::{Sdfg, Unit, read_sdfg};

fn main() {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let is_table = files.first().is_some_and(|f| f == "--table");
    if is_table {
        files.remove(0);
        println!("{:40} {:>5} {:>5} {:>6} {:>7}", "program", "nests", "loops", "opaque", "control");
    }
    for file in files {
        let read = std::fs::read_to_string(&file).map_err(|e| e.to_string());
        let unit =
            read.and_then(|text| Sdfg::parse(&text).and_then(|s| read_sdfg(&s)).map_err(|e| e.to_string()));
        match unit {
            Ok(unit) if is_table => row(&file, &unit),
            Ok(unit) => {
                print!("{}", unit.program);
                unit.diagnostics.iter().for_each(|d| println!("{d}"));
            }
            Err(error) => println!("{file}: error: {error}"),
        }
    }
}

fn row(file: &str, unit: &Unit) {
    let name = file.rsplit('/').next().unwrap_or(file);
    let with_loops = unit.program.nests.values().filter(|n| !n.loops().is_empty()).count();
    let (mut opaque, mut control) = (0, 0);
    unit.program.body.visit(&mut |region| match region {
        Region::Opaque(_) => opaque += 1,
        Region::Loop(_) | Region::Branch { .. } => control += 1,
        _ => {}
    });
    println!("{name:40} {:>5} {with_loops:>5} {opaque:>6} {control:>7}", unit.program.nests.len());
    unit.diagnostics.iter().for_each(|d| println!("    {d}"));
}
