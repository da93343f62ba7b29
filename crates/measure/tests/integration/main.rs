//! All integration tests of the crate, in one program: each of its own would link the whole crate once more.

mod capture;
mod conditioning;
mod counted;
mod replay;
mod trace;
