//! The kinds of well-known nests, in the source and in normal form.

use oxeye_analysis::NestKind;
use oxeye_ir::Program;
use oxeye_transform::{Policy, normalize_nest};
use std::fmt::Write;

#[test]
fn kinds_are_those_of_the_literature() {
    let mut shown = String::new();
    for (name, program) in crate::common::kernels() {
        let nest = program.nests.values().next().expect("a nest");
        let normal = normalize_nest(&program, nest, Policy { reassociate: true, finite: false });
        let _ =
            writeln!(shown, "{name}: {}, {}", NestKind::of(nest).name(), NestKind::of(&normal.nest).name());
        // The database stores the text.
        let read = Program::parse(&normal.text).expect("it is well formed");
        assert_eq!(
            NestKind::of(read.nests.values().next().expect("a nest")),
            NestKind::of(&normal.nest),
            "{name}"
        );
    }
    insta::assert_snapshot!(shown);
}
