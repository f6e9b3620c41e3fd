//! Whole processes against the stand-ins.

mod fake_api_process;
mod real_api;
mod real_driver;
