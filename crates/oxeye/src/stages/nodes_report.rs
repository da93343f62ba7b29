//! What nodes have done, for reports.

use oxeye_nodes::{NodeReport, Nodes};

/// What is to be said of the nodes of a run.
pub(crate) fn nodes_notes(nodes: &Nodes, reports: &[NodeReport]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(why) = nodes.given_up() {
        notes.push(format!("the rest was measured on this machine, without other nodes: {why}"));
    } else if reports.is_empty() {
        notes.push(format!("all was measured on this machine: {}", nodes.why_none()));
    }
    notes.extend(in_words(reports));
    notes
}

/// `node a was`, `nodes a, b were`
fn named(names: &[&str]) -> String {
    let (node, was) = if names.len() == 1 { ("node", "was") } else { ("nodes", "were") };
    format!("{node} {} {was}", names.join(", "))
}

fn in_words(reports: &[NodeReport]) -> Vec<String> {
    let mut notes = Vec::new();
    let aside = || reports.iter().filter_map(|node| Some((node, node.aside.as_ref()?)));
    let mut reasons: Vec<&String> = aside().map(|(_, why)| why).collect();
    reasons.dedup();
    match reasons.as_slice() {
        // Many nodes of a job mostly have the same to say.
        [why] => {
            let names: Vec<&str> = aside().map(|(node, _)| node.name.as_str()).collect();
            notes.push(format!("{} set aside: {why}", named(&names)));
        }
        _ => notes.extend(aside().map(|(node, why)| format!("node {} was set aside: {why}", node.name))),
    }
    let lost: Vec<&str> = reports.iter().filter(|node| node.lost).map(|node| node.name.as_str()).collect();
    if !lost.is_empty() {
        let lost = named(&lost);
        notes.push(format!("{lost} lost before the end; what was begun there went to others"));
    }
    if !reports.is_empty() && reports.iter().all(|node| node.measured == 0 && node.aside.is_some()) {
        let help = "run oxeye on a machine like the nodes, such as one of them: srun --nodes=1 --exclusive oxeye tune ...";
        notes.push(help.into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_are_out_for_the_same_reason_are_named_together() {
        let node = |name: &str, measured, aside: Option<&str>| NodeReport {
            name: name.into(),
            measured,
            aside: aside.map(str::to_owned),
            lost: false,
        };
        let told = in_words(&[node("a", 3, None), node("b", 1, Some("slow")), node("c", 0, Some("slow"))]);
        assert_eq!(told, ["nodes b, c were set aside: slow"]);
        let told = in_words(&[node("a", 0, Some("slow")), node("b", 0, Some("wrong"))]);
        assert_eq!(told[..2], ["node a was set aside: slow", "node b was set aside: wrong"]);
        assert!(told[2].starts_with("run oxeye on a machine like the nodes"), "{told:?}");
        assert_eq!(in_words(&[node("a", 1, None)]), Vec::<String>::new());
        let lost = NodeReport { lost: true, ..node("b", 1, None) };
        let told = in_words(&[node("a", 1, None), lost]);
        assert_eq!(told, ["node b was lost before the end; what was begun there went to others"]);
    }
}
