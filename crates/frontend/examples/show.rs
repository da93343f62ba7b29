//! Prints what is read from C files: `cargo run -p oxeye-frontend --example show -- [--groups] FILE... [-- CC ARGS...]`. With
//! `--groups` each group of neighbouring nests is read as one nest as well.

use oxeye_frontend::{OtherSource, ReadOptions, Unit, read_c};
use std::path::Path;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let with_groups = args.first().is_some_and(|arg| arg == "--groups");
    args.drain(..usize::from(with_groups));
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
                show(&unit);
                if with_groups {
                    show_groups(&unit, &options);
                }
            }
            Err(error) => println!("error: {error}"),
        }
    }
}

fn show(unit: &Unit) {
    for function in &unit.functions {
        print!("{}", function.binding.display(&function.program));
    }
    for diagnostic in &unit.diagnostics {
        println!("{}", diagnostic.render(&unit.path, &unit.source));
    }
}

fn show_groups(unit: &Unit, options: &ReadOptions) {
    for function in &unit.functions {
        for group in function.group_spans() {
            println!("== group in {}, from line {}", function.name, group.line);
            let function = Some(function.name.clone());
            match read_c(&unit.path, &ReadOptions { function, group: Some(group), ..options.clone() }) {
                Ok(unit) => show(&unit),
                Err(error) => println!("error: {error}"),
            }
        }
    }
}
