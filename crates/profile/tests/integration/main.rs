//! All integration tests of the crate, in one program: each of its own would link the whole crate once more.

mod profile;
mod report;
mod support;
