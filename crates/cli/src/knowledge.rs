//! The recipe databases that a subcommand looks into and adds to.

use crate::mistakes::Mistake;
use oxeye::{CONFIG_FILE, DonorSearch, Knowledge, Options, ProjectConfig};
use oxeye_database::{
    Addition, Consents, Count, DatabaseError, Location, NewEntry, OnDamage, PostgresStore, RecipeStore,
    SqliteStore, default_location, default_path,
};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The words of `--database`.
pub(crate) fn location() -> impl clap::builder::TypedValueParser<Value = Location> {
    use clap::builder::{OsStringValueParser, TypedValueParser as _};
    OsStringValueParser::new().map(|text: OsString| Location::from(text.as_os_str()))
}

/// Where a subcommand looks up what helped other nests.
#[derive(clap::Args)]
#[command(next_help_heading = "Database")]
pub(crate) struct KnowledgeArgs {
    /// The recipe database to learn from, besides the built-in one
    ///
    /// A file, or the address of a PostgreSQL server, `postgresql://host/database`, which is looked up besides your own file.
    /// [default: as `oxeye db path` says]
    #[arg(long, value_name = "FILE|ADDRESS", hide_short_help = true, value_parser = location())]
    pub(crate) database: Option<Location>,
    /// Do not look up similar nests
    ///
    /// Only what the nest itself suggests is tried then.
    #[arg(long, conflicts_with = "database", hide_short_help = true)]
    no_database: bool,
    /// How nests to learn from are found: embedding, static, hand-made, random or none
    #[arg(long, value_name = "HOW", default_value = "embedding", hide = true, value_parser = donor_search)]
    donors: DonorSearch,
}

impl KnowledgeArgs {
    /// Puts what these arguments say into the options.
    pub(crate) fn apply(&self, options: &mut Options) {
        (options.knowledge, options.donors) = self.chosen();
    }

    /// Where recipes are looked up, and how.
    pub(crate) fn chosen(&self) -> (Knowledge, DonorSearch) {
        let knowledge = if self.no_database { Knowledge::Nothing } else { knowledge(self.database.as_ref()) };
        (knowledge, self.donors)
    }

    /// For a run that only looks up: a database that is not there is an empty one, but its folder has to be there.
    ///
    /// # Errors
    /// If it is not.
    pub(crate) fn check(&self) -> Result<(), Mistake> {
        let Some(Location::File(path)) = &self.database else { return Ok(()) };
        match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            Some(folder) => Err(Mistake::new(format!("--database: there is no folder {}", folder.display()))),
            None => Ok(()),
        }
    }
}

/// What is known in a database that was named, or in the user's own.
pub(crate) fn knowledge(named: Option<&Location>) -> Knowledge {
    // Where there is no home, there is nothing of one's own to look up.
    Places::of(named).map_or(Knowledge::Shipped, |Places { own, on_damage, server }| Knowledge::Own {
        path: own,
        on_damage,
        server,
    })
}

/// The database that was named: with `--database`, in the environment, or in the project's file; else the user's own.
///
/// # Errors
/// If there is no place for one.
pub(crate) fn chosen_location(named: Option<&Location>) -> Result<Location, DatabaseError> {
    if let Some(named) = named {
        return Ok(named.clone());
    }
    let is_set = std::env::var_os("OXEYE_DATABASE").is_some_and(|value| !value.is_empty());
    // A file that cannot be read is told where it is used.
    let of_project = || ProjectConfig::load(Path::new(CONFIG_FILE)).ok()?.database;
    match of_project().filter(|_| !is_set) {
        Some(text) => Ok(Location::from(text.as_ref())),
        None => default_location(),
    }
}

/// The file that a subcommand adds to, and the server that it looks up as well.
pub(crate) struct Places {
    pub(crate) own: PathBuf,
    /// A file that was named, perhaps by mistake, is left as it is.
    pub(crate) on_damage: OnDamage,
    pub(crate) server: Option<String>,
}

impl Places {
    /// Those of the database that was named, or of the user's own.
    ///
    /// # Errors
    /// If there is no place for a file.
    pub(crate) fn of(named: Option<&Location>) -> Result<Self, DatabaseError> {
        Ok(match chosen_location(named)? {
            Location::File(own) => {
                let on_damage = if named.is_some() { OnDamage::Refuse } else { OnDamage::SetAside };
                Self { own, on_damage, server: None }
            }
            Location::Server(address) => {
                Self { own: default_path()?, on_damage: OnDamage::SetAside, server: Some(address) }
            }
        })
    }
}

/// Who lets trials leave this machine.
pub(crate) fn person() -> String {
    let named = ["USER", "LOGNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    named.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

fn donor_search(text: &str) -> Result<DonorSearch, String> {
    let known = DonorSearch::ALL.map(DonorSearch::name);
    let found = DonorSearch::ALL.into_iter().find(|how| how.name() == text);
    found.ok_or_else(|| format!("it is one of {}", known.join(", ")))
}

/// The database that a run adds to.
pub(crate) struct Memory {
    own: SqliteStore,
    server: Option<String>,
}

impl Memory {
    /// Opens the database. Done before anything is measured, so that a run which could not keep what it learns fails at once.
    pub(crate) fn open(named: Option<&Location>) -> anyhow::Result<Self> {
        let Places { own, on_damage, server } = Places::of(named)?;
        Ok(Self { own: SqliteStore::open(&own, on_damage)?, server })
    }

    /// Adds entries, and says in a line what came of it: the tuned file is worth having either way. A server gets what may leave this
    /// machine.
    pub(crate) fn learn(mut self, entries: Vec<NewEntry>) -> String {
        let n_entries = entries.len();
        let batch: Vec<Addition> =
            entries.into_iter().map(|content| Addition { content, count: Count::Trial }).collect();
        let put = self.own.put(&batch);
        let set_aside = self.own.take_set_aside().into_iter().map(|renamed| format!("{renamed}\n"));
        let plural = if n_entries == 1 { "trial" } else { "trials" };
        let learnt = match put {
            Ok(_) => format!("learnt: {n_entries} {plural} added to {}\n", self.own.path().display()),
            Err(error) => format!("nothing was learnt: {error}\n"),
        };
        let sent = self.server.as_deref().filter(|_| n_entries > 0).map(|server| self.sent(server, &batch));
        set_aside.chain([learnt]).chain(sent).collect()
    }

    /// Sends trials to a server, and says what came of it.
    fn sent(&self, server: &str, batch: &[Addition]) -> String {
        let send = || -> Result<bool, DatabaseError> {
            let Some(sharing) = Consents::load(self.own.path())?.of(server) else { return Ok(false) };
            let mut store = PostgresStore::open(server, &person())?;
            let shared = |addition: &Addition| Addition {
                content: sharing.shared(&addition.content),
                count: addition.count,
            };
            store.put(&batch.iter().map(shared).collect::<Vec<_>>())?;
            Ok(true)
        };
        match send() {
            Ok(true) => format!("sent to {server}\n"),
            Ok(false) => format!(
                "not sent to {server}: `oxeye db push` shows what would leave this machine, and asks\n"
            ),
            Err(error) => format!("not sent: {error}; `oxeye db push` sends it later\n"),
        }
    }
}
