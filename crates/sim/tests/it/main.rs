//! Whole processes against the stand-ins.

mod conformance;
mod fake_api_process;
mod real_api;
mod real_driver;
mod sim_control;
mod sim_driver;
mod sim_process;
mod sim_turns;
