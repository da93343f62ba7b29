//! Attributes of GNU C that decide on types, which are blanked before the text is parsed.

use crate::lexer::Token;

/// What an attribute says of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attribute {
    /// At least this alignment.
    Aligned(u64),
    /// Another layout of members, or an alignment that is not written as a number.
    Layout,
    /// Another type than its words say: a vector, or a number of another size.
    Type,
}

/// Those among the tokens of an `__attribute__`, `__declspec` or `_Alignas`.
pub(crate) fn found_in(all: &[Token<'_>]) -> Vec<Attribute> {
    let mut found = Vec::new();
    for (k, token) in all.iter().enumerate() {
        found.extend(match token.text.trim_matches('_') {
            "aligned" | "Alignas" | "align" => {
                let number = match all.get(k + 1..) {
                    Some([open, number, close, ..]) if open.is("(") && close.is(")") => {
                        number.text.parse().ok()
                    }
                    _ => None,
                };
                Some(
                    number
                        .filter(|n: &u64| n.is_power_of_two())
                        .map_or(Attribute::Layout, Attribute::Aligned),
                )
            }
            "packed" | "scalar_storage_order" | "gcc_struct" | "ms_struct" => Some(Attribute::Layout),
            "vector_size" | "ext_vector_type" | "neon_vector_type" | "mode" => Some(Attribute::Type),
            _ => None,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::tokens;

    #[test]
    fn attributes_that_decide_on_types() {
        let cases = [
            ("__attribute__((aligned(64)))", vec![Attribute::Aligned(64)]),
            ("__attribute__ ((__aligned__ (N)))", vec![Attribute::Layout]),
            ("__attribute__((unused, packed))", vec![Attribute::Layout]),
            ("__attribute__((vector_size(16), aligned(8)))", vec![Attribute::Type, Attribute::Aligned(8)]),
            ("__attribute__((always_inline))", vec![]),
            ("_Alignas(32)", vec![Attribute::Aligned(32)]),
        ];
        for (text, attributes) in cases {
            assert_eq!(found_in(&tokens(text)), attributes, "{text}");
        }
    }
}
