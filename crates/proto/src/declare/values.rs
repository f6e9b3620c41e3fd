//! Single values: `words!` for string enums, `text!` for texts with a limit and a rule, `number!` for counters.

/// A string enum. A word that is not listed is kept in `Unknown`; words after `|` are read and never written.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$vm:meta])* $variant:ident = $word:tt $(| $alias:tt)*),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
        pub enum $name {
            $(
                $(#[$vm])*
                #[cfg_attr(feature = "gen", schemars(rename = $word), ts(rename = $word))]
                $variant,
            )+
            /// A word this version does not know, kept as it came.
            #[cfg_attr(feature = "gen", schemars(skip), ts(skip))]
            Unknown(String),
        }

        impl $name {
            /// The words this version writes.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Unknown(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word $(| $alias)* => Self::$variant,)+
                    other => Self::Unknown(other.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Ok(Self::from(word.as_ref()))
            }
        }
    };
}

/// A text with a limit in bytes and a rule, checked when it is read and when it is made.
macro_rules! text {
    ($(#[$meta:meta])* pub struct $name:ident(limit = $limit:expr, rule = $rule:path);) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
        pub struct $name(
            #[cfg_attr(feature = "gen", schemars(with = "String"), ts(type = "string"))]
            std::sync::Arc<str>,
        );

        impl $name {
            /// The most bytes it may have.
            pub const LIMIT: usize = $limit;

            /// Checks limit and rule.
            pub fn parse(text: &str) -> Result<Self, $crate::TextError> {
                if text.len() > Self::LIMIT {
                    return Err($crate::TextError::TooLong { length: text.len(), limit: Self::LIMIT });
                }
                $rule(text)?;
                Ok(Self(text.into()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::TextError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::parse(&text).map_err(|error| {
                    let name = $crate::ids::spoken(stringify!($name));
                    serde::de::Error::custom(format_args!("the {name} {error}"))
                })
            }
        }
    };
}

/// A number that counts one thing only.
macro_rules! number {
    ($(#[$meta:meta])* pub struct $name:ident($inner:ty);) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
