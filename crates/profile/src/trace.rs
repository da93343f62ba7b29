//! Traces of a program's threads, as Chrome (`about:tracing`) and Perfetto read them.
//!
//! The form is that of "Trace Event Format" (Google, 2016): complete events (`"ph":"X"`) in microseconds, and metadata events
//! that name the process and its threads.

use serde_json::{Map, Value, json};

/// A thread that does something for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSlice {
    /// What: a nest, `function:line`, or a thread's part of one.
    pub name: String,
    /// Its kind, by which viewers select: `nest`, `part`.
    pub category: &'static str,
    /// Which thread, from 0.
    pub thread: u32,
    /// When it began, in nanoseconds.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// What is known besides, such as counters.
    pub arguments: Vec<(String, u64)>,
}

/// A trace as JSON text. `about` says of what it is a trace, such as the file and its compiler; `dropped` how many slices are
/// not in it.
pub fn chrome_trace(slices: &[TraceSlice], title: &str, about: &[(&str, String)], dropped: u64) -> String {
    let mut events =
        vec![json!({"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": title}})];
    let n_threads = slices.iter().map(|slice| slice.thread + 1).max().unwrap_or(0);
    for thread in 0..n_threads {
        let name = if thread == 0 { "first thread".to_owned() } else { format!("thread {thread}") };
        events
            .push(json!({"ph": "M", "name": "thread_name", "pid": 1, "tid": thread, "args": {"name": name}}));
    }
    for slice in slices {
        let mut event = json!({
            "ph": "X", "name": slice.name, "cat": slice.category, "pid": 1, "tid": slice.thread,
            "ts": slice.begin_ns as f64 / 1e3,
            "dur": slice.end_ns.saturating_sub(slice.begin_ns) as f64 / 1e3,
        });
        if !slice.arguments.is_empty() {
            let arguments = slice.arguments.iter().map(|(name, value)| (name.clone(), Value::from(*value)));
            event["args"] = Value::Object(arguments.collect());
        }
        events.push(event);
    }
    let mut other: Map<String, Value> =
        about.iter().map(|(name, text)| ((*name).to_owned(), Value::from(text.clone()))).collect();
    other.insert("dropped".into(), Value::from(dropped));
    let mut text = String::from("{\"displayTimeUnit\":\"ms\",\"otherData\":");
    text += &Value::Object(other).to_string();
    text += ",\"traceEvents\":[\n";
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    text += &lines.join(",\n");
    text + "\n]}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_complete_events_in_microseconds() {
        let slice = TraceSlice {
            name: "f:3".into(),
            category: "nest",
            thread: 1,
            begin_ns: 1500,
            end_ns: 4000,
            arguments: vec![("cycles".into(), 7)],
        };
        let text = chrome_trace(&[slice], "f.c", &[("compiler", "gcc".into())], 2);
        let trace: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(trace["otherData"], json!({"compiler": "gcc", "dropped": 2}));
        let events = trace["traceEvents"].as_array().expect("events");
        let names: Vec<&str> = events.iter().filter_map(|event| event["args"]["name"].as_str()).collect();
        assert_eq!(names, ["f.c", "first thread", "thread 1"]);
        assert_eq!(
            events[3],
            json!({"ph": "X", "name": "f:3", "cat": "nest", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2.5, "args": {"cycles": 7}})
        );
    }
}
