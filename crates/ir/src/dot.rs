//! Dataflow graphs as Graphviz text.

use crate::{DataNode, DataflowGraph, IndexRange, Memlet, Names, Nest, Node, Program, Region};
use std::fmt::Write;

/// The program's regions as clusters, arrays as ellipses, nests as boxes with their loop headers, memlets as edges
/// labelled with the subset and, in parentheses, the number of elements. Input for `dot`.
///
/// ```
/// let program = oxeye_ir::Program::parse("
///     program p {
///       symbol P0 n: i32
///       array A0 x: f64[n] param
///       dataflow { N0 }
///       nest N0 in p { for L0 i: i32 in 0 .. n { S0: x[i] = 0.0 } }
///     }")?;
/// assert!(oxeye_ir::to_dot(&program).contains(r#"[label="x[0 .. n - 1] (n)"]"#));
/// # Ok::<(), oxeye_ir::ParseError>(())
/// ```
pub fn to_dot(program: &Program) -> String {
    let mut writer = Writer { program, names: Names::new(program), out: String::new(), n_clusters: 0 };
    writer.line(0, &format!("digraph \"{}\" {{", escape(&program.name)));
    writer.line(1, "compound=true; node [fontname=\"monospace\"]; edge [fontname=\"monospace\"];");
    writer.region(1, &program.body);
    writer.line(0, "}");
    writer.out
}

struct Writer<'a> {
    program: &'a Program,
    names: Names<'a>,
    out: String,
    n_clusters: usize,
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        _ = writeln!(self.out, "{:width$}{text}", "", width = 2 * depth);
    }

    fn region(&mut self, depth: usize, region: &Region) {
        let cluster = self.n_clusters;
        self.n_clusters += 1;
        let title = match region {
            Region::Sequence(_) => "sequence".to_owned(),
            Region::Dataflow(_) => "dataflow".to_owned(),
            Region::Loop(l) => match (l.iterator, &l.range) {
                (Some(i), Some((from, to))) => {
                    format!(
                        "loop {} in {} .. {}",
                        self.names.symbol(i),
                        self.names.expr(from),
                        self.names.expr(to)
                    )
                }
                (Some(i), None) => format!("loop {}", self.names.symbol(i)),
                (None, _) => "loop".to_owned(),
            },
            Region::Branch { condition, .. } => {
                format!("branch {}", condition.as_ref().map_or("?".to_owned(), |c| self.names.expr(c)))
            }
            Region::Swap(a, b) => {
                let text = format!("swap {} {}", self.names.array(*a), self.names.array(*b));
                return self
                    .line(depth, &format!("r{cluster} [shape=plaintext, label=\"{}\"];", escape(&text)));
            }
            Region::Opaque(opaque) => {
                let label = escape(&format!("opaque: {}", opaque.reason));
                return self
                    .line(depth, &format!("r{cluster} [shape=box, style=dashed, label=\"{label}\"];"));
            }
        };
        self.line(depth, &format!("subgraph cluster_{cluster} {{"));
        self.line(depth + 1, &format!("label=\"{}\";", escape(&title)));
        if let Region::Dataflow(graph) = region {
            self.graph(depth + 1, cluster, graph);
        }
        for child in region.children() {
            self.region(depth + 1, child);
        }
        self.line(depth, "}");
    }

    fn graph(&mut self, depth: usize, cluster: usize, graph: &DataflowGraph) {
        let graph = &graph.graph;
        for node in graph.node_indices() {
            let attributes = match graph[node] {
                DataNode::Array(id) => format!("shape=ellipse, label=\"{}\"", escape(&self.names.array(id))),
                DataNode::Nest(id) => {
                    let mut label = escape(&id.to_string()) + "\\l";
                    if let Some(nest) = self.program.nests.get(&id) {
                        label.push_str(&self.headers(nest));
                    }
                    format!("shape=box, label=\"{label}\"")
                }
            };
            self.line(depth, &format!("r{cluster}_{} [{attributes}];", node.index()));
        }
        for edge in graph.edge_indices() {
            if let Some((from, to)) = graph.edge_endpoints(edge) {
                let label = escape(&self.memlet(&graph[edge]));
                let (from, to) = (from.index(), to.index());
                self.line(depth, &format!("r{cluster}_{from} -> r{cluster}_{to} [label=\"{label}\"];"));
            }
        }
    }

    /// Loop headers, indented by depth, left-aligned lines.
    fn headers(&self, nest: &Nest) -> String {
        let mut label = String::new();
        nest.visit(&mut |path, node| {
            if let Node::Loop(l) = node {
                let header = Names::inside(self.program, path).header(l);
                label.push_str(&"  ".repeat(path.len()));
                label.push_str(&escape(&header));
                label.push_str("\\l");
            }
        });
        label
    }

    fn memlet(&self, memlet: &Memlet) -> String {
        let mut label = self.names.array(memlet.array);
        for range in &memlet.subset {
            match range {
                Some(IndexRange { first, last }) if first == last => {
                    _ = write!(label, "[{}]", self.names.expr(first));
                }
                Some(IndexRange { first, last }) => {
                    _ = write!(label, "[{} .. {}]", self.names.expr(first), self.names.expr(last));
                }
                None => label.push_str("[?]"),
            }
        }
        if let Some(volume) = &memlet.volume {
            _ = write!(label, " ({})", self.names.expr(volume));
        }
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_become_clusters() {
        let program = Program::parse(
            "program p {
               symbol P0 n: i32
               symbol P1 t: i32
               array A0 x: f64[n] param
               array A1 y: f64[n] param
               loop t in 0 .. n {
                 sequence { dataflow { N0 } swap x y opaque \"calls \\\"f\\\"\" reads() writes(*) }
               }
               nest N0 in p { for L0 i: i32 in 1 .. n { for L1 j: i32 in 0 .. i { S0: y[i] += x[j] } } }
             }",
        )
        .unwrap();
        let expected = r#"digraph "p" {
  compound=true; node [fontname="monospace"]; edge [fontname="monospace"];
  subgraph cluster_0 {
    label="loop t in 0 .. n";
    subgraph cluster_1 {
      label="sequence";
      subgraph cluster_2 {
        label="dataflow";
        r2_0 [shape=box, label="N0\lfor L0 i: i32 in 1 .. n\l  for L1 j: i32 in 0 .. i\l"];
        r2_1 [shape=ellipse, label="x"];
        r2_2 [shape=ellipse, label="y"];
        r2_3 [shape=ellipse, label="y"];
        r2_1 -> r2_0 [label="x[0 .. n - 2] (n - 1)"];
        r2_2 -> r2_0 [label="y[1 .. n - 1] (n - 1)"];
        r2_0 -> r2_3 [label="y[1 .. n - 1] (n - 1)"];
      }
      r3 [shape=plaintext, label="swap x y"];
      r4 [shape=box, style=dashed, label="opaque: calls \"f\""];
    }
  }
}
"#;
        assert_eq!(to_dot(&program), expected);
    }
}
