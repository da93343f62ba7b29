//! The stages of a tuning run, in their order.
//!
//! In: the user's file. Out, stage by stage: what its nests are called with ([`capture`]), the schedules to try
//! ([`propose`]), how they fared ([`measure`]), the tuned file ([`emit`]), and what there is to tell ([`report`],
//! [`record`]).

pub(crate) mod capture;
pub(crate) mod emit;
pub(crate) mod html;
pub(crate) mod measure;
pub(crate) mod propose;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod synthetic_inputs;
