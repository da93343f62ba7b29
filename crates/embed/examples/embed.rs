//! Prints the feature graph and the embedding of each nest of a program, as JSON: what another implementation of the
//! encoder can be compared with. How long it took goes to the standard error output.
//!
//! ```text
//! cargo run -p oxeye-embed --example embed -- matmul.ir --set n=1024 --model encoder.safetensors
//! ```
//!
//! Without `--model`, an untrained encoder of seed 0 is used; `--save FILE` writes its weights. `--host FILE` and
//! `--profile FILE` read a `HostVector` and a `ProfileVector` as JSON. `--features` prints the table of features.

use oxeye_embed::{
    Architecture, Encoder, HostVector, ProfileVector, Weights, feature_table, graph, hand_made,
};
use oxeye_ir::Program;
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (mut file, mut model, mut save) = (None, None, None);
    let (mut host, mut profile) = (HostVector::default(), None::<ProfileVector>);
    let mut sizes: Vec<(String, i64)> = Vec::new();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--features" => {
                print!("{}", feature_table());
                return Ok(());
            }
            "--model" => model = Some(value()?),
            "--save" => save = Some(value()?),
            "--host" => host = serde_json::from_str(&std::fs::read_to_string(value()?)?)?,
            "--profile" => profile = Some(serde_json::from_str(&std::fs::read_to_string(value()?)?)?),
            "--set" => {
                let text = value()?;
                let (name, size) = text.split_once('=').ok_or("--set needs name=value")?;
                sizes.push((name.to_owned(), size.parse()?));
            }
            _ => file = Some(arg),
        }
    }
    let program = Program::parse(&std::fs::read_to_string(file.ok_or("which file?")?)?)?;
    let weights = match model {
        Some(path) => Weights::load(path)?,
        None => Weights::random(0, Architecture::with_panel(16))?,
    };
    if let Some(path) = save {
        weights.save(path)?;
    }
    let encoder = Encoder::new(&weights)?;
    let value_of = |id| {
        let name = &program.symbols.get(&id)?.name;
        sizes.iter().find(|(wanted, _)| wanted == name).map(|(_, size)| *size)
    };
    let mut found = Vec::new();
    for nest in program.nests.values() {
        let started = Instant::now();
        let mut graph = graph(&program, nest, &value_of, &host)?;
        if let Some(profile) = &profile {
            graph = graph.with_profile(profile);
        }
        let features_ms = started.elapsed().as_secs_f64() * 1e3;
        let started = Instant::now();
        let embedding = encoder.embed(&graph)?;
        let embed_ms = started.elapsed().as_secs_f64() * 1e3;
        let (n_nodes, n_edges) = (graph.nodes.len(), graph.edges.len());
        eprintln!(
            "{}: {n_nodes} nodes, {n_edges} edges, features {features_ms:.2} ms, embedding {embed_ms:.2} ms",
            nest.id
        );
        found.push(serde_json::json!({
            "nest": nest.id.to_string(),
            "graph": graph,
            "hand_made": hand_made(&graph),
            "embedding": embedding,
        }));
    }
    println!("{}", serde_json::to_string_pretty(&found)?);
    Ok(())
}
