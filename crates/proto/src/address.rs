//! Who a message is for and who it came from: `to`, `broadcast`, `from`.
//!
//! ```text
//! to         given  -> these devices of the sender's realm, nobody else (it wins over `broadcast`)
//! broadcast  given  -> everybody it names, the sender excepted
//! neither           -> from a Pylon: all clients; from a client: all Pylons
//! from              -> put in by the relay, whatever the sender wrote; absent only on the relay's own messages
//! ```
//!
//! Deciding who receives a message is the relay's work; this module only reads and writes the three fields.

use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{DeviceId, DeviceKey, limits};

words! {
    /// What a device is.
    pub enum DeviceType {
        /// The controller on a machine.
        Pylon = "pylon",
        /// A client for people: web page, phone, terminal.
        App = "app",
    }
}

words! {
    /// A group of devices of the sender's realm. An unknown word names a device type.
    pub enum Broadcast {
        /// Everybody.
        All = "all",
        /// Every Pylon.
        Pylons = "pylons",
        /// Everybody who is not a Pylon.
        Clients = "clients",
        /// Every device of type `app`.
        App = "app",
    }
}

words! {
    /// What a device may do. Rights do not include each other.
    pub enum Right {
        /// See workspaces, conversations and history.
        View = "view",
        /// Write to the agent, stop it, create and rename.
        Prompt = "prompt",
        /// Answer permissions and questions.
        Approve = "approve",
        /// Use shells.
        Terminal = "terminal",
        /// Change modes, delete, deploy, manage devices.
        Admin = "admin",
    }
}

data! {
    /// One addressee.
    pub struct Target {
        required {
            /// Which device.
            device_id: DeviceId,
        }
        optional {
            /// Deliver only if the device is of this type.
            device_type: DeviceType,
        }
    }
}

data! {
    /// Who sent a message, as the relay knows it.
    pub struct Sender {
        required {
            /// Which device.
            device_id: DeviceId,
            /// What it is.
            device_type: DeviceType,
            /// Its name, for people.
            name: String,
        }
        optional {
            /// Its icon, for people.
            icon: String,
            /// What it may do in the realm.
            rights: Vec<Right>,
            /// The paired device behind the connection, the same after every reconnect; Pylons have none.
            device_key: DeviceKey,
        }
    }
}

data! {
    /// The paired device that something came from. The number of a connection is another one after every reconnect; this
    /// stays, and tells the name that the device had then also when it is gone.
    pub struct Author {
        required {
            /// Which device.
            device_key: DeviceKey,
            /// Its name then, for people.
            name: String,
        }
    }
}

impl Eq for Author {}

/// The addressees of a message: at least one, at most [`limits::MAX_TARGETS`].
///
/// Read from an object, a number, a numeric string, or an array of these. Written as an object for one device
/// and as an array for several, in which a device without a type is just its number.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct To(
    #[cfg_attr(
        feature = "gen",
        schemars(with = "AnyTo"),
        ts(type = "Target | number | string | Array<Target | number | string>")
    )]
    Vec<Target>,
);

/// Describes the accepted forms of [`To`] to the schema generator.
#[cfg(feature = "gen")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum AnyTo {
    One(AnyTarget),
    Several(Vec<AnyTarget>),
}

#[cfg(feature = "gen")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum AnyTarget {
    Object(Target),
    Number(u32),
    Text(String),
}

impl To {
    /// One device, whatever its type.
    pub fn device(device_id: DeviceId) -> Self {
        Self(vec![Target::new(device_id)])
    }

    /// Several devices; nothing when there are none or too many.
    pub fn devices(ids: impl IntoIterator<Item = DeviceId>) -> Option<Self> {
        let targets: Vec<_> = ids.into_iter().map(Target::new).collect();
        (1..=limits::MAX_TARGETS)
            .contains(&targets.len())
            .then_some(Self(targets))
    }

    /// The addressees, as listed by the sender.
    pub fn targets(&self) -> &[Target] {
        &self.0
    }
}

impl From<Target> for To {
    fn from(target: Target) -> Self {
        Self(vec![target])
    }
}

impl Serialize for To {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let [target] = self.0.as_slice() {
            return target.serialize(serializer);
        }
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for target in &self.0 {
            match target.device_type {
                None => list.serialize_element(&target.device_id)?,
                Some(_) => list.serialize_element(target)?,
            }
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for To {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ToVisitor)
    }
}

struct ToVisitor;

impl<'de> Visitor<'de> for ToVisitor {
    type Value = To;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`{\"deviceId\": number}`, a number, a numeric string, or an array of these")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<To, E> {
        TargetVisitor.visit_u64(number).map(To::from)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<To, E> {
        TargetVisitor.visit_i64(number).map(To::from)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<To, E> {
        TargetVisitor.visit_str(text).map(To::from)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<To, A::Error> {
        TargetVisitor.visit_map(map).map(To::from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<To, A::Error> {
        let mut targets = Vec::new();
        while let Some(AddressedTarget(target)) = list.next_element()? {
            if targets.len() == limits::MAX_TARGETS {
                return Err(de::Error::invalid_length(targets.len() + 1, &self));
            }
            targets.push(target);
        }
        if targets.is_empty() {
            return Err(de::Error::invalid_length(0, &"at least one device"));
        }
        Ok(To(targets))
    }
}

/// An element of `to`, in any of its forms.
struct AddressedTarget(Target);

impl<'de> Deserialize<'de> for AddressedTarget {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TargetVisitor).map(Self)
    }
}

struct TargetVisitor;

impl<'de> Visitor<'de> for TargetVisitor {
    type Value = Target;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`{\"deviceId\": number}`, a number or a numeric string")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Target, E> {
        let id = u32::try_from(number)
            .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))?;
        Ok(Target::new(DeviceId(id)))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Target, E> {
        Err(E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Target, E> {
        // `parse` alone would take a sign.
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let id = text.parse().ok().filter(|_| is_number);
        id.map(|id| Target::new(DeviceId(id)))
            .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Target, A::Error> {
        Target::deserialize(MapAccessDeserializer::new(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<To, serde_json::Error> {
        serde_json::from_str(text)
    }

    fn written(text: &str) -> String {
        serde_json::to_string(&read(text).unwrap()).unwrap()
    }

    #[test]
    fn every_form_of_an_address_is_read() {
        let one = To::device(DeviceId(7));
        for form in [
            "7",
            "\"7\"",
            "{\"deviceId\":7}",
            "[7]",
            "[\"7\"]",
            "[{\"deviceId\":7}]",
        ] {
            assert_eq!(read(form).unwrap(), one, "{form}");
        }
        assert_eq!(
            written("[1,\"2\",{\"deviceId\":3,\"deviceType\":\"app\"}]"),
            "[1,2,{\"deviceId\":3,\"deviceType\":\"app\"}]"
        );
        assert_eq!(written("7"), "{\"deviceId\":7}");
    }

    #[test]
    fn what_names_no_device_is_refused() {
        for bad in [
            "-1",
            "1.5",
            "true",
            "\"\"",
            "\"+7\"",
            "\"seven\"",
            "[]",
            "[[1]]",
            "{}",
            "4294967296",
            "[null]",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let many = serde_json::to_string(&vec![1; limits::MAX_TARGETS + 1]).unwrap();
        assert!(read(&many).is_err());
    }
}
