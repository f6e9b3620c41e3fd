//! Whole processes against the stand-ins.

mod real_api;
mod real_driver;
