//! Which loop of a donor is which loop of this nest.

use oxeye_database::NodeEmbedding;
use serde::Serialize;

/// A node of a donor and the node of this nest that it is most like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlignedNode {
    /// `loop` or `stmt`.
    pub kind: String,
    /// As the donor's normal form calls it.
    pub donor: String,
    /// As this nest's normal form calls it.
    pub here: String,
    /// Euclidean distance of their embeddings.
    pub distance: f64,
}

/// Aligns the loops and the statements of a donor with those of this nest: as many as there are of both, in the order of
/// the texts, with the smallest total distance of their embeddings; of equally good ways the one that leaves out later
/// nodes. (The sequence alignment of Needleman and Wunsch, 1970, without costs for gaps.)
pub(crate) fn align(donor: &[NodeEmbedding], here: &[NodeEmbedding]) -> Vec<AlignedNode> {
    let of_kind = |nodes: &[NodeEmbedding], kind: &str| -> Vec<NodeEmbedding> {
        let mut found: Vec<NodeEmbedding> = nodes.iter().filter(|node| node.kind == kind).cloned().collect();
        // `L2` stands before `L10`.
        found.sort_by_key(|node| (node.id.len(), node.id.clone()));
        found
    };
    let kinds = ["loop", "stmt"];
    kinds.iter().flat_map(|kind| of_one_kind(&of_kind(donor, kind), &of_kind(here, kind))).collect()
}

fn of_one_kind(donor: &[NodeEmbedding], here: &[NodeEmbedding]) -> Vec<AlignedNode> {
    let (n, m) = (donor.len(), here.len());
    let cost = |i: usize, j: usize| distance(&donor[i].vector, &here[j].vector);
    // Least cost of the nodes from `i` and `j` on, all of the shorter side aligned.
    let mut least = vec![vec![0.0_f64; m + 1]; n + 1];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let both = cost(i, j) + least[i + 1][j + 1];
            let (left_donor, left_here) = (n - i, m - j);
            let skip_donor = if left_donor > left_here { least[i + 1][j] } else { f64::INFINITY };
            let skip_here = if left_here > left_donor { least[i][j + 1] } else { f64::INFINITY };
            least[i][j] = both.min(skip_donor).min(skip_here);
        }
    }
    let mut aligned = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < n && j < m {
        let distance = cost(i, j);
        if distance + least[i + 1][j + 1] <= least[i][j] {
            let (kind, donor, here) = (donor[i].kind.clone(), donor[i].id.clone(), here[j].id.clone());
            aligned.push(AlignedNode { kind, donor, here, distance });
            (i, j) = (i + 1, j + 1);
        } else if n - i > m - j {
            i += 1;
        } else {
            j += 1;
        }
    }
    aligned
}

/// Vectors of different lengths have nothing in common.
fn distance(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 1e6;
    }
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(kind: &str, places: &[f32]) -> Vec<NodeEmbedding> {
        let letter = if kind == "loop" { "L" } else { "S" };
        let node = |(k, place): (usize, &f32)| NodeEmbedding {
            id: format!("{letter}{k}"),
            kind: kind.into(),
            vector: vec![*place, 0.0],
        };
        places.iter().enumerate().map(node).collect()
    }

    fn pairs(aligned: &[AlignedNode]) -> Vec<(&str, &str)> {
        aligned.iter().map(|a| (a.donor.as_str(), a.here.as_str())).collect()
    }

    #[test]
    fn nodes_are_aligned_in_order_with_what_they_are_like() {
        let aligned = align(&nodes("loop", &[0.0, 1.0, 2.0]), &nodes("loop", &[1.1, 2.1]));
        assert_eq!(pairs(&aligned), [("L1", "L0"), ("L2", "L1")]);
        let back = align(&nodes("loop", &[1.1, 2.1]), &nodes("loop", &[0.0, 1.0, 2.0]));
        assert_eq!(pairs(&back), [("L0", "L1"), ("L1", "L2")]);
        assert!((back[0].distance - 0.1).abs() < 1e-6);
    }

    #[test]
    fn equal_numbers_are_aligned_one_by_one() {
        // Crossing would be nearer, but order counts.
        let aligned = align(&nodes("loop", &[0.0, 5.0]), &nodes("loop", &[5.0, 0.0]));
        assert_eq!(pairs(&aligned), [("L0", "L0"), ("L1", "L1")]);
    }

    #[test]
    fn kinds_are_not_mixed_and_numbers_are_read_as_numbers() {
        let mut donor = nodes("loop", &[0.0; 11]);
        donor.extend(nodes("stmt", &[1.0]));
        let here: Vec<NodeEmbedding> = donor.iter().rev().cloned().collect();
        let aligned = align(&donor, &here);
        assert!(aligned.iter().all(|a| a.donor == a.here), "{aligned:?}");
        assert_eq!(aligned.len(), 12);
        assert_eq!(aligned[10].donor, "L10");
        assert_eq!(aligned[11].kind, "stmt");
        assert!(align(&donor, &[]).is_empty());
    }
}
