//! Structs: `data!`, and `request!` and `reply!` on top of it.

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
