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
    // The header declares these with what they do not throw.
    let is_declared = |line: &str| line.starts_with("int omp_get_");
    let lines =
        text.lines().filter(|line| !is_declared(line)).map(|line| line.replace("(void *)", "(oxeye_any)"));
    lines.map(|line| line + "\n").collect()
}
