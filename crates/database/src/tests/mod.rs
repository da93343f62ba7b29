//! Tests of stores as wholes.

mod concurrency;
mod damage;
mod exchange;
mod properties;
mod server;
mod sharing;
