//! Tables of messages: `messages!` for those in an envelope, `union!` for flat objects, `policy!` for requests.
//!
//! A row is all it takes to add a message: its name and its struct.

/// A table of messages that travel in an envelope: `type` names the row, `payload` holds its struct.
macro_rules! messages {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($variant:ident = $kind:tt $(| $alias:tt)*),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
        #[cfg_attr(feature = "gen", schemars(tag = "type", content = "payload"))]
        #[cfg_attr(feature = "gen", ts(tag = "type", content = "payload"))]
        pub enum $name {
            $(
                #[doc = concat!("`", $kind, "`")]
                #[cfg_attr(feature = "gen", schemars(rename = $kind), ts(rename = $kind))]
                $variant($variant),
            )+
            /// A message this version does not know, kept as it came.
            #[cfg_attr(feature = "gen", schemars(skip), ts(skip))]
            Unknown($crate::UnknownMessage),
        }

        impl $crate::Message for $name {
            const KINDS: &'static [&'static str] = &[$($kind),+];

            fn knows(kind: &str) -> bool {
                matches!(kind, $($kind $(| $alias)*)|+)
            }

            fn kind(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $kind,)+
                    Self::Unknown(message) => &message.kind,
                }
            }

            fn from_parts(
                kind: &str,
                payload: Option<&serde_json::value::RawValue>,
            ) -> Result<Self, $crate::DecodeError> {
                match kind {
                    $($kind $(| $alias)* => $crate::envelope::decode_payload($kind, payload).map(Self::$variant),)+
                    other => Ok(Self::Unknown($crate::UnknownMessage::new(other, payload))),
                }
            }

            fn payload(&self) -> Result<Option<$crate::Json>, $crate::EncodeError> {
                match self {
                    $(Self::$variant(body) => $crate::envelope::encode_payload(body),)+
                    Self::Unknown(message) => Ok(message.payload.clone()),
                }
            }
        }

        impl $name {
            /// The name of the row of a `type`.
            pub fn variant_of(kind: &str) -> Option<&'static str> {
                match kind {
                    $($kind $(| $alias)* => Some(stringify!($variant)),)+
                    _ => None,
                }
            }
        }

        $(impl From<$variant> for $name {
            fn from(body: $variant) -> Self {
                Self::$variant(body)
            }
        })+

        #[cfg(feature = "gen")]
        impl $crate::catalog::Listed for $name {
            fn rows() -> Vec<$crate::catalog::Row> {
                vec![$($crate::catalog::Row::of::<$variant>($kind)),+]
            }
        }
    };
}

/// The policy beside a table of requests: the right each needs, a higher one that some of its wishes need, and the key it
/// is serialized on.
macro_rules! policy {
    ($name:ident { $($variant:ident => $right:ident $(or $higher:ident if $when:path)?, $key:expr;)+ }) => {
        impl $name {
            /// The right a device needs to send this; unknown messages need the highest.
            pub fn right(&self) -> $crate::Right {
                match self {
                    $($(Self::$variant(body) if $when(body) => $crate::Right::$higher,)?)+
                    $(Self::$variant(_) => $crate::Right::$right,)+
                    Self::Unknown(_) => $crate::Right::Admin,
                }
            }

            /// The right that every message of a `type` needs, for whoever cannot read the message itself.
            pub fn right_of(kind: &str) -> $crate::Right {
                let variant = Self::variant_of(kind);
                $(if variant == Some(stringify!($variant)) {
                    return $crate::Right::$right;
                })+
                $crate::Right::Admin
            }

            /// Requests with the same key are carried out one after another, in the order of their arrival.
            pub fn key(&self) -> $crate::Key<'_> {
                match self {
                    $(Self::$variant(body) => {
                        let key: fn(&$variant) -> $crate::Key<'_> = $key;
                        key(body)
                    })+
                    Self::Unknown(_) => $crate::Key::None,
                }
            }
        }
    };
}

/// A union of flat objects told apart by their `type` field.
macro_rules! union {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($variant:ident($body:ty) = $kind:tt),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
        #[serde(tag = "type")]
        pub enum $name {
            $(
                #[doc = concat!("`", $kind, "`")]
                #[serde(rename = $kind)]
                $variant($body),
            )+
            /// A kind this version does not know, kept as it came.
            #[serde(untagged)]
            #[cfg_attr(feature = "gen", schemars(skip), ts(skip))]
            Unknown($crate::UnknownObject),
        }

        impl $name {
            /// The kinds this version knows.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// The `type` on the wire.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $kind,)+
                    Self::Unknown(object) => &object.kind,
                }
            }

            /// Reads what was written here. Such a text begins with its `type`, so it is gone through once, where a
            /// text from elsewhere has to be searched for it first.
            pub fn read_back(text: &str) -> Result<Self, serde_json::Error> {
                let kind = text
                    .strip_prefix(r#"{"type":""#)
                    .and_then(|rest| rest.split_once('"'))
                    .map(|(kind, _)| kind);
                match kind {
                    $(Some($kind) => serde_json::from_str(text).map(Self::$variant),)+
                    Some(_) | None => serde_json::from_str(text),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let object = $crate::UnknownObject::deserialize(deserializer)?;
                let decoded = match object.kind.as_str() {
                    $($kind => object.decode().map(Self::$variant),)+
                    _ => return Ok(Self::Unknown(object)),
                };
                decoded.map_err(|error| {
                    serde::de::Error::custom(format_args!("`{}`: {error}", object.kind))
                })
            }
        }

        $(impl From<$body> for $name {
            fn from(body: $body) -> Self {
                Self::$variant(body)
            }
        })+

        #[cfg(feature = "gen")]
        impl $crate::catalog::Listed for $name {
            fn rows() -> Vec<$crate::catalog::Row> {
                vec![$($crate::catalog::Row::of::<$body>($kind)),+]
            }
        }
    };
}
