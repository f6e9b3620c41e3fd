//! Queries of a URL: pairs of names and values, each name once, nothing unknown.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::failure::Failure;
use crate::routes::decoded;

/// What stands behind the question mark.
#[derive(Debug, Default)]
pub(crate) struct Query(BTreeMap<String, String>);

impl Query {
    /// Reads a query of which these names are known.
    pub(crate) fn parse(text: Option<&str>, known: &[&str]) -> Result<Self, Failure> {
        let mut all = BTreeMap::new();
        for pair in text.unwrap_or_default().split('&') {
            if pair.is_empty() {
                continue;
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let unreadable = || Failure::invalid("the query is not readable");
            let name = decode(name).ok_or_else(unreadable)?;
            let value = decode(value).ok_or_else(unreadable)?;
            if !known.contains(&name.as_str()) {
                return Err(Failure::invalid("the query has an unknown parameter"));
            }
            if all.insert(name, value).is_some() {
                return Err(Failure::invalid("a parameter stands twice in the query"));
            }
        }
        Ok(Self(all))
    }

    /// A value, as it is.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A value of some type.
    pub(crate) fn parsed<T: FromStr>(&self, name: &str) -> Result<Option<T>, Failure> {
        let value = self.text(name).map(str::parse);
        let value = value.transpose();
        value.map_err(|_| Failure::invalid(format!("`{name}` has no usable value")))
    }

    /// A value that a type of the protocol checks.
    pub(crate) fn checked<T, E>(
        &self,
        name: &str,
        check: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Failure> {
        let value = self.text(name).map(check).transpose();
        value.map_err(|_| Failure::invalid(format!("`{name}` has no usable value")))
    }
}

/// Undoes the encoding of a form; nothing if it is none. A plus that is meant is written as `%2B`.
fn decode(text: &str) -> Option<String> {
    decoded(&text.replace('+', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_and_what_is_unclear_is_refused() {
        let query = Query::parse(Some("q=a+b%20%C3%BC&limit=3"), &["q", "limit"]).unwrap();
        assert_eq!(query.text("q"), Some("a b ü"));
        assert_eq!(query.parsed::<u32>("limit").unwrap(), Some(3));
        for bad in ["q=1&q=2", "other=1", "q=%G0", "q=%FF", "q=%e"] {
            assert!(Query::parse(Some(bad), &["q"]).is_err(), "{bad}");
        }
        let query = Query::parse(Some("limit=many"), &["limit"]).unwrap();
        assert!(query.parsed::<u32>("limit").is_err());
    }
}
