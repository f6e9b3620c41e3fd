//! What arrives at a device, told apart by who sent it.
//!
//! The relay signs every message it forwards (`from`) and none of its own. So a message without `from` is the relay's,
//! and no device can pass one of the relay's messages, or one of a Pylon's, off as its own.

use crate::envelope::Parts;
use crate::{
    AppToPylon, DecodeError, DeviceType, Envelope, PylonToApp, PylonToPylon, RelayToDevice, Sender,
};

/// What arrives at a Pylon.
#[derive(Debug, Clone, PartialEq)]
pub enum PylonInbox {
    /// From the relay itself.
    Relay(RelayToDevice),
    /// From a client.
    App(Envelope<AppToPylon>),
    /// From another Pylon.
    Pylon(Envelope<PylonToPylon>),
}

impl PylonInbox {
    /// Reads a frame that the relay delivered.
    pub fn parse(frame: &str) -> Result<Self, DecodeError> {
        let parts = Parts::parse(frame)?;
        match parts.from.as_ref().map(|from| &from.device_type) {
            None => Ok(Self::Relay(parts.into_envelope()?.message)),
            Some(DeviceType::Pylon) => parts.into_envelope().map(Self::Pylon),
            Some(DeviceType::App | DeviceType::Unknown(_)) => parts.into_envelope().map(Self::App),
        }
    }
}

/// What arrives at a client.
#[derive(Debug, Clone, PartialEq)]
pub enum AppInbox {
    /// From the relay itself.
    Relay(RelayToDevice),
    /// From a Pylon. Boxed, because some results are large.
    Pylon(Box<Envelope<PylonToApp>>),
    /// From another client. Clients have nothing to say to each other: it is not read.
    Stray(Sender),
}

impl AppInbox {
    /// Reads a frame that the relay delivered.
    pub fn parse(frame: &str) -> Result<Self, DecodeError> {
        let parts = Parts::parse(frame)?;
        match &parts.from {
            None => Ok(Self::Relay(parts.into_envelope()?.message)),
            Some(from) if from.device_type == DeviceType::Pylon => {
                Ok(Self::Pylon(Box::new(parts.into_envelope()?)))
            }
            Some(from) => Ok(Self::Stray(from.clone())),
        }
    }
}
