//! DaCe programs without DaCe: the C that stands for them computes what NumPy says, and has the normal forms of the same
//! computation written in C.

use oxeye_frontend::{ReadOptions, read_c};
use oxeye_ir::{Nest, Program, ScalarType};
use oxeye_sdfg::{CProgram, Grouping, Json, Sdfg, read_sdfg, to_c};
use oxeye_tests::{Playground, repository};
use oxeye_transform::templates::Base;
use oxeye_transform::{Machine, Policy, normalize_nest, suggest};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn data() -> PathBuf {
    repository().join("crates/sdfg/tests/data")
}

fn in_c(name: &str, grouping: Grouping) -> CProgram {
    let text = std::fs::read_to_string(data().join(format!("{name}.sdfg"))).expect("a file");
    let sdfg = Sdfg::parse(&text).expect("an SDFG");
    let unit = read_sdfg(&sdfg).expect("a program");
    to_c(&sdfg, &unit, grouping).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn names() -> Vec<String> {
    let mut found: Vec<String> = std::fs::read_dir(data())
        .expect("the data")
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".sdfg").map(str::to_owned))
        .collect();
    found.sort();
    found
}

fn numbers(value: &Json) -> Vec<f64> {
    let number = |v: &Json| match v {
        Json::Number(text) => text.parse().expect("a number"),
        other => panic!("{other:?} is no number"),
    };
    value.as_array().map_or_else(|| vec![number(value)], |items| items.iter().map(number).collect())
}

fn bytes(values: &[f64], ty: ScalarType) -> Vec<u8> {
    let of = |x: &f64| -> Vec<u8> {
        match ty {
            ScalarType::F64 => x.to_ne_bytes().to_vec(),
            ScalarType::F32 => (*x as f32).to_ne_bytes().to_vec(),
            ScalarType::I64 | ScalarType::U64 => (*x as i64).to_ne_bytes().to_vec(),
            ScalarType::I32 => (*x as i32).to_ne_bytes().to_vec(),
            ScalarType::U32 => (*x as u32).to_ne_bytes().to_vec(),
            ScalarType::I16 | ScalarType::U16 => (*x as i16).to_ne_bytes().to_vec(),
            ScalarType::I8 | ScalarType::U8 => vec![*x as u8],
        }
    };
    values.iter().flat_map(of).collect()
}

/// The two sums that the harness prints of an array.
fn sums(values: &[f64]) -> (f64, f64) {
    let odd = values.iter().enumerate().map(|(k, x)| (k % 7) as f64 * x).sum();
    (values.iter().sum(), odd)
}

#[test]
fn programs_in_c_compute_what_numpy_says() {
    let mut n_compared = 0;
    for name in names() {
        let program = in_c(&name, Grouping::Together);
        let sample = name.strip_suffix(".plain").unwrap_or(&name);
        let sample = std::fs::read_to_string(data().join(format!("{sample}.json"))).expect("a sample");
        let sample = Json::parse(&sample).expect("JSON");
        let member = |part: &str, name: &str| sample.get(part).and_then(|p| p.get(name)).map(numbers);
        let playground = Playground::new();
        let mut values = BTreeMap::new();
        for parameter in &program.parameters {
            let before = member("sizes", &parameter.of).or_else(|| member("before", &parameter.of));
            let before = before.unwrap_or_else(|| panic!("{name}: no value of {}", parameter.of));
            if parameter.count.is_some() {
                let file = playground.path(&format!("{}.bin", parameter.of));
                std::fs::write(file, bytes(&before, parameter.element)).expect("a file");
            } else {
                values.insert(parameter.of.clone(), before[0].to_string());
            }
        }
        playground.write("kernel.c", &program.source);
        playground.write("main.c", &program.harness(".", &values));
        let ran = playground.shell("gcc -O1 -fopenmp kernel.c main.c -o prog -lm && ./prog");
        assert_eq!(ran.code, Some(0), "{name}: {}\n{}", ran.stderr, program.source);
        for line in ran.stdout.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let parameter = program.parameters.iter().find(|p| p.name == words[0]).expect("a parameter");
            let (sum, odd) = sums(&member("after", &parameter.of).expect("values"));
            for (expected, found) in [(sum, words[1]), (odd, words[2])] {
                let found: f64 = found.parse().expect("a number");
                let tolerance = 1e-4 * expected.abs().max(1e-3);
                assert!(
                    (expected - found).abs() <= tolerance,
                    "{name}: {line}, not {expected}\n{}",
                    program.source
                );
                n_compared += 1;
            }
        }
    }
    assert!(n_compared > 100, "{n_compared}");
}

/// The normal forms of the nests with loops, in the order of the file.
fn normal_forms(source: &str) -> Vec<String> {
    let playground = Playground::with("prog.c", source);
    let unit = read_c(&playground.path("prog.c"), &ReadOptions::default()).expect("C");
    let mut found = Vec::new();
    for function in &unit.functions {
        let mut nests: Vec<_> = function.program.nests.values().filter(|n| !n.loops().is_empty()).collect();
        nests.sort_by_key(|n| n.span.map(|s| s.start));
        let policy = Policy { reassociate: true, finite: false };
        found.extend(nests.iter().map(|nest| normalize_nest(&function.program, nest, policy).text));
    }
    assert!(!found.is_empty(), "no nests in\n{source}");
    found
}

/// The same computations in C. Rows from the diagonal on are arrays, as NumPy has them.
const IN_C: &[(&str, &str)] = &[
    (
        "haar_x",
        "void haar_x(long n, long m, double image[restrict n][2 * m], double out[restrict n][2 * m])
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++) {
            out[i][j] = (image[i][2 * j] + image[i][2 * j + 1]) / 2;
            out[i][m + j] = (image[i][2 * j] - image[i][2 * j + 1]) / 2;
        }
}",
    ),
    (
        "gemm",
        "void gemm(long ni, long nj, long nk, double alpha, double beta, double C[restrict ni][nj],
          double A[restrict ni][nk], double B[restrict nk][nj])
{
    for (long i = 0; i < ni; i++)
        for (long j = 0; j < nj; j++)
            C[i][j] *= beta;
    for (long i = 0; i < ni; i++)
        for (long k = 0; k < nk; k++)
            for (long j = 0; j < nj; j++)
                C[i][j] += alpha * A[i][k] * B[k][j];
}",
    ),
    (
        "mm2",
        "void mm2(long n, long m, long k, double alpha, double beta, double A[restrict n][k], double B[restrict k][m],
         double C[restrict m][k], double D[restrict n][k], double E[restrict n][k], double F[restrict n][m],
         double G[restrict n][k], double H[restrict n][k])
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < k; j++)
            E[i][j] = alpha * A[i][j];
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++) {
            double sum = 0.0;
            for (long l = 0; l < k; l++)
                sum += E[i][l] * B[l][j];
            F[i][j] = sum;
        }
    for (long i = 0; i < n; i++)
        for (long j = 0; j < k; j++) {
            G[i][j] = 0.0;
            for (long l = 0; l < m; l++)
                G[i][j] += F[i][l] * C[l][j];
        }
    for (long i = 0; i < n; i++)
        for (long j = 0; j < k; j++)
            H[i][j] = beta * D[i][j];
    for (long i = 0; i < n; i++)
        for (long j = 0; j < k; j++)
            D[i][j] = G[i][j] + H[i][j];
}",
    ),
    (
        "jacobi_2d",
        "void jacobi_2d(long n, long steps, double A[restrict n][n], double B[restrict n][n])
{
    for (long t = 1; t < steps; t++) {
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++)
                A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
    }
}",
    ),
    (
        "atax",
        "void atax(long m, long n, double A[restrict m][n], double x[restrict n], double y[restrict n], double t[restrict m])
{
    for (long i = 0; i < m; i++) {
        t[i] = 0;
        for (long j = 0; j < n; j++)
            t[i] += A[i][j] * x[j];
    }
    for (long j = 0; j < n; j++) {
        y[j] = 0;
        for (long i = 0; i < m; i++)
            y[j] += t[i] * A[i][j];
    }
}",
    ),
    (
        "covariance",
        "void covariance(long n, long m, double data[restrict n][m], double cov[restrict m][m], double total[restrict m],
                double mean[restrict m], double centred[restrict n][m])
{
    for (long j = 0; j < m; j++) {
        total[j] = 0.0;
        for (long i = 0; i < n; i++)
            total[j] += data[i][j];
    }
    for (long j = 0; j < m; j++)
        mean[j] = total[j] / n;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < m; j++)
            centred[i][j] = data[i][j] - mean[j];
    double sums[m], row[m];
    for (long i = 0; i < m; i++) {
        for (long j = 0; j < m - i; j++) {
            sums[j] = 0.0;
            for (long k = 0; k < n; k++)
                sums[j] += centred[k][i] * centred[k][i + j];
        }
        for (long j = 0; j < m - i; j++)
            cov[i][i + j] = sums[j] / (n - 1.0);
        for (long j = 0; j < m - i; j++)
            row[j] = cov[i][i + j];
        for (long j = 0; j < m - i; j++)
            cov[i + j][i] = row[j];
    }
}",
    ),
];

/// The same of an SDFG, as it was read.
fn normal_forms_of_sdfg(name: &str) -> Vec<String> {
    let program = in_c(name, Grouping::Apart).program;
    let policy = Policy { reassociate: true, finite: false };
    let nests = program.nests.values().filter(|n| !n.loops().is_empty());
    nests.map(|nest| normalize_nest(&program, nest, policy).text).collect()
}

fn unequal(of: impl Fn(&str) -> Vec<String>, names: impl Fn(&str) -> bool) -> String {
    let mut wrong = String::new();
    for (name, c) in IN_C.iter().filter(|(name, _)| names(name)) {
        let (ours, theirs) = (normal_forms(c), of(name));
        if ours != theirs {
            wrong += &format!("{name}, in C:\n{}\nas SDFG:\n{}\n", ours.join("\n"), theirs.join("\n"));
        }
    }
    wrong
}

#[test]
fn the_same_computation_has_the_same_normal_form_in_c_and_as_sdfg() {
    let wrong = unequal(normal_forms_of_sdfg, |_| true);
    assert!(wrong.is_empty(), "{wrong}");
}

/// What is tuned is the C that stands for an SDFG.
#[test]
fn the_c_that_stands_for_an_sdfg_has_its_normal_forms() {
    // Flat subscripts with a common factor are read as rows of pairs.
    let is_known = |name: &str| !matches!(name, "haar_x" | "covariance");
    let wrong = unequal(|name| normal_forms(&in_c(name, Grouping::Apart).source), is_known);
    assert!(wrong.is_empty(), "{wrong}");
}

/// What was found for the C is a recipe for the SDFG, without another search: the same template gives the same steps.
#[test]
fn recipes_of_the_c_serve_the_sdfg() {
    let policy = Policy { reassociate: true, finite: false };
    let machine = Machine { l1: 32 << 10, l2: 1 << 20, l3: 32 << 20, threads: 2, vector_bytes: 32 };
    for (name, c) in IN_C {
        let playground = Playground::with("prog.c", c);
        let unit = read_c(&playground.path("prog.c"), &ReadOptions::default()).expect("C");
        let of_c = &unit.functions[0].program;
        let of_sdfg = in_c(name, Grouping::Apart).program;
        let known = |program: &Program, nest: &Nest| normalize_nest(program, nest, policy).text;
        let mut n_served = 0;
        for nest in of_c.nests.values().filter(|n| !n.loops().is_empty()) {
            let text = known(of_c, nest);
            let Some(twin) = of_sdfg.nests.values().find(|n| known(&of_sdfg, n) == text) else { continue };
            for suggestion in suggest(of_c, nest, &machine, policy).recipes {
                let mut template = suggestion.template;
                template.base = Base::Normal;
                let Ok(recipe) = template.instantiate(of_c, nest, &machine, policy) else { continue };
                let served = template.instantiate(&of_sdfg, twin, &machine, policy);
                assert_eq!(served.as_ref(), Ok(&recipe), "{name}: {}", suggestion.name);
                n_served += 1;
            }
        }
        assert!(n_served > 0, "{name}");
    }
}
