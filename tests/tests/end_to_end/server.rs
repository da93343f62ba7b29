//! Recipes that people share on a PostgreSQL server.

use oxeye_tests::{Playground, Ran, alone};
use serde_json::Value;

/// A matrix product, where blocking gains a lot, in a function with a telling name.
const PRODUCT: &str = r#"#include <stdio.h>
#define N 300
static double A[N][N], B[N][N], C[N][N];
static void secret_product(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                C[i][j] += A[i][k] * B[k][j];
}
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            A[i][j] = (i * 3 + j) % 17;
            B[i][j] = (i + j * 5) % 13;
        }
    secret_product();
    printf("%.9e\n", C[7][9]);
    return 0;
}
"#;

const COMPILE: &str = "-- gcc -O2 -DSECRET=1 -march=native -ffast-math";

/// Runs a command as a person with a home of their own, for whom recipes are on a server.
fn run(playground: &Playground, person: &str, address: &str, line: &str) -> Ran {
    let mut command = playground.oxeye(line);
    command.env("OXEYE_DATABASE", address).env("USER", person).env("XDG_DATA_HOME", playground.path(person));
    Ran::from(command.output().expect("oxeye starts"))
}

fn done(ran: Ran) -> String {
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    ran.stdout
}

#[test]
fn what_one_person_pushes_serves_another_and_a_server_that_is_away_stops_nobody() {
    let Some(server) = oxeye_postgres::server() else { return };
    let _alone = alone();
    let address = server.database();
    let playground = Playground::with("product.c", PRODUCT);
    let run = |person: &str, line: &str| run(&playground, person, &address, line);
    assert_eq!(done(run("ann", "db list")), format!("no entries in {address}\n"));
    assert_eq!(done(run("ann", "db path")), format!("{address}\n"));

    // Nothing is sent before somebody has seen what it is.
    let search = format!("search product.c --budget 60s --max-trials 6 --threads 1 {COMPILE}");
    let learnt = done(run("ann", &search));
    assert!(learnt.contains("added to ") && learnt.contains(&format!("not sent to {address}: ")), "{learnt}");
    assert_eq!(done(run("ann", "db list")), format!("no entries in {address}\n"));
    let asked = run("ann", "db push");
    assert_eq!((asked.code, asked.stdout.as_str()), (Some(1), ""));
    for words in
        ["What would leave this machine", "embedding", "sent by    ann", "stays here", "nothing was sent"]
    {
        assert!(asked.stderr.contains(words), "{words}: {}", asked.stderr);
    }
    let dry = run("ann", "db push --dry-run");
    assert!(dry.code == Some(0) && dry.stderr.contains("What would leave"), "{}", dry.stderr);
    let pushed = done(run("ann", "db push --yes"));
    assert!(pushed.ends_with(" entries added, 0 replaced, 0 kept as they were\n"), "{pushed}");
    // Nothing goes there without having been shown.
    for line in ["db import x.jsonl", "db merge x.sqlite", "db add x.json"] {
        let refused = run("ann", line);
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains("adds to a file; name one with --database"), "{}", refused.stderr);
    }
    // From then on, runs send what they learn.
    let again = done(run("ann", &format!("{search} -lm")));
    assert!(again.contains(&format!("sent to {address}\n")), "{again}");
    let text = done(run("ann", "db export -"));
    assert!(text.lines().count() > 3 && !text.to_lowercase().contains("secret"), "{text}");
    server.run(
        address.trim_start_matches("postgresql:///").split('?').next().expect("a name"),
        "do $$ begin assert (select bool_and(allowed_by = 'ann') from oxeye.entry); end $$",
    );

    // Another person, who has measured nothing, and has the product under another name.
    playground.write("other.c", &PRODUCT.replace("secret_product", "multiply"));
    let optimize = format!("optimize other.c --quick --threads 1 --top-k 1 -o bob.c --json - {COMPILE}");
    let report: Value = serde_json::from_str(&done(run("bob", &optimize))).expect("JSON");
    let nests = report["nests"].as_array().expect("nests");
    let is_known =
        |nest: &Value| nest["donor"].as_str().is_some_and(|donor| donor.ends_with(", the same nest"));
    assert!(nests.iter().any(is_known), "{report:#}");
    let counts: Value = serde_json::from_str(&done(run("bob", "db diff --json"))).expect("JSON");
    assert_eq!((&counts["only_here"], &counts["both"]), (&0.into(), &0.into()));
    let pulled = done(run("bob", "db pull"));
    assert!(pulled.contains(" entries added, 0 replaced"), "{pulled}");
    let counts: Value = serde_json::from_str(&done(run("bob", "db diff --json"))).expect("JSON");
    assert_eq!((&counts["only_here"], &counts["only_there"]), (&0.into(), &0.into()));

    // Without the server, a run goes on.
    server.kill();
    let ran = run("bob", &optimize);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr));
    let notes = report["notes"].as_array().expect("notes");
    let away = format!("cannot reach the recipe database {address}: ");
    assert!(notes.iter().any(|note| note.as_str().is_some_and(|note| note.starts_with(&away))), "{notes:?}");
    assert_eq!(report["program"]["verified"], true);
    let refused = run("bob", "db list");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains(&away), "{}", refused.stderr);
}

#[test]
fn addresses_that_cannot_be_used_are_told() {
    let playground = Playground::with("product.c", PRODUCT);
    let ran = playground.run("db push");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("there is no server; name one with --database"), "{}", ran.stderr);
    if oxeye_postgres::server().is_none() {
        return;
    }
    let secret = "--database postgresql://me:hidden@nowhere/recipes";
    for line in [format!("db list {secret}"), format!("optimize product.c {secret} {COMPILE}")] {
        let ran = playground.run(&line);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("it holds a password; put it into ~/.pgpass"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("hidden"), "{}", ran.stderr);
    }
}

#[test]
fn a_project_names_its_database() {
    let playground = Playground::with("oxeye.toml", "database = \"postgresql:///recipes?host=/nowhere\"\n");
    let mut command = playground.oxeye("db path");
    let ran = Ran::from(command.env_remove("OXEYE_DATABASE").output().expect("oxeye starts"));
    assert_eq!(done(ran), "postgresql:///recipes?host=/nowhere\n");
    assert!(done(playground.run("db path")).ends_with("/recipes.sqlite\n"));
}
