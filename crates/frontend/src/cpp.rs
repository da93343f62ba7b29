//! Signs of C++ in a text that a C compiler refuses. In goes the text; out comes what to say, with the first word that only C++ has.

use crate::lexer::{Token, tokens_and_directives};

/// What to say of a text that is not C, if that is because it is C++.
pub fn cpp_help(text: &str) -> Option<String> {
    let sign = sign_of_cpp(text)?;
    Some(format!(
        "this looks like C++ (`{sign}`), and only C is read; move the loops into a C file, and tune that"
    ))
}

/// A header of the library of C++, or words of the language. A text in C may have some of them as names.
fn sign_of_cpp(text: &str) -> Option<String> {
    let (tokens, directives) = tokens_and_directives(text);
    let header = directives.iter().find_map(|directive| {
        let rest = directive.text.split_once(directive.name())?.1.trim_start();
        let (name, _) = rest.strip_prefix('<').filter(|_| directive.name() == "include")?.split_once('>')?;
        // Headers of C have an end.
        let is_cpp = !name.contains('.') || name.ends_with(".hpp") || name.ends_with(".hxx");
        is_cpp.then(|| format!("#include <{name}>"))
    });
    header.or_else(|| tokens.windows(3).find_map(words_of_cpp))
}

fn words_of_cpp(three: &[Token<'_>]) -> Option<String> {
    let [first, second, third] = three else { return None };
    let is_scope = second.is(":") && third.is(":") && second.end() == third.start;
    match first.text {
        "std" if is_scope => Some("std::".into()),
        "using" if second.is("namespace") => Some("using namespace".into()),
        "template" if second.is("<") => Some("template <".into()),
        "class" if third.is("{") || third.is(":") => Some(format!("class {}", second.text)),
        "public" | "private" | "protected" if second.is(":") => Some(format!("{}:", first.text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_only_cpp_has() {
        for (text, sign) in [
            ("#include <stdio.h>\n#include <vector>\n", "#include <vector>"),
            ("#include <boost/array.hpp>\n", "#include <boost/array.hpp>"),
            ("int main() { std::puts(\"\"); }", "std::"),
            ("using namespace std;", "using namespace"),
            ("template <class T> T f(T x) { return x; }", "template <"),
            ("class A { int x; };", "class A"),
        ] {
            assert_eq!(sign_of_cpp(text).as_deref(), Some(sign), "{text}");
        }
        for text in [
            "#include <stdio.h>\n#include \"own\"\n",
            "// std::vector, #include <vector>\nint template = 3, class = 4;\n",
            "const char *s = \"std::vector\"; int y = a ? std : other;",
        ] {
            assert_eq!(sign_of_cpp(text), None, "{text}");
        }
    }
}
