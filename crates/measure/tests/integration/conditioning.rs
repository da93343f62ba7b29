//! Right and wrong candidates of nests whose results are mostly noise.

use std::path::PathBuf;

use oxeye_measure::{
    Argument, Comparison, CompileJob, Compiler, Conditioning, ElementType, Init, MeasureError, Outputs,
    Rejection, Replay, ReplayOptions, Sample, SyntheticArg, Tolerance, WorkDir, verify,
};

const N: usize = 60;

/// An original, and what candidates are compared on.
struct Subject {
    work: WorkDir,
    replay: Replay,
    sample: Sample,
    args: Vec<Argument>,
    declarations: &'static str,
    reference: Outputs,
    conditioning: Conditioning,
    n_candidates: usize,
}

impl Subject {
    fn new(
        declarations: &'static str,
        original: &str,
        inputs: Vec<(&str, ElementType, Vec<f64>)>,
    ) -> Subject {
        let work = WorkDir::new().expect("work folder");
        let replay = Replay::new(&Compiler::new("gcc", ["-O2"]), &work, ReplayOptions::default())
            .expect("runner builds");
        let files: Vec<SyntheticArg> = inputs
            .iter()
            .map(|(name, element, values)| SyntheticArg {
                element: *element,
                elements: values.len() as u64,
                init: Init::Npy(npy(&work, name, *element, values)),
            })
            .collect();
        let sample = Sample::synthetic(&work.join("sample.bin"), &files).expect("sample");
        let args: Vec<Argument> =
            inputs.iter().map(|(name, element, _)| Argument::buffer(*name, *element)).collect();
        let build = |name, flags: &[&str]| library(&work, declarations, name, original, flags);
        let builds = vec![
            build("user", &["-O3", "-ffast-math"]),
            build("precise", &["-O2", "-fno-fast-math", "-ffp-contract=off"]),
            build("fast", &["-O3", "-ffast-math", "-march=native"]),
        ];
        let reference = replay.outputs(&builds[0], &sample).expect("runs");
        let folder = work.subdir("conditioning").expect("made");
        let tolerance = Tolerance::reassociate();
        let conditioning = Conditioning::new(replay.clone(), builds, args.clone(), tolerance, folder, 60.0);
        Subject { work, replay, sample, args, declarations, reference, conditioning, n_candidates: 0 }
    }

    /// What is found of a candidate, and whether the usual tolerance would do.
    fn judge(&mut self, body: &str) -> (Result<Comparison, MeasureError>, bool) {
        self.n_candidates += 1;
        let name = format!("candidate{}", self.n_candidates);
        let library =
            library(&self.work, self.declarations, &name, body, &["-O3", "-ffast-math", "-march=native"]);
        let outputs = self.replay.outputs(&library, &self.sample).expect("runs");
        let usual =
            verify(&self.reference, &outputs, &self.args, Tolerance::reassociate()).expect("compared");
        (self.conditioning.judge(&self.sample, &self.reference, &library, &outputs), usual.mismatch.is_none())
    }

    fn expect_right(&mut self, what: &str, body: &str) {
        let (found, is_usual) = self.judge(body);
        let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(!is_usual, "{what}: needs no more than the usual tolerance");
        let doubt = found.doubt.unwrap_or_else(|| panic!("{what}: no doubt"));
        assert!(doubt.digits_lost > 4.0 && doubt.digits_lost <= doubt.digits, "{what}: {doubt:?}");
    }

    fn expect_wrong(&mut self, what: &str, body: &str) {
        let (found, _) = self.judge(body);
        let error = found.err().unwrap_or_else(|| panic!("{what} passes for right"));
        assert!(matches!(error.rejection(), Some(Rejection::WrongOutput(_))), "{what}: {error}");
    }
}

fn library(work: &WorkDir, declarations: &str, name: &str, body: &str, flags: &[&str]) -> PathBuf {
    let text = format!(
        "#include <math.h>\n#define N {N}\nvoid oxeye_replay(void **args)\n{{\n{declarations}\n{body}\n}}\n"
    );
    let source = work.write(format!("{name}.c"), text).expect("written");
    let job = CompileJob::shared_library(source, work.join(format!("{name}.so")))
        .args(flags.iter().copied())
        .link_args(["-lm"]);
    Compiler::new("gcc", [""; 0]).compile(&job).expect("compiles")
}

fn npy(work: &WorkDir, name: &str, element: ElementType, values: &[f64]) -> PathBuf {
    let descr = if element == ElementType::F32 { "<f4" } else { "<f8" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({},), }}\n", values.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    values.iter().for_each(|value| element.write_f64(*value, &mut bytes));
    work.write(format!("{name}.npy"), bytes).expect("written")
}

/// Orthogonalizes columns that depend on each other: behind the first few, all is noise.
fn orthogonalization() -> Subject {
    let a = (0..N * N).map(|k| ((k / N) * (k % N) % 7) as f64 / 7.0 * 100.0 + 10.0).collect();
    let zeros = vec![0.0; N * N];
    Subject::new(
        "double (*A)[N] = args[0], (*R)[N] = args[1], (*Q)[N] = args[2];",
        &orthogonalize("0", "j = k + 1", "N", "Q[i][k] * A[i][j]"),
        vec![
            ("A", ElementType::F64, a),
            ("R", ElementType::F64, zeros.clone()),
            ("Q", ElementType::F64, zeros),
        ],
    )
}

fn orthogonalize(first: &str, columns: &str, n: &str, product: &str) -> String {
    format!(
        "for (int k = {first}; k < N; k++) {{
            double norm = 0;
            for (int i = 0; i < N; i++) norm += A[i][k] * A[i][k];
            R[k][k] = sqrt(norm);
            for (int i = 0; i < N; i++) Q[i][k] = A[i][k] / R[k][k];
            for (int {columns}; j < {n}; j++) {{
                R[k][j] = 0;
                for (int i = 0; i < N; i++) R[k][j] += {product};
                for (int i = 0; i < N; i++) A[i][j] -= Q[i][k] * R[k][j];
            }}
        }}"
    )
}

#[test]
fn columns_that_depend_on_each_other() {
    let mut subject = orthogonalization();
    // Rows of R as a whole, so that sums are added up in another order.
    let rows = "for (int k = 0; k < N; k++) {
        double norm = 0;
        for (int i = N - 1; i >= 0; i--) norm += A[i][k] * A[i][k];
        R[k][k] = sqrt(norm);
        for (int i = 0; i < N; i++) Q[i][k] = A[i][k] * (1 / R[k][k]);
        for (int j = k + 1; j < N; j++) R[k][j] = 0;
        for (int i = 0; i < N; i++)
            for (int j = k + 1; j < N; j++) R[k][j] += Q[i][k] * A[i][j];
        for (int i = 0; i < N; i++)
            for (int j = k + 1; j < N; j++) A[i][j] -= Q[i][k] * R[k][j];
    }";
    subject.expect_right("another order", rows);
    let wrong = [
        ("a column too few", orthogonalize("0", "j = k + 1", "N - 1", "Q[i][k] * A[i][j]")),
        ("a step too few", orthogonalize("1", "j = k + 1", "N", "Q[i][k] * A[i][j]")),
        ("a column skipped", orthogonalize("0", "j = k + 2", "N", "Q[i][k] * A[i][j]")),
        ("a neighbour", orthogonalize("0", "j = k + 1", "N", "Q[i][k] * A[i][j - 1]")),
        ("half an entry", orthogonalize("0", "j = k + 1", "N", "(i == N - 1 ? 0.5 : 1) * Q[i][k] * A[i][j]")),
        ("stale factors", rows.replace("Q[i][k] * R[k][j]", "Q[i][k] * R[k > 0 ? k - 1 : 0][j]")),
        ("the last column is left", rows.replace("k < N", "k < N - 1")),
        ("nothing", String::new()),
        ("no number", rows.replace("1 / R[k][k]", "0.0 / 0.0")),
    ];
    for (what, body) in wrong {
        subject.expect_wrong(what, &body);
    }
}

/// Solves a Toeplitz system that is far from positive definite.
fn recursion() -> Subject {
    let r = (0..N).map(|i| (N + 1 - i) as f64).collect();
    Subject::new(
        "double *r = args[0], *y = args[1], z[N];",
        &recurse("1", "k", "r[k - i - 1] * y[i]", "y[i] + alpha * y[k - i - 1]"),
        vec![("r", ElementType::F64, r), ("y", ElementType::F64, vec![0.0; N])],
    )
}

fn recurse(first: &str, n: &str, product: &str, update: &str) -> String {
    format!(
        "double alpha = -r[0], beta = 1;
        y[0] = -r[0];
        for (int k = {first}; k < N; k++) {{
            beta = (1 - alpha * alpha) * beta;
            double sum = 0;
            for (int i = 0; i < {n}; i++) sum += {product};
            alpha = -(r[k] + sum) / beta;
            for (int i = 0; i < k; i++) z[i] = {update};
            for (int i = 0; i < k; i++) y[i] = z[i];
            y[k] = alpha;
        }}"
    )
}

#[test]
fn an_unstable_recursion() {
    let mut subject = recursion();
    let good = |product: &str| recurse("1", "k", product, "y[i] + alpha * y[k - i - 1]");
    // Backwards.
    let (found, _) = subject.judge(&good("r[i] * y[k - i - 1]"));
    found.expect("another order");
    let wrong = [
        ("a term too few", recurse("1", "k - 1", "r[k - i - 1] * y[i]", "y[i] + alpha * y[k - i - 1]")),
        ("a step too few", recurse("2", "k", "r[k - i - 1] * y[i]", "y[i] + alpha * y[k - i - 1]")),
        ("a neighbour", good("r[k - i] * y[i]")),
        ("a stale value", recurse("1", "k", "r[k - i - 1] * y[i]", "y[i] + alpha * y[i]")),
        ("nothing", String::new()),
    ];
    for (what, body) in wrong {
        subject.expect_wrong(what, &body);
    }
}

/// A sum of large terms of which next to nothing is left, beside one that is well-conditioned.
#[test]
fn a_sum_that_cancels() {
    // The terms of the second half are those of the first in another order, and negative.
    let term = |i: usize| 1.0 + (i * 7919 % 2048) as f64 * 0.000_37;
    let x = (0..4096).map(|i| if i < 2048 { term(i) } else { -term(i * 5 % 2048) }).collect();
    let mut subject = Subject::new(
        "float *x = args[0], *s = args[1], *q = args[2]; const int n = 4096;",
        "float sum = 0, squares = 0; for (int i = 0; i < n; i++) { sum += x[i] * 1.1f; squares += x[i] * x[i]; } s[0] = sum; q[0] = squares;",
        vec![
            ("x", ElementType::F32, x),
            ("s", ElementType::F32, vec![0.0]),
            ("q", ElementType::F32, vec![0.0]),
        ],
    );
    let candidate = |n: &str, squares: &str| {
        format!(
            "float a = 0, b = 0, squares = 0; for (int i = 0; i < {n}; i += 2) {{ a += x[i] * 1.1f; b += x[i + 1] * 1.1f; \
             squares += {squares}; }} s[0] = a + b; q[0] = squares;"
        )
    };
    let squares = "x[i] * x[i] + x[i + 1] * x[i + 1]";
    subject.expect_right("two sums", &candidate("n", squares));
    subject.expect_wrong("half the terms", &candidate("n / 2", squares));
    // What is well-conditioned has no more slack for its neighbour.
    subject.expect_wrong("squares that are a little off", &candidate("n", &format!("1.0005f * ({squares})")));
    subject.expect_wrong("nothing", "");
}
