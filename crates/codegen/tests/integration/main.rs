//! All integration tests of the crate, in one program: each of its own would link the whole crate once more.

mod capture;
mod checks;
mod common;
mod guards;
mod integers;
mod microkernel;
mod random;
mod rendering;
mod teams;
