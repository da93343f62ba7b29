//! Nests inside nests, and replays of nests whose directives give threads arrays of their own.

use crate::common::replays_agree_with;
use oxeye_frontend::{ReadOptions, Unit};
use oxeye_ir::Span;

/// Arrays of constant extents and of others, of the function and of the file, that each thread has of its own.
const PRIVATE: &str = "#define M 40
static double shared[M][M];
static void smooth(int n, double (*restrict u)[M], double (*restrict r)[M])
{
    int i, j;
    double sums[M], line[n];
#pragma omp parallel for private(i, j, sums, line) firstprivate(shared)
    for (i = 1; i < M - 1; i++) {
        for (j = 0; j < M; j++)
            sums[j] = r[i - 1][j] + r[i + 1][j];
        for (j = 0; j < n; j++)
            line[j] = sums[j] * sums[j + 1];
        for (j = 0; j < n; j++)
            u[i][j] = line[j] - sums[j] + shared[i][j];
    }
}
int main(void) { double a[M][M], b[M][M]; smooth(M, a, b); return 0; }
";

#[test]
fn arrays_of_each_thread_are_arrays_in_replays() {
    replays_agree_with(PRIVATE, &["smooth"], &["-fopenmp"]);
}

fn spans(unit: &Unit, function: &str) -> Vec<Span> {
    let function = unit.functions.iter().find(|f| f.name == function).expect("is there");
    function.program.nests.values().map(|nest| nest.span.expect("from a file")).collect()
}

fn first_lines(unit: &Unit, function: &str, loops: &[Span]) -> Vec<u32> {
    let opened = unit.open(&ReadOptions::default(), function, loops).expect("can be read");
    opened.map_or(Vec::new(), |opened| {
        assert_eq!(oxeye_ir::verify(&opened.function.program), Ok(()));
        let nests = &opened.function.program.nests;
        opened.nests.iter().map(|id| nests[id].span.expect("from a file").line).collect()
    })
}

#[test]
fn opened_nests_have_nests_inside() {
    let source = "void f(int n, double a[n][n], double *x)
{
    for (int t = 0; t < 10; t++) {
        x[0] = t;
        for (int i = 0; i < n; i++) {
            x[i] += 1;
            for (int j = 0; j < n; j++)
                a[i][j] = x[i];
            for (int j = 1; j < n; j++)
                x[j] += a[i][j - 1];
        }
    }
    for (int i = 0; i < n; i++)
        x[i] = 0;
}
";
    // The file must be there when it is read again.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.c");
    std::fs::write(&path, source).expect("a file");
    let unit = oxeye_frontend::read_c(&path, &ReadOptions::default()).expect("can be read");
    let outer = spans(&unit, "f");
    assert_eq!(outer.iter().map(|span| span.line).collect::<Vec<_>>(), [3, 13]);
    assert_eq!(first_lines(&unit, "f", &outer[..1]), [5]);
    let opened = unit.open(&ReadOptions::default(), "f", &outer[..1]).expect("read").expect("a nest inside");
    let middle = opened.function.program.nests[&opened.nests[0]].span.expect("from a file");
    assert_eq!(first_lines(&unit, "f", &[outer[0], middle]), [7, 9]);
    assert_eq!(first_lines(&unit, "f", &outer[1..]), [] as [u32; 0]);
    // Another file by now.
    std::fs::write(&path, source.replace("+= 1", "+= 2")).expect("a file");
    assert_eq!(first_lines(&unit, "f", &outer[..1]), [] as [u32; 0]);
}
