//! The three macros that declare the vendor's JSON shapes.
//!
//! `wire_struct!` makes a struct with a lenient reader, a writer and a bag for unknown fields; `wire_union!` an enum told
//! apart by a tag; `open_enum!` a string enum. Each vendor name is written once: a field whose Rust name equals the
//! wire name needs no literal. The macros know nothing about what the types mean.

/// The wire name of a field: the given literal, or the field's own name.
macro_rules! wire_name {
    ($name:literal ; $field:ident) => {
        $name
    };
    (; $field:ident) => {
        stringify!($field)
    };
}

/// Declares a struct of the wire; see the module documentation.
macro_rules! wire_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(( $($tag:literal = $tag_value:literal),+ ))? {
            $(required { $(
                $(#[$rmeta:meta])* $($rname:literal =>)? $rfield:ident : $rty:ty
            ),+ $(,)? })?
            $(optional { $(
                $(#[$ometa:meta])* $($oname:literal =>)? $ofield:ident : $oty:ty
            ),+ $(,)? })?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(
                #[doc = concat!("`", wire_name!($($rname)? ; $rfield), "` on the wire; always there.")]
                $(#[$rmeta])*
                pub $rfield: $rty,
            )+)?
            $($(
                #[doc = concat!("`", wire_name!($($oname)? ; $ofield), "` on the wire.")]
                $(#[$ometa])*
                pub $ofield: Option<$oty>,
            )+)?
            /// Fields this version does not know, and known ones that could not be read.
            pub extra: $crate::wire::Extra,
        }

        $(impl $name {
            const OPTIONAL: &'static [&'static str] = &[$(wire_name!($($oname)? ; $ofield)),+];
        })?

        impl $crate::wire::Wire for $name {
            fn read(
                cursor: &mut $crate::wire::Cursor<'_>,
                diagnostics: &mut $crate::wire::Diagnostics,
            ) -> Result<Self, $crate::wire::Diagnostic> {
                $($(let mut $rfield: Option<$rty> = None;)+)?
                $($(let mut $ofield: Option<$oty> = None;)+)?
                let mut extra = $crate::wire::Extra::default();
                // A struct with nothing but a tag has no other use for it.
                let _ = diagnostics.mark();
                cursor.enter_object()?;
                while let Some(key) = cursor.next_key()? {
                    match key.as_ref() {
                        $($($tag => cursor.expect_tag($tag, $tag_value)?,)+)?
                        $($(wire_name!($($rname)? ; $rfield) => {
                            $rfield = Some($crate::wire::required(
                                cursor, wire_name!($($rname)? ; $rfield), diagnostics)?);
                        })+)?
                        $($(wire_name!($($oname)? ; $ofield) => {
                            $ofield = $crate::wire::optional(
                                cursor,
                                $crate::wire::Field {
                                    name: wire_name!($($oname)? ; $ofield),
                                    slot: const { $crate::wire::slot($name::OPTIONAL, wire_name!($($oname)? ; $ofield)) },
                                },
                                &mut extra,
                                diagnostics,
                            );
                        })+)?
                        _ => extra.keep(&key, cursor.raw()?),
                    }
                }
                Ok(Self {
                    $($($rfield: match $rfield {
                        Some(value) => value,
                        None => return Err($crate::wire::Diagnostic::missing(wire_name!($($rname)? ; $rfield))),
                    },)+)?
                    $($($ofield,)+)?
                    extra,
                })
            }

            fn write<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $($(map.serialize_entry($tag, $tag_value)?;)+)?
                $($(map.serialize_entry(wire_name!($($rname)? ; $rfield), &$crate::wire::Out(&self.$rfield))?;)+)?
                $($(
                    if let Some(value) = &self.$ofield {
                        map.serialize_entry(wire_name!($($oname)? ; $ofield), &$crate::wire::Out(value))?;
                    } else if self.extra.was_null(
                        const { $crate::wire::slot($name::OPTIONAL, wire_name!($($oname)? ; $ofield)) }
                    ) {
                        map.serialize_entry(wire_name!($($oname)? ; $ofield), &())?;
                    }
                )+)?
                self.extra.write_into(&mut map)?;
                map.end()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::wire::Wire::write(self, serializer)
            }
        }

        wire_struct!(@make $name [ $($(($rfield, $rty))+)? ] [ $($($ofield)+)? ]);
    };

    (@make $name:ident [] [ $($ofield:ident)* ]) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($ofield: None,)* extra: $crate::wire::Extra::default() }
            }
        }
    };
    (@make $name:ident [ $(($rfield:ident, $rty:ty))+ ] [ $($ofield:ident)* ]) => {
        impl $name {
            /// Makes one with what is always there and nothing else.
            pub fn new($($rfield: impl Into<$rty>),+) -> Self {
                Self {
                    $($rfield: $rfield.into(),)+
                    $($ofield: None,)*
                    extra: $crate::wire::Extra::default(),
                }
            }
        }
    };
}

/// Declares an enum whose members are told apart by a tag; what is not known, or cannot be read, becomes `Unknown`.
macro_rules! wire_union {
    (
        $(#[$meta:meta])*
        pub enum $name:ident by $tag:literal {
            $( $(#[$vmeta:meta])* $value:literal => $variant:ident ( $ty:ty ) ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $(
                #[doc = concat!("`", $value, "` on the wire.")]
                $(#[$vmeta])*
                $variant($ty),
            )+
            /// A member this version does not know, or could not read, as it came.
            Unknown($crate::wire::Unknown),
        }

        impl $name {
            #[doc = concat!("The value of the `", $tag, "` tag.")]
            pub fn tag(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $value,)+
                    Self::Unknown(unknown) => &unknown.kind,
                }
            }

            /// Whether this is a member this version does not know or could not read.
            pub const fn is_unknown(&self) -> bool {
                matches!(self, Self::Unknown(_))
            }
        }

        impl $crate::wire::Wire for $name {
            fn read(
                cursor: &mut $crate::wire::Cursor<'_>,
                diagnostics: &mut $crate::wire::Diagnostics,
            ) -> Result<Self, $crate::wire::Diagnostic> {
                let tag = cursor.tag($tag);
                Ok(match tag.as_deref() {
                    $(Some($value) => $crate::wire::member(cursor, $value, diagnostics)
                        .map_or_else(Self::Unknown, Self::$variant),)+
                    other => Self::Unknown($crate::wire::Unknown::rest(cursor, other.unwrap_or_default())),
                })
            }

            fn write<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(value) => $crate::wire::Wire::write(value, serializer),)+
                    Self::Unknown(unknown) => serde::Serialize::serialize(&unknown.raw, serializer),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::wire::Wire::write(self, serializer)
            }
        }

        $(impl From<$ty> for $name {
            fn from(value: $ty) -> Self {
                Self::$variant(value)
            }
        })+
    };
}

/// Declares a string enum that keeps words it does not know.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$vmeta:meta])* $value:literal => $variant:ident ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name {
            $(
                #[doc = concat!("`", $value, "` on the wire.")]
                $(#[$vmeta])*
                $variant,
            )+
            /// A word this version does not know, as it came.
            Unknown(String),
        }

        impl $name {
            /// Every word this version knows.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),+];

            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $value,)+
                    Self::Unknown(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($value => Self::$variant,)+
                    other => Self::Unknown(other.to_owned()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::wire::Wire for $name {
            fn read(
                cursor: &mut $crate::wire::Cursor<'_>,
                _: &mut $crate::wire::Diagnostics,
            ) -> Result<Self, $crate::wire::Diagnostic> {
                Ok(Self::from(cursor.string()?.as_ref()))
            }

            fn write<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
