//! Failures of a check in the forms that services show beside the lines they are about.

use oxeye::CheckReport;
use serde_json::{Value, json};
use std::path::Path;

/// A failure and where it is; `None` for the program as a whole.
struct Annotation<'a> {
    place: Option<(&'a Path, u32)>,
    message: String,
}

fn annotations(report: &CheckReport) -> Vec<Annotation<'_>> {
    let mut all = Vec::new();
    for file in &report.files {
        let path = file.path.as_path();
        let whole =
            file.failure.iter().map(|why| Annotation { place: Some((path, 1)), message: why.clone() });
        all.extend(whole);
        for nest in &file.nests {
            let message = |why: &String| format!("{}(): {why}", nest.locked.function);
            let failure = nest.failure.iter().map(message);
            all.extend(failure.map(|message| Annotation { place: Some((path, nest.locked.line)), message }));
        }
    }
    let program = report.program.failure.iter().map(|why| format!("the program {why}"));
    all.extend(program.map(|message| Annotation { place: None, message }));
    all
}

/// As commands of GitHub's workflows, a line each.
pub(crate) fn github(report: &CheckReport) -> String {
    let escaped = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| escaped(text).replace(':', "%3A").replace(',', "%2C");
    let line = |found: &Annotation<'_>| {
        let place = found.place.map(|(path, line)| {
            format!(" file={},line={line},title=oxeye check", property(&path.to_string_lossy()))
        });
        format!(
            "::error{}::{}\n",
            place.unwrap_or_else(|| " title=oxeye check".into()),
            escaped(&found.message)
        )
    };
    annotations(report).iter().map(line).collect()
}

/// As a document of the Static Analysis Results Interchange Format, version 2.1.0.
pub(crate) fn sarif(report: &CheckReport) -> String {
    let location = |(path, line): (&Path, u32)| {
        json!({ "physicalLocation": {
            "artifactLocation": { "uri": path.to_string_lossy().replace('\\', "/") },
            "region": { "startLine": line.max(1) },
        } })
    };
    let result = |found: &Annotation<'_>| {
        let places: Vec<Value> = found.place.map(location).into_iter().collect();
        json!({ "ruleId": "tuned", "level": "error", "message": { "text": found.message }, "locations": places })
    };
    let results: Vec<Value> = annotations(report).iter().map(result).collect();
    let rule = json!({
        "id": "tuned",
        "shortDescription": { "text": "A tuned loop nest lost its text, its speed or its results" },
    });
    let driver = json!({ "name": "oxeye", "version": env!("CARGO_PKG_VERSION"), "rules": [rule] });
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": results }],
    });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxeye::{CheckedFile, CheckedProgram};

    fn report() -> CheckReport {
        let file = CheckedFile {
            path: "src/a,b.c".into(),
            same_machine: true,
            failure: Some("the build does not compile it any more".into()),
            nests: Vec::new(),
        };
        CheckReport {
            schema: oxeye::CHECK_SCHEMA,
            passed: false,
            failures: Vec::new(),
            machine: None,
            slack: 0.25,
            program: CheckedProgram {
                failure: Some("is 50 % slower\nthan then".into()),
                ..Default::default()
            },
            files: vec![file],
            seconds: 1.0,
            phases: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn failures_are_commands_of_a_workflow() {
        assert_eq!(
            github(&report()),
            "::error file=src/a%2Cb.c,line=1,title=oxeye check::the build does not compile it any more\n\
             ::error title=oxeye check::the program is 50 %25 slower%0Athan then\n"
        );
    }

    #[test]
    fn failures_are_results_of_an_analysis() {
        let document: Value = serde_json::from_str(&sarif(&report())).expect("JSON");
        let results = &document["runs"][0]["results"];
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "src/a,b.c");
        assert_eq!(results[1]["message"]["text"], "the program is 50 % slower\nthan then");
        assert_eq!(results[1]["locations"], json!([]));
    }
}
