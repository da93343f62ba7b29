//! C that means the same in C++.

/// What text made by [`cpp`] needs in front of it.
pub(super) const ANY: &str = "#ifndef OXEYE_ANY
#define OXEYE_ANY
#include <omp.h>
/* In C, a pointer to anything is one to everything. */
struct oxeye_any {
    void *at;
    template <typename T> explicit oxeye_any(T from) : at((void *)from) {}
    template <typename T> operator T *() const { return (T *)at; }
};
#endif
";

/// The text with conversions that C++ does not make by itself.
pub(super) fn cpp(text: &str) -> String {
    let mut result = String::new();
    for line in text.lines() {
        if line.starts_with("int omp_get_") {
            // The header declares these with what they do not throw.
            continue;
        }
        result += &match line.split_once(" = OXEYE_ALIGN(") {
            Some((target, rest)) => format!("{target} = {}OXEYE_ALIGN({rest}", cast(target)),
            // Arguments of functions; macros give what is cast where they are used.
            None if !line.trim_start().starts_with('#') => line.replace("(void *)", "(oxeye_any)(void *)"),
            None => line.to_owned(),
        };
        result.push('\n');
    }
    result
}

/// The cast to the type of a pointer that is declared: `double *x` or `double (*x)[n]`. Types with extents that are not
/// constant have to be written out.
fn cast(declaration: &str) -> String {
    let declaration = declaration.trim();
    let Some((ty, declarator)) = declaration.split_once('*') else { return "(oxeye_any)".to_owned() };
    match declarator.split_once(')') {
        Some((_, extents)) => format!("({ty}*){extents})"),
        None => format!("({ty}*)"),
    }
}

#[cfg(test)]
mod tests {
    use super::cpp;

    #[test]
    fn pointers_to_anything_are_converted() {
        let text = "#define OXEYE_ALIGN(m, o) ((void *)(m))\ndouble (*x)[n - 2][8] = OXEYE_ALIGN(p, 0);\n    \
                    double *y = OXEYE_ALIGN(p, 64);\nf((void *)A, n);\nint omp_get_thread_num(void);\n";
        let expected = "#define OXEYE_ALIGN(m, o) ((void *)(m))\n\
                        double (*x)[n - 2][8] = (double (*)[n - 2][8])OXEYE_ALIGN(p, 0);\n    \
                        double *y = (double *)OXEYE_ALIGN(p, 64);\nf((oxeye_any)(void *)A, n);\n";
        assert_eq!(cpp(text), expected);
    }
}
