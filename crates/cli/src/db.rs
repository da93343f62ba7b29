//! `oxeye db`: look into the recipe database, and carry entries from one to another.

use crate::columns::{self, Column};
use crate::exit::Exit;
use crate::knowledge::{Places, chosen_location, location, person};
use crate::manner::Manner;
use crate::mistakes::Mistake;
use crate::share::{self, ShareArgs};
use crate::table;
use crate::terminal::print_or_quit;
use crate::trials::{note, report, steps};
use anyhow::Context as _;
use clap::Subcommand;
use oxeye_database::{
    Addition, Count, Entry, EntryId, Location, OnBadLine, Order, PostgresStore, RecipeStore, SqliteStore,
    Verdict, exchange_line, export, export_file, import, merge, parse_line,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  What has been learnt lately, and one entry in full
    oxeye db list --limit 20
    oxeye db show 12

  Share recipes as text; figures come back bit for bit
    oxeye db export recipes.jsonl
    oxeye db import recipes.jsonl

  Add what another machine has learnt
    oxeye db merge other.sqlite

  Move one entry
    oxeye db show 12 --json > entry.json
    oxeye db --database other.sqlite add entry.json

  Share recipes on a PostgreSQL server
    export OXEYE_DATABASE=postgresql://db.example.org/recipes
    oxeye db push
    oxeye db pull

Nothing leaves this machine unless you export or push it. A damaged database is
renamed, and a new one is started; a damaged file named with --database is
left as it is.

Exit codes:
  0  done
  1  there is no such entry, nothing was imported because of bad lines, or
     nothing was pushed because nobody has allowed it
  2  could not run";

/// Look into the recipe database: what was tried on which nest, and with which result
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Args {
    /// The database: a file, or the address of a PostgreSQL server
    ///
    /// [default: $OXEYE_DATABASE, else `database` in oxeye.toml, else oxeye/recipes.sqlite in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, global = true, value_name = "FILE|ADDRESS", value_parser = location())]
    database: Option<Location>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List entries, newest first
    List {
        /// Most entries to show
        #[arg(long, default_value_t = 50, value_name = "N")]
        limit: usize,
        /// As JSON, without normal forms and vectors
        #[arg(long)]
        json: bool,
    },
    /// Show one entry in full
    Show {
        /// Its number in the list
        id: EntryId,
        /// As JSON, in the form of a line of an export
        #[arg(long)]
        json: bool,
    },
    /// Add one trial from a JSON file, in the form of a line of an export
    Add {
        /// The file; `-` is standard input
        file: PathBuf,
    },
    /// Add the entries of an export: all of them, or none if a line is bad
    Import {
        /// JSON Lines of `oxeye db export`; `-` is standard input
        file: PathBuf,
        /// Import the good lines where others are bad
        #[arg(long)]
        skip_bad: bool,
        /// Print what happened as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write all entries as JSON Lines (schema oxeye.recipes/1)
    Export {
        /// The file, written whole or not at all; `-` is standard output
        file: PathBuf,
    },
    /// Add the entries of another database; of two equal trials, the one with more samples is kept
    Merge {
        /// The other database, which is only read
        file: PathBuf,
        /// Print what happened as JSON
        #[arg(long)]
        json: bool,
    },
    /// Send your own trials to a server; what would leave this machine is shown first
    Push(ShareArgs),
    /// Add the trials of a server to your own file
    Pull {
        /// Print what happened as JSON
        #[arg(long)]
        json: bool,
    },
    /// Count the trials that only your own file has, or only a server
    Diff {
        /// Print the numbers as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the path or the address of the database
    Path,
}

/// Runs the subcommand.
pub(crate) fn run(args: Args, manner: &Manner) -> anyhow::Result<Exit> {
    let named = args.database.as_ref();
    match args.command {
        Command::Path => {
            print_or_quit(&format!("{}\n", chosen_location(named)?))?;
            return Ok(Exit::Done);
        }
        Command::Push(how) => return share::push(Places::of(named)?, &how, manner),
        Command::Pull { json } => return share::pull(Places::of(named)?, json),
        Command::Diff { json } => return share::diff(Places::of(named)?, json),
        _ => {}
    }
    let mut opened = Opened::at(named)?;
    let outcome = run_on(&mut opened, args.command, manner);
    if let Store::File(store) = &opened.store {
        for renamed in store.take_set_aside() {
            note(&renamed.to_string());
        }
    }
    outcome
}

/// The database that was named, or the user's own.
struct Opened {
    store: Store,
    location: Location,
}

enum Store {
    File(Box<SqliteStore>),
    Server(Box<PostgresStore>),
}

impl Opened {
    fn at(named: Option<&Location>) -> anyhow::Result<Self> {
        let location = chosen_location(named)?;
        let store = match &location {
            Location::Server(address) => Store::Server(Box::new(PostgresStore::open(address, &person())?)),
            Location::File(_) => {
                let Places { own, on_damage, .. } = Places::of(named)?;
                Store::File(Box::new(SqliteStore::open(&own, on_damage)?))
            }
        };
        Ok(Self { store, location })
    }

    fn store(&self) -> &dyn RecipeStore {
        match &self.store {
            Store::File(store) => &**store,
            Store::Server(store) => &**store,
        }
    }

    /// The file that a subcommand adds to. What goes to a server is shown before, which `push` does.
    fn file(&mut self, subcommand: &str) -> Result<&mut SqliteStore, Mistake> {
        match &mut self.store {
            Store::File(store) => Ok(store),
            Store::Server(_) => Err(Mistake::new(format!(
                "`oxeye db {subcommand}` adds to a file; name one with --database. \
                 `oxeye db push` sends your own file to a server, and shows before what would leave this machine"
            ))),
        }
    }
}

fn run_on(opened: &mut Opened, command: Command, manner: &Manner) -> anyhow::Result<Exit> {
    match command {
        Command::List { limit, json } => list(opened, limit, json, manner),
        Command::Show { id, json } => show(opened, id, json),
        Command::Add { file } => add(opened.file("add")?, &file),
        Command::Import { file, skip_bad, json } => {
            let on_bad = if skip_bad { OnBadLine::Skip } else { OnBadLine::Stop };
            let store = opened.file("import")?;
            let tally = import(store, &source_name(&file), &mut BufReader::new(input(&file)?), on_bad)?;
            let refused = on_bad == OnBadLine::Stop && !tally.bad_lines.is_empty();
            report(&tally, refused, json)?;
            Ok(if refused { Exit::Negative } else { Exit::Done })
        }
        Command::Export { file } => export_to(opened, &file),
        Command::Merge { file, json } => {
            let store = opened.file("merge")?;
            let other = SqliteStore::open_read_only(&file)?;
            report(&merge(store, &source_name(&file), &other)?, false, json)?;
            Ok(Exit::Done)
        }
        Command::Push(_) | Command::Pull { .. } | Command::Diff { .. } | Command::Path => Ok(Exit::Done),
    }
}

fn list(opened: &Opened, limit: usize, as_json: bool, manner: &Manner) -> anyhow::Result<Exit> {
    let (store, name) = (opened.store(), opened.location.to_string());
    let n_entries = store.n_entries()?;
    let entries: Vec<Entry> = store.entries(Order::NewestFirst).take(limit).collect::<Result<_, _>>()?;
    if as_json {
        let entries = entries.iter().map(brief).collect::<anyhow::Result<Vec<Value>>>()?;
        let value = json!({
            "schema": "oxeye.recipe-list/1",
            "database": name,
            "n_entries": n_entries,
            "entries": entries,
        });
        print_or_quit(&format!("{value:#}\n"))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    if !entries.is_empty() {
        let _ = write!(text, "{}", rows(&entries, manner.view().width));
    }
    let _ = match (n_entries, entries.len() as u64) {
        (0, _) => writeln!(text, "no entries in {name}"),
        (n, shown) if shown < n => writeln!(text, "{shown} of {n} entries in {name}"),
        (n, _) => writeln!(text, "{n} entries in {name}"),
    };
    print_or_quit(&text)?;
    Ok(Exit::Done)
}

/// An entry as JSON without what is long.
fn brief(entry: &Entry) -> anyhow::Result<Value> {
    let mut content = serde_json::to_value(&entry.content)?;
    if let Some(nest) = content["nest"].as_object_mut() {
        nest.remove("text");
    }
    if let Some(embedding) = &entry.content.embedding {
        content["embedding"] = json!({
            "space": embedding.space,
            "dimension": embedding.nest.len(),
            "n_nodes": embedding.nodes.len(),
        });
    }
    Ok(json!({ "id": entry.id.to_string(), "n_added": entry.n_added, "entry": content }))
}

fn rows(entries: &[Entry], width: usize) -> String {
    let columns = [
        Column::numbers("id"),
        Column::whole("verdict"),
        Column::numbers("speedup"),
        Column::numbers("before"),
        Column::numbers("after"),
        Column::words("recipe"),
        Column::numbers("threads"),
        Column::words("compiler"),
        Column::words("host"),
        Column::whole("measured"),
    ];
    // What tells entries apart comes first where there is little room.
    let n_columns = if width >= 120 { columns.len() } else { columns.len() - 3 };
    let row = |entry: &Entry| {
        let content = &entry.content;
        let seconds = |s: f64| table::time(1e3 * s);
        let mut row = vec![
            entry.id.to_string(),
            content.verdict.kind().to_string(),
            content.speedup().map(|s| format!("{s:.2}x")).unwrap_or_default(),
            content.measured.map(|m| seconds(m.baseline_seconds)).unwrap_or_default(),
            content.measured.map(|m| seconds(m.best_seconds)).unwrap_or_default(),
            steps(&content.recipe.steps.value()),
            content.context.threads.to_string(),
            format!("{} {}", content.context.compiler, content.compiler_version),
            content.context.host_key.clone(),
            content.created_at.to_string().chars().take(10).collect(),
        ];
        row.truncate(n_columns);
        row
    };
    let rows: Vec<Vec<String>> = entries.iter().map(row).collect();
    columns::table(&columns[..n_columns], &rows, width)
}

fn show(opened: &Opened, id: EntryId, as_json: bool) -> anyhow::Result<Exit> {
    let Some(entry) = opened.store().get(id)? else {
        note(&format!("there is no entry {id} in {}", opened.location));
        return Ok(Exit::Negative);
    };
    if as_json {
        let value: Value = serde_json::from_str(&exchange_line(&entry)?)?;
        print_or_quit(&format!("{value:#}\n"))?;
    } else {
        print_or_quit(&described(&entry))?;
    }
    Ok(Exit::Done)
}

fn described(entry: &Entry) -> String {
    let content = &entry.content;
    let context = &content.context;
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<10}{value}");
    };
    let times = if entry.n_added == 1 { "once".to_owned() } else { format!("{} times", entry.n_added) };
    line("entry", format!("{}, added {times}", entry.id));
    line("nest", content.nest.hash.clone());
    line(
        "verdict",
        match &content.verdict {
            Verdict::Failed(why) => format!("failed: {why}"),
            verdict => verdict.kind().to_string(),
        },
    );
    if let Some(measured) = content.measured {
        let s = measured.speedup;
        let (before, after) = (1e3 * measured.baseline_seconds, 1e3 * measured.best_seconds);
        line("times", format!("{} before, {} after", table::time(before), table::time(after)));
        line(
            "speedup",
            match s.low < s.high {
                true => format!("{:.3}x ({:.3}-{:.3})", s.median, s.low, s.high),
                // One run of each has no interval.
                false => format!("{:.3}x", s.median),
            },
        );
    }
    line("samples", content.n_samples.to_string());
    line("host", format!("{}, {} threads", context.host_key, context.threads));
    line(
        "compiler",
        format!("{} {} {}", context.compiler, content.compiler_version, context.flags.join(" ")),
    );
    line("policy", context.policy.name().to_owned());
    let sizes: Vec<String> = content.sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
    line("sizes", sizes.join(" "));
    let from =
        content.provenance.imported_from.as_ref().map(|file| format!(", from {file}")).unwrap_or_default();
    line("measured", format!("{} by {}{from}", content.created_at, content.provenance.origin.name()));
    line("oxeye", content.oxeye_version.clone());
    if let Some(embedding) = &content.embedding {
        let space = &embedding.space;
        line(
            "embedding",
            format!(
                "model {} ({}), features {}, {} numbers, {} nodes",
                space.model,
                space.model_hash,
                space.feature_schema,
                embedding.nest.len(),
                embedding.nodes.len()
            ),
        );
    }
    line("recipe", content.recipe.format.clone());
    let mut recipe = content.recipe.steps.value();
    if let Some(template) = recipe["template"].as_str() {
        line("template", template.to_owned());
    }
    if recipe["steps"].is_array() {
        recipe = recipe["steps"].take();
    }
    match recipe {
        Value::Array(steps) => steps.iter().for_each(|step| line("", step.to_string())),
        other => line("", other.to_string()),
    }
    let _ = write!(out, "\n{}\n", content.nest.text.trim_end());
    out
}

fn add(store: &mut SqliteStore, file: &Path) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    let name = || file.display().to_string();
    input(file)?.read_to_end(&mut text).with_context(|| format!("cannot read {}", name()))?;
    let addition = parse_line(&text).map_err(|reason| anyhow::anyhow!("{}: {reason}", name()))?;
    let outcomes = store.put(&[Addition { count: Count::Trial, ..addition }])?;
    for outcome in outcomes {
        let what = match outcome.change {
            oxeye_database::Change::Inserted => "added",
            oxeye_database::Change::Replaced => "replaced by this one",
            oxeye_database::Change::Kept => "kept: the stored one has more samples or is as new",
        };
        print_or_quit(&format!("entry {} {what}\n", outcome.id))?;
    }
    Ok(Exit::Done)
}

fn export_to(opened: &Opened, file: &Path) -> anyhow::Result<Exit> {
    let store = opened.store();
    if file == Path::new("-") {
        let written = export(store, file, &mut BufWriter::new(std::io::stdout().lock()));
        return match written {
            // A closed pipe is the reader's business, not an error.
            Err(oxeye_database::DatabaseError::Io { source, .. })
                if source.kind() == std::io::ErrorKind::BrokenPipe =>
            {
                Ok(Exit::Done)
            }
            written => Ok(written.map(|_| Exit::Done)?),
        };
    }
    let own = match &opened.location {
        Location::File(path) => vec![path.as_path()],
        Location::Server(_) => Vec::new(),
    };
    oxeye::check_writable(file, &own)?;
    let n_written = export_file(store, file)?;
    print_or_quit(&format!("{n_written} entries written to {}\n", file.display()))?;
    Ok(Exit::Done)
}

fn input(file: &Path) -> anyhow::Result<Box<dyn Read>> {
    if file == Path::new("-") {
        return Ok(Box::new(std::io::stdin()));
    }
    let opened = std::fs::File::open(file);
    Ok(Box::new(opened.with_context(|| format!("cannot read {}", file.display()))?))
}

/// What entries remember of where they came from: a name, no path, which is nobody else's business.
fn source_name(file: &Path) -> String {
    match file.file_name() {
        Some(name) if file != Path::new("-") => name.to_string_lossy().into_owned(),
        _ => "standard input".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_named_without_their_folders() {
        assert_eq!(source_name(Path::new("/home/me/secret/recipes.jsonl")), "recipes.jsonl");
        assert_eq!(source_name(Path::new("-")), "standard input");
    }
}
