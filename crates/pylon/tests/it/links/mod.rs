//! The links against peers that cut, repeat, lose and lag.

mod fake_host;
mod host;
mod relay;
