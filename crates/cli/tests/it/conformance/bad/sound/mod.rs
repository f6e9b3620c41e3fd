//! A sound example of every request, by theme: each is one that the machine would carry out, or refuse for no other reason
//! than that what it names is not there.
//!
//! Whatever the protocol lets an app say has to be here: a request that is missing fails the test before anything is tried.

mod claude;
mod files;
mod machine;
mod notices;
mod places;
mod tasks;
mod terminals;

use std::collections::{BTreeMap, BTreeSet};

use estelle_proto::{AppToPylon, Message as _};
use serde_json::Value;

use super::super::claude::Talk;

/// Examples of some requests.
type Sound = Vec<(&'static str, Value)>;

/// One of each.
pub(super) fn all(talk: &Talk, call: &Value, folder: &Value) -> BTreeMap<&'static str, Value> {
    let themes = [
        places::sound(talk, folder),
        claude::sound(talk, call),
        files::sound(talk, folder),
        tasks::sound(talk),
        terminals::sound(talk),
        notices::sound(talk),
        machine::sound(talk),
    ];
    let rows = themes.concat();
    let kinds: BTreeSet<&str> = rows.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds.len(), rows.len(), "a request is there twice");
    let wanted: BTreeSet<&str> = AppToPylon::KINDS.iter().copied().collect();
    let missing: Vec<_> = wanted.difference(&kinds).collect();
    assert!(missing.is_empty(), "without an example: {missing:?}");
    let unknown: Vec<_> = kinds.difference(&wanted).collect();
    assert!(unknown.is_empty(), "no app says this: {unknown:?}");
    rows.into_iter().collect()
}
