//! Directives that make teams of threads, and what the threads race for.

/// What each directive that makes a team is, and what threads race for with it.
#[test]
fn races_are_certain_only() {
    let source = "static double s, t, worst; static int found; static double own;
#pragma omp threadprivate(own)
void f(int n, double *x, double *y)
{
    int i, j, k;
#pragma omp parallel for
    for (i = 0; i < n; i++) {
        t = x[i];
        y[i] = t * t;
    }
#pragma omp parallel for private(t) schedule(static, 4) \\
    reduction(+ : s)
    for (i = 0; i < n; i++) {
        double mine = x[i];
        t = mine;
        s += t;
        own = t;
        y[i] = own;
        if (t > 3)
            found = 1;
    }
#pragma omp parallel for
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            y[i * n + j] = 0;
#pragma omp parallel for collapse(2)
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            y[i * n + j] = 0;
#pragma omp parallel for
    for (i = 0; i < n; i++) {
#pragma omp critical
        worst = worst > x[i] ? worst : x[i];
    }
#pragma omp parallel private(i, k)
    for (k = 0; k < 3; k++) {
#pragma omp for
        for (i = 0; i < n; i++)
            y[i] += k;
    }
}
";
    let unit = crate::common::read(source);
    let races: Vec<(u32, &str)> = unit.races.iter().map(|(line, name)| (*line, name.as_str())).collect();
    assert_eq!(races, [(6, "t"), (22, "j")]);
    assert_eq!(unit.teams, [6, 11, 22, 26, 30, 35]);
    let alone = unit.with_team(30).expect("all are lines of their own");
    let kept: Vec<&str> = alone.lines().filter(|line| line.starts_with('#')).collect();
    let others = [
        "#pragma omp threadprivate(own)",
        "#pragma omp parallel for",
        "#pragma omp critical",
        "#pragma omp for",
    ];
    assert_eq!(kept, others);
    assert!(!alone.contains("reduction"), "{alone}");
    assert_eq!(alone.lines().count(), source.lines().count());
}
