//! The links against peers that cut, repeat, lose and lag.

mod host;
mod relay;
mod tls;
