//! The socket with a stand-in for the host behind it: what clients may do, and what they cannot do to each other.

mod commands;
mod desk;
mod door;
mod garbage;
mod slow;
mod stage;
