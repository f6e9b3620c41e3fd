//! The macros that declare the shapes of the wire, so that each convention is written once.
//!
//! `data!` makes a struct, `request!` and `reply!` add what every request and every result has, `words!` makes a string
//! enum, `text!` and `number!` make ids, `messages!` and `union!` the tables of messages, and `policy!` says which right a
//! request needs and on which key it is serialized. Nothing here knows what a message means.

#[macro_use]
mod data;
#[macro_use]
mod tables;
#[macro_use]
mod values;
