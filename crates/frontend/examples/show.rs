//! Prints what is read from C files: `cargo run -p oxeye-frontend --example show -- FILE... [-- CC ARGS...]`.

use oxeye_frontend::{OtherSource, ReadOptions, read_c};
use std::path::Path;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let split = args.iter().position(|a| a == "--").unwrap_or(args.len());
    let (files, rest) = args.split_at(split);
    let mut options = ReadOptions::default();
    if let [_, compiler, args @ ..] = rest {
        let sources = args.iter().filter(|a| !a.starts_with('-') && a.ends_with(".c"));
        let others = sources.map(|path| OtherSource { path: path.into(), args: args.to_vec() }).collect();
        options = ReadOptions { compiler: compiler.clone(), args: args.to_vec(), others, ..options };
    }
    for file in files {
        match read_c(Path::new(file), &options) {
            Ok(unit) => {
                for function in &unit.functions {
                    print!("{}", function.binding.display(&function.program));
                }
                for diagnostic in &unit.diagnostics {
                    println!("{}", diagnostic.render(&unit.path, &unit.source));
                }
            }
            Err(error) => println!("error: {error}"),
        }
    }
}
