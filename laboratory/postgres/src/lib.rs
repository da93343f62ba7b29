//! A PostgreSQL server that lasts as long as a test, on a socket in a temporary folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A server that ends with its owner.
pub struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
}

/// A new server; `None` where PostgreSQL is not installed, unless `OXEYE_REQUIRE` asks for `postgres`.
///
/// # Panics
/// If it is installed and does not start.
pub fn server() -> Option<Server> {
    let found = installed();
    if found.is_none() {
        skip("postgres");
    }
    found.map(Server::of)
}

/// A new server with pgvector: the one whose programs are in the folder `OXEYE_PGVECTOR`. `None` where there is none, unless
/// `OXEYE_REQUIRE` asks for `pgvector`.
///
/// # Panics
/// If it does not start.
pub fn server_with_vectors() -> Option<Server> {
    let found = std::env::var_os("OXEYE_PGVECTOR").map(PathBuf::from);
    if found.is_none() {
        skip("pgvector");
    }
    found.map(Server::of)
}

fn skip(what: &str) {
    let required = std::env::var("OXEYE_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == what), "OXEYE_REQUIRE: there is no {what}");
    eprintln!("skipped: there is no {what}");
}

/// The folder of `initdb`: of the search path, or of Debian.
fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let debian = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    std::env::split_paths(&path).chain(debian).find(|folder| folder.join("initdb").is_file())
}

impl Server {
    fn of(programs: PathBuf) -> Self {
        let server = Self { folder: tempfile::tempdir().expect("a folder"), programs };
        server.give_away();
        let data = server.data();
        assert!(server.command("initdb", &["-D", &data, "-U", "oxeye", "-A", "trust", "-N"]), "initdb");
        server.start();
        server
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    /// PostgreSQL does not run as root: everything belongs to `nobody` then.
    fn give_away(&self) {
        if is_root() {
            let given = Command::new("chown").arg("nobody").arg(self.folder.path()).status();
            assert!(given.is_ok_and(|status| status.success()), "chown");
        }
    }

    fn command(&self, program: &str, words: &[&str]) -> bool {
        let program = self.programs.join(program);
        let mut command = match is_root() {
            true => Command::new("setpriv"),
            false => Command::new(&program),
        };
        if is_root() {
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(&program);
        }
        let log = std::fs::File::create(self.folder.path().join("log")).expect("a file");
        let done = command
            .args(words)
            .current_dir(self.folder.path())
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file"))
            .stderr(log)
            .status();
        let is_done = done.is_ok_and(|status| status.success());
        if !is_done {
            let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            eprintln!("{}: {log}", program.display());
        }
        is_done
    }

    /// Starts it, or starts it again.
    pub fn start(&self) {
        let folder = self.folder.path().display();
        let options = format!("-c listen_addresses= -c unix_socket_directories='{folder}' -c fsync=off");
        let log = format!("{folder}/server.log");
        assert!(self.command("pg_ctl", &["-D", &self.data(), "-l", &log, "-o", &options, "-w", "start"]));
    }

    /// Stops it at once, as if it were killed.
    pub fn kill(&self) {
        assert!(self.command("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]));
    }

    /// The address of a new database on it.
    pub fn database(&self) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("recipes_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        self.run("postgres", &format!("create database {name}"));
        self.address(&name, "oxeye")
    }

    /// The address of a database for a user.
    pub fn address(&self, database: &str, user: &str) -> String {
        format!("postgresql:///{database}?host={}&user={user}", self.folder.path().display())
    }

    /// Whether an extension is installed.
    ///
    /// # Panics
    /// If the server is not there.
    pub fn has(&self, extension: &str) -> bool {
        let address = self.address("postgres", "oxeye");
        let mut connection = oxeye_libpq::Connection::open(&address, &[]).expect("a connection");
        let query = "select 1 from pg_available_extensions where name = $1";
        !connection.query(query, &[Some(extension)]).expect("extensions").is_empty()
    }

    /// Runs statements as the owner.
    pub fn run(&self, database: &str, statements: &str) {
        let address = self.address(database, "oxeye");
        let mut connection = oxeye_libpq::Connection::open(&address, &[]).expect("a connection");
        connection.run(statements).expect("statements");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if Path::new(&self.data()).join("postmaster.pid").exists() {
            self.command("pg_ctl", &["-D", &self.data(), "-m", "immediate", "-w", "stop"]);
        }
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|m| {
        use std::os::unix::fs::MetadataExt;
        m.uid() == 0
    })
}
