//! The macros that declare the shapes of the wire, so that each convention is written once.
//!
//! `data!` makes a struct, `request!` and `reply!` add what every request and every result has, `words!` makes a string
//! enum, `messages!` and `union!` the tables of messages. A table row is all it takes to add a message: its name, its
//! struct and, for requests, the right it needs and the key it is serialized on. Nothing here knows what a message means.

/// A struct of the wire: `required` fields, `given` ones (required too, but with a value to start from), `nullable` ones
/// (always written, `null` when there is nothing) and `optional` ones (left out when there is nothing).
macro_rules! data {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            required { $($(#[$rm:meta])* $rf:ident : $rt:ty),+ $(,)? }
            $(given { $($(#[$gm:meta])* $gf:ident : $gt:ty = $gv:expr),+ $(,)? })?
            $(nullable { $($(#[$nm:meta])* $nf:ident : $nt:ty),+ $(,)? })?
            $(optional { $($(#[$om:meta])* $of:ident : $ot:ty),+ $(,)? })?
        }
    ) => {
        data! {
            @make []
            $(#[$meta])*
            pub struct $name {
                $($(#[$rm])* $rf : $rt,)+
                $($($(#[$gm])* $gf : $gt,)+)?
            } { $($($(#[$nm])* $nf : $nt,)+)? } { $($($(#[$om])* $of : $ot,)+)? }
        }

        impl $name {
            /// With the required fields; everything optional is left out.
            pub fn new($($rf: $rt),+) -> Self {
                Self {
                    $($rf,)+
                    $($($gf: $gv,)+)?
                    $($($nf: None,)+)?
                    $($($of: None,)+)?
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            given { $($(#[$gm:meta])* $gf:ident : $gt:ty = $gv:expr),+ $(,)? }
            $(nullable { $($(#[$nm:meta])* $nf:ident : $nt:ty),+ $(,)? })?
            optional { $($(#[$om:meta])* $of:ident : $ot:ty),+ $(,)? }
        }
    ) => {
        data! {
            @make []
            $(#[$meta])*
            pub struct $name {
                $($(#[$gm])* $gf : $gt,)+
            } { $($($(#[$nm])* $nf : $nt,)+)? } { $($(#[$om])* $of : $ot,)+ }
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($gf: $gv,)+
                    $($($nf: None,)+)?
                    $($of: None,)+
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            optional { $($(#[$om:meta])* $of:ident : $ot:ty),+ $(,)? }
        }
    ) => {
        data! {
            @make [Default]
            $(#[$meta])*
            pub struct $name {} {} { $($(#[$om])* $of : $ot,)+ }
        }
    };
    (
        @make [$($derive:ident)*]
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$rm:meta])* $rf:ident : $rt:ty,)*
        } { $($(#[$nm:meta])* $nf:ident : $nt:ty,)* } { $($(#[$om:meta])* $of:ident : $ot:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize $(, $derive)*)]
        #[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
        #[cfg_attr(feature = "gen", ts(optional_fields))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$rm])* pub $rf: $rt,)*
            $(
                $(#[$nm])*
                #[serde(default)]
                #[cfg_attr(feature = "gen", ts(optional = false), schemars(extend("x-nullable" = true)))]
                pub $nf: Option<$nt>,
            )*
            $(
                $(#[$om])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $of: Option<$ot>,
            )*
        }
    };
}

/// A request: `data!` with a `requestId`.
macro_rules! request {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(required { $($required:tt)* })?
            $(optional { $($optional:tt)* })?
        }
    ) => {
        data! {
            $(#[$meta])*
            pub struct $name {
                $(required { $($required)* })?
                optional {
                    $($($optional)*)?
                    /// Chosen by the sender; the result echoes it.
                    request_id: $crate::RequestId,
                }
            }
        }
    };
}

/// A result: `data!` with `success`, `error?`, `errorCode?`, `retry?` and `requestId?`.
macro_rules! reply {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(required { $($required:tt)* })?
            $(success $success:tt)?
            $(nullable { $($nullable:tt)* })?
            $(optional { $($optional:tt)* })?
        }
    ) => {
        data! {
            $(#[$meta])*
            pub struct $name {
                $(required { $($required)* })?
                given {
                    /// Whether the request was carried out.
                    $(#[serde(default = $success)])?
                    success: bool = true,
                }
                $(nullable { $($nullable)* })?
                optional {
                    $($($optional)*)?
                    /// Why not, for a person to read; only on failure.
                    error: String,
                    /// Why not, for a program; only on failure.
                    error_code: $crate::ErrorCode,
                    /// Whether trying again can help; only on failure.
                    retry: $crate::Retry,
                    /// The `requestId` of the request, if it had one.
                    request_id: $crate::RequestId,
                }
            }
        }

        outcome! { $name }
    };
}

/// The outcome of a result, from its fields.
macro_rules! outcome {
    ($name:ident) => {
        impl $crate::Reply for $name {
            fn outcome(&self) -> Result<(), $crate::ApiError> {
                if self.success {
                    return Ok(());
                }
                let (code, retry) = (self.error_code.clone(), self.retry.clone());
                Err($crate::error::from_fields(self.error.clone(), code, retry))
            }

            fn failed(mut self, error: $crate::ApiError) -> Self {
                self.success = false;
                self.error = Some(error.message);
                self.error_code = Some(error.code);
                self.retry = Some(error.retry);
                self
            }

            fn in_reply_to(mut self, request: Option<&$crate::RequestId>) -> Self {
                self.request_id = request.cloned();
                self
            }
        }
    };
}

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

/// The policy beside a table of requests: the right each needs, and the key it is serialized on.
macro_rules! policy {
    ($name:ident { $($variant:ident => $right:ident, $key:expr;)+ }) => {
        impl $name {
            /// The right a device needs to send this; unknown messages need the highest.
            pub fn right(&self) -> $crate::Right {
                match self {
                    $(Self::$variant(_) => $crate::Right::$right,)+
                    Self::Unknown(_) => $crate::Right::Admin,
                }
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
                    serde::de::Error::custom(format_args!(concat!(stringify!($name), " {}"), error))
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
