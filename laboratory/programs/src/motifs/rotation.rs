//! Levels and buffers that take turns in more ways: carried levels, members, arrays of pointers, turns that depend on data.

use super::parts::shifted;
use crate::generate::{Construct, Element, Maker, Manner, Read, indented};

/// Buffers of one length, as parameters; their names, and the size that is that length but for 2.
fn buffers(m: &mut Maker, n_buffers: usize) -> (Vec<String>, usize, Element) {
    let n = m.open_size();
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    let value = m.sizes[n].value.clone();
    let mut names = Vec::new();
    for k in 0..n_buffers {
        let name = m.named(&format!("f{k}"));
        m.setup.push(format!("{ty} *{name}_data = some_{helper}({value} + 4, {});", k + 5));
        m.shown.push(format!("show_{helper}(\"{name}\", {name}_data, {value} + 4);"));
        names.push(name);
    }
    (names, n, element)
}

fn declared(m: &mut Maker, names: &[String], ty: &str) {
    for name in names {
        m.parameter(2, name, format!("{ty} *{name}"), format!("{name}_data"));
    }
    if m.chance(50) && names.len() > 1 {
        // Two of them are one, or near each other.
        m.has(Construct::Overlaps);
        let (a, b) = (names[0].clone(), names[names.len() - 1].clone());
        let by = m.between(0, 2);
        m.calls.push(vec![(names[1].clone(), format!("{a}_data"))]);
        m.calls.push(vec![(a, format!("{b}_data + {by}"))]);
    }
}

/// `to` from the neighbours in `from`, and an older level.
fn sweep(m: &mut Maker, n: usize, element: Element, to: &str, from: &str, older: Option<&str>) -> String {
    m.over(1, n, 1, Manner::EVERY, |m, i| {
        let mut reads: Vec<Read> = [-1, 0, 1]
            .into_iter()
            .map(|by| Read { text: format!("{from}[{}]", shifted(i, by)), element })
            .collect();
        reads.extend(older.map(|older| Read { text: format!("{older}[{i}]"), element }));
        let value = m.value(element, &reads, &[]);
        format!("{to}[{i}] = {value};\n")
    })
}

/// Levels of one array, in variables that steps carry on.
pub(super) fn levels(m: &mut Maker) -> String {
    m.has(Construct::LevelsInVariables);
    m.has(Construct::Rotating);
    let n = m.open_size();
    let element = m.float();
    let (ty, helper) = (element.c(), element.helper());
    let n_levels = m.between(2, 5);
    let value = m.sizes[n].value.clone();
    let count = format!("{n_levels}l * ({value} + 2)");
    m.setup.push(format!("{ty} *u_data = some_{helper}({count}, 13);"));
    m.shown.push(format!("show_{helper}(\"u\", u_data, {count});"));
    let width = format!("((int)({}) + 2)", m.sizes[n].text);
    let cast = m.chance(40) && m.is_open(n);
    if cast {
        m.plain_types = false;
        m.parameter(2, "u", format!("{ty} (*u)[{} + 2]", m.sizes[n].text), "(void *)u_data".into());
    } else {
        m.parameter(2, "u", format!("{ty} *u"), "u_data".into());
    }
    let level = |of: &str| if cast { format!("u[{of}]") } else { format!("(u + {of} * {width})") };
    let steps = m.integer("steps", "int", "2 * t + kind % 3");
    let last = n_levels - 1;
    let (before, older, after) = match (n_levels, m.between(0, 3)) {
        (2, 0) => ("int now = 0, next = 1;\n".to_owned(), None, "now ^= 1;\nnext ^= 1;\n".to_owned()),
        (2, 1) => {
            ("int now = 0, next = 1;\n".to_owned(), None, "now = 1 - now, next = 1 - next;\n".to_owned())
        }
        (2, 2) => ("int now = 0, next;\n".to_owned(), None, "now = !now;\n".to_owned()),
        (2, _) => (
            "int now = 0, next = 1;\n".to_owned(),
            None,
            "int old = now;\nnow = next;\nnext = old;\n".to_owned(),
        ),
        (_, 0) => (
            "int past = 0, now = 1, next = 2;\n".to_owned(),
            Some("past"),
            "int old = past;\npast = now;\nnow = next;\nnext = old;\n".to_owned(),
        ),
        (_, 1) => (
            format!("int past = {last}, now = 0, next = 1;\n"),
            Some("past"),
            format!("past = now;\nnow = next;\nnext = (next + 1) % {n_levels};\n"),
        ),
        (_, 2) => (
            "int now = 0, next = 1;\n".to_owned(),
            None,
            format!("now = next++;\nif (next == {n_levels})\n    next = 0;\n"),
        ),
        _ => (
            "int now = 0, next = 1;\n".to_owned(),
            None,
            format!("now = next;\nnext = next < {last} ? next + 1 : 0;\n"),
        ),
    };
    let first = if before.contains("next;") { "next = 1 - now;\n" } else { "" };
    let older = older.map(&level);
    let body = sweep(m, n, element, &level("next"), &level("now"), older.as_deref());
    m.returns = Some("double");
    format!(
        "{before}for (int step = 0; step < {steps}; step++) {{\n{}}}\nreturn {}[1];\n",
        indented(&(first.to_owned() + &body + &after)),
        level("now")
    )
}

/// Buffers that are chosen by branches.
pub(super) fn branches(m: &mut Maker) -> String {
    m.has(Construct::ConditionalPointers);
    let (names, n, element) = buffers(m, 2);
    let ty = element.c();
    declared(m, &names, ty);
    let (a, b) = (&names[0], &names[1]);
    let steps = m.integer("steps", "int", "2 * t + kind % 2");
    let body = sweep(m, n, element, "to", "from", None);
    let test =
        m.one(&["step & 1", "step % 2 == 0", "step % 3 == 1", "(step / 2) % 2", "step == 2", "step > 1"]);
    let choice = match m.between(0, 2) {
        0 => format!(
            "{ty} *from, *to;\nif ({test}) {{\n    from = {b};\n    to = {a};\n}} else {{\n    from = {a};\n    to = {b};\n}}\n"
        ),
        1 => format!(
            "{ty} *from = {a}, *to = {b};\nif ({test}) {{\n    {ty} *old = from;\n    from = to;\n    to = old;\n}}\n"
        ),
        _ => format!("{ty} *to = {test} ? {a} : {b};\n{ty} *from = to == {a} ? {b} : {a};\n"),
    };
    format!("for (int step = 0; step < {steps}; step++) {{\n{}}}\n", indented(&(choice + &body)))
}

/// Members, or pointers in an array, that change places.
pub(super) fn places(m: &mut Maker) -> String {
    let (names, n, element) = buffers(m, 2);
    let ty = element.c();
    let steps = m.integer("steps", "int", "t + kind % 3");
    let form = m.between(0, 3);
    let (a, b) = if form < 2 {
        m.has(Construct::MemberSwaps);
        m.has(Construct::MemberPointers);
        let a = m.member(&format!("{ty} *now;"), "now", &format!("{}_data", names[0]));
        let b = m.member(&format!("{ty} *next;"), "next", &format!("{}_data", names[1]));
        (a, b)
    } else {
        m.has(Construct::BufferArrays);
        m.setup.push(format!("{ty} *both_data[2] = {{{}_data, {}_data}};", names[0], names[1]));
        m.parameter(2, "both", format!("{ty} **both"), "both_data".into());
        if form == 2 {
            ("both[0]".to_owned(), "both[1]".to_owned())
        } else {
            ("both[step % 2]".to_owned(), "both[(step + 1) % 2]".to_owned())
        }
    };
    let body = sweep(m, n, element, &b, &a, None);
    let swap = match form {
        3 => String::new(),
        _ => format!("{ty} *old = {a};\n{a} = {b};\n{b} = old;\n"),
    };
    let text = format!("for (int step = 0; step < {steps}; step++) {{\n{}}}\n", indented(&(body + &swap)));
    match form {
        3 => text,
        _ => format!("{text}{a}[0] += 2;\n"),
    }
}

/// Three or four pointers that rotate, either way, by a macro, at the start of a step, or not in every step.
pub(super) fn rotated(m: &mut Maker) -> String {
    let n_buffers = m.between(2, 4);
    if n_buffers == 4 {
        m.has(Construct::FourWaySwaps);
    }
    let (names, n, element) = buffers(m, n_buffers);
    let ty = element.c();
    declared(m, &names, ty);
    let steps = m.integer("steps", "int", "2 * t + kind");
    let older = (n_buffers > 2).then(|| names[n_buffers - 1].clone());
    let body = sweep(m, n, element, &names[1], &names[0], older.as_deref());
    let mut turn = names.clone();
    if m.chance(50) {
        turn.reverse();
    }
    let rotate = if m.chance(30) && n_buffers == 2 {
        let define = "#define SWAP(type, a, b) do { type swap_ = (a); (a) = (b); (b) = swap_; } while (0)\n";
        m.before = format!("#undef SWAP\n{define}{}", m.before);
        format!("SWAP({ty} *, {}, {});\n", names[0], names[1])
    } else {
        let mut text = format!("{ty} *old = {};\n", turn[0]);
        for k in 1..n_buffers {
            text += &format!("{} = {};\n", turn[k - 1], turn[k]);
        }
        text + &format!("{} = old;\n", turn[n_buffers - 1])
    };
    let now_and_then = m
        .one(&["", "", "if (step % 3 != 1)", "if (step > 0)", &format!("if ({}[1] > 0)", names[0])])
        .to_owned();
    let rotate = if now_and_then.is_empty() {
        rotate
    } else {
        m.has(Construct::OddSwaps);
        format!("{now_and_then} {{\n{}}}\n", indented(&rotate))
    };
    let inside = if m.chance(30) { rotate + &body } else { body + &rotate };
    let text = format!("for (int step = 0; step < {steps}; step++) {{\n{}}}\n", indented(&inside));
    match m.between(0, 2) {
        0 => {
            m.returns = Some("double");
            format!("{text}return {}[1] + 0.5 * {}[0];\n", names[0], names[1])
        }
        1 => {
            let size = m.sizes[n].text.clone();
            format!(
                "{text}if ({0} != {1})\n    memmove({1}, {0}, (unsigned)({size}) * sizeof *{0});\n",
                names[0],
                names[n_buffers - 1]
            )
        }
        _ => text,
    }
}
