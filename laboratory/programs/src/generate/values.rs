//! Values and assignments. Floating point is computed with powers of two only, so that nothing is rounded for long; integers
//! never overflow where that is undefined.

use super::maker::Maker;
use super::operand::Element;

/// Something that is read, with its type.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) text: String,
    pub(crate) element: Element,
}

impl Maker {
    /// A value for an element of this type, from these reads and counters.
    pub(crate) fn value(&mut self, element: Element, reads: &[Read], counters: &[String]) -> String {
        match element {
            Element::F64 | Element::F32 => self.float_value(reads, counters),
            Element::I32 | Element::I64 => self.whole_value(reads, counters),
            Element::U32 => self.wrapping_value(reads),
        }
    }

    /// A small whole number that depends on the counters.
    pub(crate) fn of_counters(&mut self, counters: &[String]) -> String {
        let terms: Vec<String> = counters.iter().map(|c| format!("{} * {c}", self.between(1, 5))).collect();
        let sum = if terms.is_empty() { self.between(1, 9).to_string() } else { terms.join(" + ") };
        format!("(int)(({sum}) % {})", self.between(2, 9))
    }

    fn float_value(&mut self, reads: &[Read], counters: &[String]) -> String {
        let reads: Vec<String> = reads.iter().map(as_float).collect();
        let mut terms: Vec<String> = Vec::new();
        for read in &reads {
            let factor = self.one(&["0.5", "0.25", "0.125", "-0.25", "0.0625"]);
            terms.push(match self.between(0, 11) {
                0 => format!("{factor} * ({read} < 0.0 ? -{read} : {read})"),
                1 => format!("{read} / 4"),
                _ => format!("{factor} * {read}"),
            });
        }
        if reads.len() > 1 && self.chance(20) {
            let (a, b) = (&reads[0], &reads[1]);
            terms.push(match self.between(0, 1) {
                0 => format!("({a} > {b} ? 0.25 : -0.5)"),
                _ => format!("0.25 * ({a} > {b} ? {a} : {b})"),
            });
        }
        if terms.is_empty() || self.chance(30) {
            terms.push(format!("0.125 * {}", self.of_counters(counters)));
        }
        terms.join(" + ")
    }

    fn whole_value(&mut self, reads: &[Read], counters: &[String]) -> String {
        let mut terms: Vec<String> = Vec::new();
        for read in reads {
            let small = as_small(read);
            terms.push(match self.between(0, 5) {
                0 => format!("({small} & 31)"),
                1 => format!("{} * {small}", self.between(2, 7)),
                2 => format!("({small} ^ 5)"),
                _ => small,
            });
        }
        if terms.is_empty() || self.chance(30) {
            terms.push(self.of_counters(counters));
        }
        terms.join(if self.chance(80) { " + " } else { " - " })
    }

    fn wrapping_value(&mut self, reads: &[Read]) -> String {
        let mut terms: Vec<String> = Vec::new();
        for read in reads {
            let text = match read.element {
                Element::U32 => read.text.clone(),
                _ => format!("(unsigned){}", as_small(read)),
            };
            terms.push(match self.between(0, 3) {
                0 => format!("{text} * 1664525u"),
                1 => format!("({text} >> {})", self.between(1, 9)),
                2 => format!("({text} << {} | 7u)", self.between(1, 9)),
                _ => text,
            });
        }
        if terms.is_empty() || self.chance(50) {
            terms.push("1013904223u".into());
        }
        terms.join(match self.between(0, 3) {
            0 => " - ",
            1 => " ^ ",
            _ => " + ",
        })
    }

    /// A condition on data or on counters.
    pub(crate) fn condition(&mut self, reads: &[Read], counters: &[String]) -> String {
        let data = (!reads.is_empty()).then(|| reads[self.between(0, reads.len() - 1)].clone());
        match (data, self.between(0, 3)) {
            (Some(read), 0..=1) if read.element.is_float() => format!("{} > 0.5", read.text),
            (Some(read), 0..=1) => format!("{} > 2", as_small(&read)),
            (Some(read), 2) if read.element.is_float() => {
                format!("{} <= 1.0 && {} != -0.25", read.text, read.text)
            }
            _ => {
                let of = self.of_counters(counters);
                format!("{of} != {}", self.between(0, 1))
            }
        }
    }

    /// An assignment to an element.
    pub(crate) fn assignment(&mut self, target: &str, element: Element, value: &str) -> String {
        let how = match element {
            Element::U32 => self.one(&["=", "=", "+=", "^="]),
            Element::F64 | Element::F32 => self.one(&["=", "=", "+=", "-="]),
            _ => self.one(&["=", "=", "+="]),
        };
        format!("{target} {how} {value};\n")
    }
}

/// As a floating-point number of moderate size.
pub(crate) fn as_float(read: &Read) -> String {
    if read.element.is_float() { read.text.clone() } else { format!("(double){}", as_small(read)) }
}

/// As an integer whose sums and small multiples stay in range.
pub(crate) fn as_small(read: &Read) -> String {
    match read.element {
        // What grows beyond any range is not what these programs are about; the clamp keeps the conversion defined.
        Element::F64 | Element::F32 => format!("({0} > -99.0 && {0} < 99.0 ? (int){0} : 3)", read.text),
        Element::U32 => format!("(int)({} % 97u)", read.text),
        Element::I32 => format!("({} % 97)", read.text),
        Element::I64 => format!("(int)({} % 97)", read.text),
    }
}
