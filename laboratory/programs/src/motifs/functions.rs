//! Functions with several outputs, changed parameters, structures by value, and names that hide others.

use super::parts::{READ, WRITTEN, read, variable};
use crate::generate::{Construct, Element, Maker, Manner, Read, indented};

/// A function that tells several things about a row, now and then into memory of that row.
pub(super) fn outputs(m: &mut Maker) -> String {
    m.has(Construct::SeveralOutputs);
    m.has(Construct::SmallFunctions);
    let (n, o) = (m.open_size(), m.size());
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[o], element, super::time::ELEMENTS);
    let x = m.array(&[n], element, super::time::ELEMENTS);
    let y = m.array(&[n], element, super::time::ELEMENTS);
    let name = m.global("facts");
    let form = m.between(0, 3);
    let text = match form {
        0 => format!(
            "static void {name}(const {ty} *p, int count, {ty} *sum, {ty} *most)\n{{\n    *sum = 0;\n    *most = -9;\n    for (int i = 0; i < count; i++) {{\n        \
             *sum += p[i];\n        if (p[i] > *most)\n            *most = p[i];\n    }}\n}}\n"
        ),
        1 => format!(
            "static int {name}({ty} p, int by, {ty} *sum, {ty} *most)\n{{\n    if (p < -2)\n        return 0;\n    *sum = 0.5 * p;\n    \
             if (by % 3 == 0)\n        return 1;\n    *most = p + *sum;\n    return 2;\n}}\n"
        ),
        2 => {
            m.has(Construct::FileScope);
            let state = m.global("state");
            m.shown.push(format!("printf(\"{state} %d\\n\", {state});"));
            m.setup.push(format!("{state} = kind;"));
            format!(
                "static int {state};\nstatic void {name}(const {ty} *p, int count, {ty} *sum, {ty} *most)\n{{\n    {ty} own = *sum;\n    \
                 {state} = ({state} + count) % 7;\n    for (int k = 0; k < count; k++)\n        own += p[k] * 0.125;\n    \
                 *sum = own;\n    if ({state} == 3)\n        return;\n    *most = 0.0625 * own;\n}}\n"
            )
        }
        _ => format!(
            "static void {name}(const {ty} *p, int count, {ty} *sum, {ty} *most)\n{{\n    {ty} s = 0, q = 0;\n    while (count-- > 0) {{\n        \
             s += *p;\n        q += *p++ * 0.0078125;\n    }}\n    *sum = s, *most = q;\n}}\n"
        ),
    };
    m.before += &text;
    let size = m.sizes[o].text.clone();
    let alias = m.between(0, 5);
    m.over(0, n, 0, Manner::ANY, |m, i| {
        let first = if form == 1 { x.at(&[i]) } else { a.name.clone() };
        let count = if form == 1 { format!("(int)({i})") } else { format!("(int)({size})") };
        let sum = format!("&{}", x.at(&[i]));
        let most = match alias {
            0 => sum.clone(),
            1 => format!("{} + {i} % ((int)({size}) + 1)", a.name),
            _ => format!("&{}", y.at(&[i])),
        };
        let call = format!("{name}({first}, {count}, {sum}, {most})");
        match (form, m.between(0, 2)) {
            (1, 0) => format!("if (!{call})\n    {} = 3;\n", y.at(&[i])),
            (1, 1) => format!("int found = {call};\nif (found == 2)\n    {} *= 0.5;\n", y.at(&[i])),
            (1, _) => format!("if ({call} == 0)\n    {} += 1;\n", x.at(&[i])),
            (_, 0) => format!(
                "{ty} one = 1, two = 0.5;\n{name}({first}, {count}, &one, &two);\n{} = one + two;\n",
                y.at(&[i])
            ),
            _ => format!("{call};\n"),
        }
    })
}

/// Functions that count their parameters down and step their pointers.
pub(super) fn changed_parameters(m: &mut Maker) -> String {
    m.has(Construct::ChangedParameters);
    m.has(Construct::PointerSteps);
    m.has(Construct::SmallFunctions);
    let (n, o) = (m.size(), m.open_size());
    let element = m.float();
    let ty = element.c();
    let x = m.array(&[o], element, super::time::ELEMENTS);
    let y = m.array(&[o], element, super::time::ELEMENTS);
    let w = m.array(&[n], element, READ);
    let name = m.global("axpy");
    let body = match m.between(0, 6) {
        0 => "    while (n--)\n        *y++ += a * *x++;\n".to_owned(),
        1 => "    for (; n > 0; n--, x++, y++)\n        *y = 0.5 * *y + a * *x;\n".to_owned(),
        2 => format!("    const {ty} *end = x + n;\n    while (x < end)\n        *y++ = a - *x++;\n"),
        5 => {
            // From one pointer to another of which the loop knows nothing else.
            let between = m.global("between");
            let loops = [
                "while (x < end)\n        *y++ += a * *x++;",
                "for (; x != end; ++x, ++y)\n        *y = 0.5 * *y + a * *x;",
                "for (const TYPE *p = end - 1; p >= x; p--)\n        y[p - x] = a - *p;",
            ];
            let text = m.one(&loops).replace("TYPE", ty);
            m.before += &format!(
                "static void {between}({ty} *y, const {ty} *x, const {ty} *end, {ty} a)\n{{\n    {text}\n}}\n"
            );
            format!("    {between}(y, x, x + n, a);\n")
        }
        6 => {
            // A second variable that the header sets, and the header or the body changes.
            let loops = [
                "for (i = 0, k = 0; i < n; i++) {\n        y[i] += a * x[k];\n        k++;\n    }",
                "for (i = 0, k = n - 1; i < n; i++, k--)\n        y[i] = a - x[k];",
                "for (i = 0, k = 1; i < n; i++, k = k * 3 % 7)\n        y[i] += a * x[k % n];",
                "for (i = 0, k = 1; i < n; i++, k = 1 - k)\n        y[i] += a * x[i] - k;",
            ];
            format!("    int i, k;\n    {}\n", m.one(&loops))
        }
        3 => "    if (n <= 0)\n        return;\n    do {\n        y[n - 1] += a * x[n - 1];\n    } while (--n);\n".to_owned(),
        _ => "    a *= 0.5;\n    n -= n % 2;\n    for (int i = 0; i < n; i += 2) {\n        y[i] = a * x[i];\n        y[i + 1] = a + x[i + 1];\n    }\n".to_owned(),
    };
    m.before += &format!("static void {name}(int n, {ty} a, const {ty} *x, {ty} *y)\n{{\n{body}}}\n");
    let count = format!("(int)({})", m.sizes[o].text);
    let (from, to) = (x.name.clone(), y.name.clone());
    // Overlapping, and the same.
    if let (Some(parameter), Some(memory)) = (&x.parameter, &y.memory) {
        m.has(Construct::Overlaps);
        m.calls.push(vec![(parameter.clone(), memory.clone())]);
        m.calls.push(vec![(parameter.clone(), format!("{memory} + 1"))]);
    }
    let form = m.between(0, 2);
    m.over(0, n, 0, Manner::ANY, |_, i| {
        let by = w.at(&[i]);
        match form {
            0 => format!("{name}({count}, 0.25 * {by}, {from}, {to});\n"),
            1 => format!("{name}({count}, 0.0625 * {by}, {from}, {to} + 1);\n{name}({count} > 0 ? {count} - 1 : 0, 0.5, {to}, {from});\n"),
            _ => format!("{name}({count} / 2, 0.125 * {by}, {from} + {count} / 2, {to});\n"),
        }
    })
}

/// Structures that functions take and return whole.
pub(super) fn by_value(m: &mut Maker) -> String {
    m.has(Construct::ByValue);
    m.has(Construct::Structures);
    m.has(Construct::ArraysOfStructures);
    let n = m.size();
    let tag = m.global("vec");
    let (add, scale) = (m.global("add"), m.global("scale"));
    let count = format!("({} + 2)", m.sizes[n].value);
    m.before += &format!("typedef struct {{ double x, y, z; }} {tag};\n");
    let text = match m.between(0, 2) {
        0 => format!(
            "static {tag} {add}({tag} a, {tag} b)\n{{\n    {tag} c;\n    c.x = a.x + b.x;\n    c.y = a.y - b.y;\n    c.z = 0.5 * a.z;\n    return c;\n}}\n"
        ),
        1 => format!(
            "static {tag} {add}({tag} a, {tag} b)\n{{\n    a.x += b.y;\n    a.y = 0.25 * b.x;\n    return a;\n}}\n"
        ),
        _ => format!(
            "static {tag} {add}({tag} a, {tag} b)\n{{\n    return ({tag}){{a.x + b.z, a.y * 0.5, b.x}};\n}}\n"
        ),
    };
    m.before += &text;
    m.before += &format!(
        "static double {scale}(const {tag} *a, {tag} b)\n{{\n    return 0.5 * a->x + 0.25 * b.y - b.z;\n}}\n"
    );
    for (name, seed) in [("va", 3), ("vb", 4)] {
        m.setup.push(format!("{tag} *{name}_data = keep({count} * sizeof *{name}_data);"));
        m.setup.push(format!("fill_d(&{name}_data->x, 3 * {count}, {seed});"));
        m.shown.push(format!("show_d(\"{name}\", &{name}_data->x, 3 * {count});"));
        m.parameter(2, name, format!("{tag} *{name}"), format!("{name}_data"));
    }
    let form = m.between(0, 12);
    let (total, walking) = (m.global("total"), m.global("walking"));
    let before = match form {
        11 => format!("{tag} {total} = {{0, 1}};\n"),
        12 => format!("{tag} *{walking} = va;\n"),
        _ => String::new(),
    };
    let loops = m.over(1, n, 0, Manner::FORWARD, |_, i| match form {
        8 => format!(
            "{tag} sum = {{.z = 1}};\nfor (int q = 0; q < 3; q++)\n    sum = {add}(sum, vb[{i} - 1 + q]);\nva[{i}] = sum;\n"
        ),
        9 => format!("va[{i}] = vb[{i}].x > 0 ? ({tag}){{1, 2}} : {add}(va[{i}], vb[{i} - 1]);\n"),
        10 => format!(
            "if (vb[{i}].y > 0)\n    va[{i}] = {add}({add}(va[{i} - 1], vb[{i}]), {add}(vb[{i} + 1], va[{i}]));\n"
        ),
        11 => format!("if (vb[{i}].x > vb[{i} - 1].x)\n    {total} = {add}({total}, vb[{i}]);\n"),
        12 => format!("{walking}->x = 0.5 * {walking}->y + {i};\n{walking}++;\n"),
        6 => format!("double part = {scale}(&vb[{i}], va[{i}]);\nva[{i}].y = part;\nva[{i}].z += 0.25 * part;\n"),
        7 => format!("{tag} *all = va;\nall[{i}].x = {scale}(&va[{i} - 1], all[{i}]) + all[{i}].y;\n"),
        0 => format!("va[{i}] = {add}(va[{i}], vb[{i} + 1]);\n"),
        1 => format!("{tag} old = va[{i}];\nva[{i}] = vb[{i} - 1];\nvb[{i}] = old;\n"),
        2 => format!("{tag} sum = {add}(va[{i} - 1], vb[{i}]);\nva[{i}].x = sum.y;\nva[{i}].z = {scale}(&sum, vb[{i}]);\n"),
        3 => format!("va[{i}].y = {scale}(&va[{i} + 1], vb[{i}]);\n"),
        4 => format!("{tag} *at = &va[{i}];\n*at = vb[{i}];\nat->x = 0.5 * vb[{i} - 1].x;\n"),
        _ => format!("{tag} zero = {{0}};\nva[{i}] = vb[{i}].x > 0 ? {add}(va[{i}], vb[{i}]) : zero;\n"),
    });
    let after = if form == 11 {
        format!("va[0] = vb[0].z > 0 ? vb[1] : {add}({total}, va[1]);\n")
    } else {
        String::new()
    };
    before + &loops + &after
}

/// Functions that see flat memory as rows.
pub(super) fn flat_rows(m: &mut Maker) -> String {
    m.has(Construct::FlatRows);
    let (n, o) = (m.size(), m.size());
    let count = format!("(({} + 2) * ({} + 2))", m.sizes[n].value, m.sizes[o].value);
    let (rows, width) =
        (format!("((int)({}) + 1)", m.sizes[n].text), format!("((int)({}) + 2)", m.sizes[o].text));
    for (name, seed) in [("fa", 5), ("fb", 6)] {
        m.setup.push(format!("double *{name}_data = keep({count} * sizeof *{name}_data);"));
        m.setup.push(format!("fill_d({name}_data, {count}, {seed});"));
        m.shown.push(format!("show_d(\"{name}\", {name}_data, {count});"));
        m.parameter(2, name, format!("double *{name}"), format!("{name}_data"));
    }
    let name = m.global("sheet");
    let value = match m.between(0, 3) {
        0 => "0.25 * (from[i - 1][j] + from[i][j - 1])",
        1 => "0.5 * from[rows - 1 - i][width - 1 - j] + to[i][j]",
        2 => "from[i - 1][j] - 0.125 * to[i - 1][width - j]",
        _ => "0.5 * to[i][j - 1] + 0.25 * from[i][j]",
    };
    let change = if m.chance(20) { "    width -= 1;\n" } else { "" };
    m.before += &format!(
        "static void {name}(int rows, int width, double to[rows][width], double from[rows][width])\n{{\n{change}    \
         for (int i = 1; i < rows; i++)\n        for (int j = 1; j < width; j++)\n            to[i][j] = {value};\n}}\n"
    );
    let mut passed = |from: &str| match m.between(0, 3) {
        0 => format!("(void *){from}"),
        1 => format!("(double (*)[{width}])({from} + 1)"),
        _ => format!("(double (*)[{width}]){from}"),
    };
    let (to, from) = match passed("fa").len() % 2 {
        0 => (passed("fa"), passed("fb")),
        _ => (passed("fb"), passed("fa")),
    };
    match m.between(0, 3) {
        0 => format!("{name}({rows}, {width}, {to}, {from});\n"),
        1 => format!(
            "for (int t = 0; t < 5; t++) {{\n    double *now = t & 1 ? fb : fa, *next = t & 1 ? fa : fb;\n    \
             {name}({rows}, {width}, (void *)next, (void *)now);\n}}\n"
        ),
        2 => format!(
            "for (int i = 0; i < {rows}; i++) {{\n    double (*sheet)[{width}] = (double (*)[{width}])fa;\n    \
             for (int j = 0; j < {width}; j++)\n        sheet[i][j] = 0.5 * sheet[{rows} - 1 - i][j] + fb[j];\n}}\n"
        ),
        _ => format!("for (int t = 0; t < 3; t++)\n    {name}({rows}, {width}, {to}, {from});\n"),
    }
}

/// Functions with memory of their own, that call themselves, or that are only known when they run.
pub(super) fn unusual(m: &mut Maker) -> String {
    m.has(Construct::SmallFunctions);
    let n = m.size();
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n], element, WRITTEN);
    let name = m.global("odd");
    let form = m.between(0, 3);
    let text = match form {
        0 => {
            m.has(Construct::StaticVariables);
            format!(
                "static {ty} {name}({ty} x, int q)\n{{\n    static int calls;\n    static {ty} last[3];\n    calls = (calls + 1) % 3;\n    \
                 last[calls] = x;\n    return last[(calls + q) % 3] * 0.5;\n}}\n"
            )
        }
        1 => {
            m.has(Construct::Recursion);
            format!(
                "static {ty} {name}({ty} x, int q)\n{{\n    return q <= 0 ? x : 0.5 * {name}(x, q / 2) + 0.25;\n}}\n"
            )
        }
        2 => {
            m.has(Construct::FunctionPointers);
            let (one, two) = (m.global("one"), m.global("two"));
            m.parameter(2, "of", format!("{ty} (*of)({ty}, int)"), format!("kind % 2 ? {one} : {two}"));
            m.plain_types = false;
            format!(
                "static {ty} {one}({ty} x, int q)\n{{\n    return x * 0.5 + q % 2;\n}}\nstatic {ty} {two}({ty} x, int q)\n{{\n    return 0.25 - x + q % 3;\n}}\n"
            )
        }
        _ => {
            m.has(Construct::Switches);
            m.has(Construct::EarlyReturns);
            format!(
                "static {ty} {name}({ty} x, int q)\n{{\n    switch (q % 4) {{\n    case 0:\n        return x;\n    case 1:\n        x = 0.5 * x;\n        break;\n    case 2:\n        x += 1;\n    default:\n        x -= 0.25;\n    }}\n    return x > 0 ? x : -x;\n}}\n"
            )
        }
    };
    m.before += &text;
    let called = if form == 2 { "of".to_owned() } else { name };
    m.over(0, n, 1, Manner::ANY, |_, i| {
        let own = a.at(&[i]);
        format!("{own} = {called}({own}, (int)({i}));\n")
    })
}

/// Variables that hide others of the same name and another type.
pub(super) fn shadows(m: &mut Maker) -> String {
    m.has(Construct::Shadows);
    let n = m.open_size();
    let o = m.size_of("5", true);
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n, o], element, WRITTEN);
    let b = m.array(&[n], element, WRITTEN);
    let (size, width) = (m.sizes[n].text.clone(), m.sizes[o].text.clone());
    let hidden = m.global("level");
    m.before += &format!("static double {hidden} = 3;\n");
    m.shown.push(format!("printf(\"{hidden} %.15g\\n\", {hidden});"));
    let value = |m: &mut Maker, text: &str, of: Element| {
        let reads = [variable(text, of), read(&a, &["i".into(), "j".into()])];
        m.value(element, &reads, &[])
    };
    let at = a.at(&["i", "j"]);
    let inner = match m.between(0, 5) {
        0 => {
            let value = value(m, "t0", Element::I32);
            format!(
                "double t0 = 0.5;\nfor (int j = 0; j < {width}; j++) {{\n    int t0 = j * 3;\n    {at} = {value};\n}}\n{} = t0;\n",
                b.at(&["i"])
            )
        }
        1 => {
            let value = value(m, "k", Element::F64);
            format!(
                "int k = i % 3;\n{{\n    double k = 0.25;\n    for (int j = 0; j < {width}; j++)\n        {at} = {value};\n}}\n{} += k;\n",
                b.at(&["i"])
            )
        }
        2 => {
            let value = value(m, &hidden, Element::I32);
            format!("int {hidden} = i % 4;\nfor (int j = 0; j < {width}; j++)\n    {at} = {value};\n")
        }
        3 => {
            // The inner counter hides the outer one.
            format!(
                "int back = i;\nfor (int i = 0; i < {width}; i++)\n    {} += 0.5 * i;\n{} += back;\n",
                a.at(&["back", "i"]),
                b.at(&["i"])
            )
        }
        4 => {
            let name = m.global("inside");
            m.has(Construct::SmallFunctions);
            m.before += &format!(
                "static {ty} {name}({ty} *i, int b)\n{{\n    {ty} a = 0;\n    for (int j = 0; j < b; j++)\n        a += i[j] * 0.5;\n    {hidden} += 0.25;\n    return a;\n}}\n"
            );
            let row = m.named("line");
            format!(
                "{ty} {row}[3] = {{0.5, i, 2}};\nfor (int j = 0; j < {width}; j++)\n    {at} = {name}({row}, j % 4) + {};\n",
                b.at(&["i"])
            )
        }
        _ => {
            let value = value(m, "float_", Element::F64);
            format!(
                "double float_ = {hidden};\nfor (int j = 0; j < {width}; j++) {{\n    {at} = {value};\n    double float_ = {at};\n    {hidden} = float_ * 0.125;\n}}\n"
            )
        }
    };
    let before = m.one(&["", "double i = 0.5;\n", "{\n    int j = 7;\n    (void)j;\n}\n"]);
    let text = format!("for (int i = 0; i < (int)({size}); i++) {{\n{}}}\n", indented(&inner));
    let after = if before.contains("double i") { format!("{} += i;\n", b.at(&["0"])) } else { String::new() };
    format!("{before}{text}{after}")
}

/// Statement expressions with loops, and assignments inside of expressions.
pub(super) fn in_expressions(m: &mut Maker) -> String {
    let (n, o) = (m.size(), m.open_size());
    let element = m.float();
    let ty = element.c();
    let a = m.array(&[n], element, WRITTEN);
    let w = m.array(&[o], element, READ);
    let width = m.sizes[o].text.clone();
    let form = m.between(0, 4);
    m.over(0, n, 1, Manner::ANY, |m, i| {
        let own = a.at(&[i]);
        let element_of = |k: &str| Read { text: w.at(&[k]), element };
        match form {
            0 => {
                m.has(Construct::StatementExpressions);
                let value = element_of("k").text;
                format!("{own} = 0.5 * ({{ {ty} sum = 0; for (int k = 0; k < (int)({width}); k++) sum += {value}; sum; }});\n")
            }
            1 => {
                m.has(Construct::StatementExpressions);
                let define = "#define LEAST(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })\n";
                m.before = format!("#undef LEAST\n{define}{}", m.before);
                format!("{own} = LEAST({own}, {}) * 0.5;\n", element_of("1").text)
            }
            2 => format!("{ty} x_, y_;\nx_ = y_ = {own} * 0.5;\n{own} = (x_ += 1) + y_;\n"),
            3 => format!("int k = 0;\nwhile (k < (int)({width}))\n    {own} += {} * 0.5;\n", element_of("k++").text),
            _ => format!("int k = (int)({width});\n{ty} sum = 0;\nwhile (--k >= 0 && (sum += {}) < 20)\n    ;\n{own} = sum;\n", element_of("k").text),
        }
    })
}
