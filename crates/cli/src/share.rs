//! `oxeye db push`, `pull` and `diff`: one's own file and a server.

use crate::columns::wrapped;
use crate::exit::Exit;
use crate::knowledge::{Places, person};
use crate::manner::Manner;
use crate::mistakes::Mistake;
use crate::table;
use crate::terminal::print_or_quit;
use crate::trials::{note, report, steps};
use oxeye_database::{
    Consents, Difference, NewEntry, NormalForm, Order, PostgresStore, RecipeStore, SharedField, Sharing,
    SqliteStore, difference, merge, push as send,
};
use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal, Write};

/// How trials are sent.
#[derive(clap::Args)]
pub(crate) struct ShareArgs {
    /// What to send besides what every trial has to say, separated by commas
    ///
    /// embedding: the vectors by which others find a recipe. host: what this machine can do, its processor's name. sizes: those of the
    /// nest. normal-form: its loops and operations, without names. flags: all of the compiler's. reasons: why recipes failed.
    /// [default: embedding,host, or what was allowed last]
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    share: Option<Vec<SharedField>>,
    /// Send what is shown without asking, now and after each run with --learn
    #[arg(long)]
    yes: bool,
    /// Show what would be sent, and send nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Print what happened as JSON
    #[arg(long)]
    json: bool,
}

/// One's own file, and the server that was named.
struct Both {
    own: SqliteStore,
    server: PostgresStore,
    address: String,
    /// Who sends.
    person: String,
}

impl Both {
    fn open(places: Places) -> anyhow::Result<Self> {
        let address = places.server.ok_or_else(|| {
            Mistake::new(
                "there is no server; name one with --database, such as postgresql://host/database".to_owned(),
            )
        })?;
        let person = person();
        let own = SqliteStore::open(&places.own, places.on_damage)?;
        for renamed in own.take_set_aside() {
            note(&renamed.to_string());
        }
        let server = PostgresStore::open(&address, &person)?;
        if !server.has_vectors()? && server.n_entries()? > 0 {
            note(&format!(
                "{address} has no pgvector: neighbours are looked up in plain SQL, which takes longer"
            ));
        }
        Ok(Self { own, server, address, person })
    }
}

/// Sends one's own trials.
pub(crate) fn push(places: Places, how: &ShareArgs, manner: &Manner) -> anyhow::Result<Exit> {
    let mut both = Both::open(places)?;
    let own = both.own.path();
    let Some(newest) = both.own.entries(Order::NewestFirst).next().transpose()? else {
        note(&format!("there are no trials in {}; runs with --learn add some", own.display()));
        return Ok(Exit::Done);
    };
    let mut consents = Consents::load(own)?;
    let allowed = consents.of(&both.address);
    let sharing = match &how.share {
        Some(fields) => fields.iter().copied().collect(),
        None => allowed.clone().unwrap_or_default(),
    };
    let is_allowed = allowed.as_ref() == Some(&sharing);
    if !is_allowed || how.dry_run {
        note(&shown(&both, &newest.content, &sharing, manner.view().width)?);
    }
    if how.dry_run {
        return Ok(Exit::Done);
    }
    if !is_allowed {
        if !how.yes && !agreed(&both.address)? {
            note("nothing was sent; --yes sends it without asking");
            return Ok(Exit::Negative);
        }
        consents.allow(&both.address, &sharing, &both.person)?;
    }
    let tally = send(&mut both.server, &both.address, &both.own, &sharing)?;
    report(&tally, false, how.json)?;
    Ok(Exit::Done)
}

/// Adds a server's trials to one's own file.
pub(crate) fn pull(places: Places, as_json: bool) -> anyhow::Result<Exit> {
    let mut both = Both::open(places)?;
    let tally = merge(&mut both.own, &both.address, &both.server)?;
    report(&tally, false, as_json)?;
    Ok(Exit::Done)
}

/// Counts what only one of both has.
pub(crate) fn diff(places: Places, as_json: bool) -> anyhow::Result<Exit> {
    let both = Both::open(places)?;
    let sharing = Consents::load(both.own.path())?.of(&both.address).unwrap_or_default();
    let found = difference(&both.own, &both.server, &sharing)?;
    if as_json {
        print_or_quit(&format!("{:#}\n", serde_json::to_value(found)?))?;
        return Ok(Exit::Done);
    }
    let Difference { only_here, only_there, both: n_both } = found;
    print_or_quit(&format!(
        "{:>8} only in {}\n{only_there:>8} only on {}\n{n_both:>8} in both\n",
        only_here,
        both.own.path().display(),
        both.address
    ))?;
    Ok(Exit::Done)
}

/// What would leave this machine, with a trial as an example.
fn shown(both: &Both, example: &NewEntry, sharing: &Sharing, width: usize) -> anyhow::Result<String> {
    const INDENT: usize = 13;
    let mut text = match both.own.n_entries()? {
        1 => "What would leave this machine of the only trial:\n".to_owned(),
        n => format!("What would leave this machine of each of {n} trials, as of the newest:\n"),
    };
    for (name, value) in told(&sharing.shared(example), &both.person) {
        for (k, line) in wrapped(&value, width.saturating_sub(INDENT)).lines().enumerate() {
            let name = if k == 0 { name } else { "" };
            let _ = writeln!(text, "  {name:<11}{}", line.trim_start());
        }
    }
    let kept: Vec<&str> =
        SharedField::ALL.into_iter().filter(|field| !sharing.has(*field)).map(SharedField::name).collect();
    let stays = match kept.is_empty() {
        true => "The program's text stays here.".to_owned(),
        false => {
            format!("The program's text stays here, and so does what --share can name: {}.", kept.join(", "))
        }
    };
    text += wrapped(&stays, width).trim_end();
    Ok(text)
}

/// Names and values of a trial that is shared.
fn told(content: &NewEntry, person: &str) -> Vec<(&'static str, String)> {
    let context = &content.context;
    let mut lines = vec![("nest", format!("a hash, {}", content.nest.hash))];
    if content.nest.text != NormalForm::WITHHELD {
        lines.push(("form", format!("{} lines of loops and operations", content.nest.text.lines().count())));
    }
    if let Some(embedding) = &content.embedding {
        let n_nodes = embedding.nodes.len();
        lines.push((
            "embedding",
            format!("{} numbers, and those of {n_nodes} loops and statements", embedding.nest.len()),
        ));
    }
    lines.push(("recipe", steps(&content.recipe.steps.value())));
    let time = content.measured.map(|m| {
        format!(
            ", {} before, {} after",
            table::time(1e3 * m.baseline_seconds),
            table::time(1e3 * m.best_seconds)
        )
    });
    lines.push(("result", format!("{}{}", content.verdict.kind(), time.unwrap_or_default())));
    let flags = context.flags.join(" ");
    let version =
        content.compiler_version.strip_prefix(&context.compiler).unwrap_or(&content.compiler_version);
    lines.push(("compiler", format!("{} {} {flags}", context.compiler, version.trim_start())));
    lines.push(("host", context.host_key.clone()));
    if !content.sizes.is_empty() {
        let sizes: Vec<String> = content.sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
        lines.push(("sizes", sizes.join(" ")));
    }
    lines.push(("measured", format!("{} by oxeye {}", content.created_at, content.oxeye_version)));
    lines.push(("sent by", person.to_owned()));
    lines
}

/// Asks; without a terminal, nobody has agreed.
fn agreed(address: &str) -> std::io::Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(false);
    }
    let mut err = std::io::stderr().lock();
    write!(err, "Send this to {address}, now and after each run with --learn? [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
