//! Compresses the default recipe database, which becomes part of the program.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;
use std::path::Path;
use std::{env, fs};

const RECIPES: &str = "models/recipes.sqlite";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed={RECIPES}");
    println!("cargo::rerun-if-changed=build.rs");
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&fs::read(RECIPES)?)?;
    let output = env::var("OUT_DIR")?;
    fs::write(Path::new(&output).join("recipes.sqlite.deflate"), encoder.finish()?)?;
    Ok(())
}
