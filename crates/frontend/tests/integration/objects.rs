//! Structures that are there whether or not a nest follows the pointer to them.

use crate::common::{SIZES, read, same_output};
use insta::assert_snapshot;

const PROGRAM: &str = "
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { int n; float *plane[3]; } Image;
static Image *image_new(int n)
{
    Image *im = malloc(SIZE);
    if (!im)
        exit(1);
    im->n = n;
    for (int c = 0; c < 3; c++)
        im->plane[c] = calloc(n + 1, sizeof(float));
    return im;
}
EXTRA
STATIC void mask(const Image *in, const Image *sharp, float least, Image *out)
{
    CALL
    for (int c = 0; c < COUNT; c++)
        for (int i = 0; i < in->n; i++) {
            float old = in->plane[c][i];
            out->plane[c][i] = fabsf(old) < least ? old : sharp->plane[c][i];
        }
}
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    Image *in = image_new(n), *sharp = image_new(n), *out = image_new(n);
    Image fixed = *sharp;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < n; i++) {
            in->plane[c][i] = i % 5;
            sharp->plane[c][i] = 100 + i;
        }
    mask(in, sharp, 3, out);
    mask(in, &fixed, 2, out);
    MORE
    float sum = argc;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < n; i++)
            sum += (i + c) * out->plane[c][i];
    printf(\"%g\\n\", sum);
    for (int c = 0; c < 3; c++) {
        free(in->plane[c]);
        free(sharp->plane[c]);
        free(out->plane[c]);
    }
    free(in), free(sharp), free(out);
    return 0;
}
";

fn program(changes: &[(&str, &str)]) -> String {
    let defaults = [
        ("SIZE", "sizeof *im"),
        ("EXTRA", ""),
        ("STATIC", "static"),
        ("CALL", ""),
        ("COUNT", "3"),
        ("MORE", ""),
    ];
    changes.iter().chain(&defaults).fold(PROGRAM.to_owned(), |text, (word, with)| text.replace(word, with))
}

/// What is read of `mask`, or why it is not.
fn mask(changes: &[(&str, &str)]) -> String {
    let unit = read(&program(changes));
    let own = unit.functions.iter().find(|f| f.program.name == "mask" && !f.program.nests.is_empty());
    let text = own.map(|f| f.binding.display(&f.program));
    let messages = unit.diagnostics.iter().map(|d| d.message.clone()).filter(|m| m.contains("sharp"));
    text.unwrap_or_else(|| messages.take(1).collect())
}

#[test]
fn structures_that_only_some_iterations_need() {
    assert_snapshot!(mask(&[]));
    let text = program(&[]).replace("#include <stdio.h>\n#include <stdlib.h>\n", "");
    same_output(&text, 1, SIZES);
    let loops = "COUNT; c++)\n        for (int i = 0; i < in->n; i++) {";
    let rows = "3; c++)\n        for (int k = 0; k < 5; k++)\n            for (int l = 0; l < w; l++) {\n int i = k * w + l;";
    let flat = [("CALL", "const int w = in->n / 5;"), (loops, rows)];
    assert_snapshot!(mask(&flat));
    let text = program(&flat).replace("#include <stdio.h>\n#include <stdlib.h>\n", "");
    same_output(&text, 1, SIZES);
}

#[test]
fn structures_that_may_not_be_there() {
    let changes: &[&[(&str, &str)]] = &[
        &[("MORE", "mask(in, NULL, 99, out);")],
        &[("MORE", "mask(in, &fixed + 1, 99, out);")],
        &[("SIZE", "n")],
        &[("STATIC", "")],
        &[("MORE", "Image *none = malloc(sizeof *none); mask(in, none, 99, out);")],
        &[("MORE", "sharp = NULL; mask(in, sharp, 99, out);")],
        &[("MORE", "sharp++; mask(in, sharp, 99, out);")],
        &[(
            "MORE",
            "void (*other)(const Image *, const Image *, float, Image *) = mask; other(in, 0, 99, out);",
        )],
        &[("EXTRA", "static Image *kept; static void gone(void) { free(kept); }"), ("CALL", "gone();")],
        &[("COUNT", "4")],
    ];
    let text: String = changes.iter().map(|c| format!("{c:?}\n  {}\n", mask(c))).collect();
    assert_snapshot!(text);
}
