//! Paths to memory through structures.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

/// One step on the way from a variable to a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// A member of a structure.
    Field(String),
    /// Follows a pointer, read from memory or from the variable.
    Follow,
    /// An element. The first indices of an access belong to these steps, the others to the dimensions after the path.
    Subscript,
    /// One element, the same whenever the nest runs, of an array or, behind [`Step::Follow`], from where a pointer leads on: its
    /// index as a C expression of what the nest leaves as it is.
    Element(String),
    /// The real part of a complex number.
    Real,
    /// The imaginary part of a complex number.
    Imaginary,
    /// The numbers in the lanes of a vector, or of an array of vectors, with the type of a pointer to all of them together:
    /// `float (*)[4]`.
    Lanes(String),
}

/// How a scalar, an array or the value of a symbol is reached from a variable: `g->u`, `box[].nei[].number`.
///
/// Up to the first [`Step::Subscript`] this is the *base*: an expression without side effects that has a constant value
/// while the nest runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct View {
    /// The variable.
    pub root: String,
    /// A C declaration of a variable of its name and type, without qualifiers: `struct grid *g`.
    pub declaration: String,
    /// The path from there.
    pub steps: Vec<Step>,
    /// Whether the base is a pointer that is read from memory.
    pub is_loaded: bool,
    /// The layout of the structures that the subscripts lead to: their size, and the offsets and numbers of contiguous
    /// elements. Without subscripts in the path, that of structures which lie in rows behind pointers and hold nothing but
    /// numbers of one type: the last index of an access says which of them. `None` otherwise.
    pub record: Option<Record>,
}

/// The layout of a structure as far as an array needs it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Record {
    /// Size of the structure.
    pub bytes: u64,
    /// Runs of contiguous elements: offset in bytes and number of elements.
    pub runs: Vec<(u64, u64)>,
}

impl View {
    /// An identifier for the base: `g_u` of `g->grid.u[]`, `z_re` of the real part of `z`.
    pub fn plain_name(&self) -> String {
        let base = &self.steps[..self.n_base_steps()];
        let field = base.iter().rev().find_map(|s| match s {
            Step::Field(name) => Some(name.as_str()),
            _ => None,
        });
        let part = match base.last() {
            Some(Step::Real) => "_re",
            Some(Step::Imaginary) => "_im",
            Some(Step::Lanes(_)) => "_lanes",
            _ => "",
        };
        match field {
            Some(field) => format!("{}_{field}{part}", self.root),
            None => format!("{}{part}", self.root),
        }
    }

    /// The number of steps that are subscripts.
    pub fn n_subscripts(&self) -> usize {
        self.steps.iter().filter(|s| **s == Step::Subscript).count()
    }

    /// The number of steps of the base.
    pub fn n_base_steps(&self) -> usize {
        self.steps.iter().position(|s| *s == Step::Subscript).unwrap_or(self.steps.len())
    }

    /// The base as a C expression.
    pub fn base(&self) -> String {
        self.prefix(self.n_base_steps())
    }

    /// The place after the first `n` steps, which must not contain subscripts, as a C expression.
    pub fn prefix(&self, n: usize) -> String {
        let steps = self.steps.get(..n).unwrap_or(&self.steps);
        element(self.root.clone(), steps, &mut std::iter::empty::<String>())
    }

    /// An element as a C expression, where `base` is the text of the base.
    pub fn element(&self, base: String, indices: impl IntoIterator<Item = String>) -> String {
        let mut indices = indices.into_iter();
        let text = element(base, &self.steps[self.n_base_steps()..], &mut indices);
        indices.fold(text, |text, index| format!("{text}[{index}]"))
    }

    /// The pointers that are read from memory on the way, including the base if it is one: the number of steps to each.
    /// The variable itself does not count.
    pub fn loads(&self) -> Vec<usize> {
        let n = self.n_base_steps();
        let mut found: Vec<usize> = (1..n).filter(|k| self.steps[*k] == Step::Follow).collect();
        if self.is_loaded {
            found.push(n);
        }
        found
    }

    /// The pointers that are followed on the way to the base: the number of steps to each.
    pub fn followed(&self) -> Vec<usize> {
        (0..self.n_base_steps()).filter(|k| self.steps[*k] == Step::Follow).collect()
    }

    /// Whether the base is in, or behind, an element of an array of structures.
    pub fn has_elements(&self) -> bool {
        self.steps[..self.n_base_steps()].iter().any(|step| matches!(step, Step::Element(_)))
    }

    /// Whether these are rows of structures behind pointers, `u[i][j].d`: the last dimension is inside of the structures.
    pub fn is_rows_of_structures(&self) -> bool {
        self.record.is_some() && !self.is_interleaved()
    }

    /// Whether consecutive elements are not adjacent.
    pub fn is_interleaved(&self) -> bool {
        self.steps.contains(&Step::Subscript)
    }
}

fn element(base: String, steps: &[Step], indices: &mut dyn Iterator<Item = String>) -> String {
    let mut text = base;
    let mut is_followed = false;
    let mut is_part = false;
    for step in steps {
        match step {
            Step::Field(name) => {
                let arrow = if std::mem::take(&mut is_followed) { "->" } else { "." };
                text = format!("{text}{arrow}{name}");
            }
            Step::Follow => {
                if is_followed {
                    text = format!("(*{text})");
                }
                is_followed = true;
            }
            Step::Subscript => {
                if std::mem::take(&mut is_followed) {
                    text = format!("(*{text})");
                }
                text = format!("{text}[{}]", indices.next().unwrap_or_default());
            }
            Step::Element(index) => {
                is_followed = false;
                text = format!("{text}[{index}]");
            }
            Step::Real => {
                text = format!("__real__ {text}");
                is_part = true;
            }
            Step::Imaginary => {
                text = format!("__imag__ {text}");
                is_part = true;
            }
            Step::Lanes(pointer) => text = format!("(*({pointer})&{text})"),
        }
    }
    if is_followed {
        text = format!("(*{text})");
    }
    if is_part { format!("({text})") } else { text }
}

impl fmt::Display for View {
    /// `"g->u" of "struct grid *g"`: the textual form, without what makes it unique.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        for step in &self.steps {
            match step {
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Follow => f.write_char('*')?,
                Step::Subscript => f.write_str("[]")?,
                Step::Element(index) => write!(f, "[{index}]")?,
                Step::Real => f.write_str(".(real)")?,
                Step::Imaginary => f.write_str(".(imaginary)")?,
                Step::Lanes(pointer) => write!(f, ".(lanes {pointer})")?,
            }
        }
        Ok(())
    }
}

impl View {
    /// Reads root and steps as [`fmt::Display`] writes them.
    pub(crate) fn parse_path(text: &str) -> Option<(String, Vec<Step>)> {
        let end = text.find(['.', '*', '[']).unwrap_or(text.len());
        let (root, mut rest) = text.split_at(end);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if let Some(next) = rest.strip_prefix('*') {
                steps.push(Step::Follow);
                rest = next;
            } else if let Some(next) = rest.strip_prefix("[]") {
                steps.push(Step::Subscript);
                rest = next;
            } else if let Some(next) = rest.strip_prefix('[') {
                let mut depth = 1;
                let end = next.find(|c| {
                    depth += i32::from(c == '[') - i32::from(c == ']');
                    depth == 0
                })?;
                steps.push(Step::Element(next[..end].to_owned()));
                rest = &next[end + 1..];
            } else if let Some(next) = rest.strip_prefix(".(real)") {
                steps.push(Step::Real);
                rest = next;
            } else if let Some(next) = rest.strip_prefix(".(imaginary)") {
                steps.push(Step::Imaginary);
                rest = next;
            } else if let Some(next) = rest.strip_prefix(".(lanes ") {
                let end = next.find("])")?;
                steps.push(Step::Lanes(next[..=end].to_owned()));
                rest = &next[end + 2..];
            } else {
                let next = rest.strip_prefix('.')?;
                let end = next.find(['.', '*', '[']).unwrap_or(next.len());
                if end == 0 {
                    return None;
                }
                steps.push(Step::Field(next[..end].to_owned()));
                rest = &next[end..];
            }
        }
        (!root.is_empty()).then(|| (root.to_owned(), steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(path: &str, is_loaded: bool) -> View {
        let (root, steps) = View::parse_path(path).expect("a path");
        View { root, declaration: "struct s *g".into(), steps, is_loaded, record: None }
    }

    #[test]
    fn paths_are_written_as_c() {
        let indices = || ["i".to_owned(), "j".to_owned()];
        let grid = view("g*.u", true);
        assert_eq!(grid.base(), "g->u");
        assert_eq!(grid.element("u".into(), indices()), "u[i][j]");
        assert_eq!(grid.loads(), [2]);
        assert_eq!(grid.followed(), [0]);
        let boxes = view("s*.list*.box[].nei[].number", true);
        assert_eq!(boxes.base(), "s->list->box");
        assert_eq!(boxes.element(boxes.base(), indices()), "s->list->box[i].nei[j].number");
        assert_eq!(boxes.loads(), [2, 4]);
        let complex = view("x[][].(imaginary)", false);
        assert_eq!(complex.element("x".into(), indices()), "(__imag__ x[i][j])");
        let blocks = view("g*.blocks*[order[n]].data", true);
        assert_eq!(blocks.base(), "g->blocks[order[n]].data");
        assert_eq!(blocks.loads(), [2, 5]);
        assert!(blocks.has_elements());
        for path in [
            "g*.u",
            "blocks*[order[n]].data",
            "a[2].x",
            "s*.list*.box[].nei[].number",
            "x[][].(imaginary)",
            "p**.x",
            "v.(lanes float (*)[2][4])",
        ] {
            assert_eq!(view(path, false).to_string(), path);
        }
        assert_eq!(view("p**.x", false).base(), "(*p)->x");
        assert_eq!(grid.plain_name(), "g_u");
        assert_eq!(view("z.(imaginary)", false).plain_name(), "z_im");
        assert_eq!(view("v.(lanes float (*)[4])", false).base(), "(*(float (*)[4])&v)");
    }
}
