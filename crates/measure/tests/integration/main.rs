//! All integration tests of the crate, in one program: each of its own would link the whole crate once more.

mod capture;
mod conditioning;
mod counted;
mod replay;
mod trace;

/// Whether there is clang 19; it has to be if `OXEYE_REQUIRE` names `clang`.
fn has_clang() -> bool {
    let is_there = oxeye_measure::Compiler::new("clang-19", [""; 0]).family().is_ok();
    let is_required = std::env::var("OXEYE_REQUIRE").is_ok_and(|list| list.split(',').any(|w| w == "clang"));
    assert!(is_there || !is_required, "clang-19 is required but cannot be run");
    is_there
}
