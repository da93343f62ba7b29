//! The command line of the tasks.

use std::process::{Command, Output};

fn xtask(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).output().expect("xtask starts")
}

#[test]
fn every_task_has_help() {
    let help = String::from_utf8(xtask(&["--help"]).stdout).expect("UTF-8");
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Long descriptions go on in lines of deeper indentation.
    let tasks: Vec<&str> = listed
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(tasks.contains(&"libtorch") && tasks.contains(&"soak"), "{help}");
    for task in tasks.into_iter().filter(|task| *task != "help") {
        let ran = xtask(&[task, "--help"]);
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(
            ran.status.success() && text.contains(&format!("Usage: cargo xtask {task}")),
            "{task}: {text}"
        );
    }
}

#[test]
fn unknown_tasks_are_named() {
    let ran = xtask(&["bake"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("'bake'"));
}
