//! Who is there: what the relay says of itself and of those who are connected.
//!
//! A client is a connection; which paired device it is, the store knows by its key.

use std::collections::BTreeSet;

use estelle_proto::devices::PairedList;
use estelle_proto::{
    DeviceId, DeviceKey, DeviceToRelay, DeviceType, Envelope, RelayToDevice, Reply as _,
};

use super::actor::Actor;
use crate::deploy;
use crate::link::relay::FromRelay;

impl Actor {
    pub(super) async fn on_relay(&mut self, message: FromRelay) {
        match message {
            FromRelay::Up { outlet, .. } => {
                let way = deploy::Msg::Way(Some(outlet.clone()));
                self.outlet = Some(outlet);
                self.cx.deploys.tell(way).await;
                self.is_new_here = true;
                self.ask_who_belongs();
                self.announce_status();
            }
            FromRelay::Down(_) => {
                self.outlet = None;
                self.cx.deploys.tell(deploy::Msg::Way(None)).await;
                self.on_presence(BTreeSet::new()).await;
            }
            FromRelay::App(envelope) => self.on_request(*envelope).await,
            FromRelay::Relay(message) => self.on_notice(*message).await,
            FromRelay::Pylon(envelope) => {
                self.cx.deploys.tell(deploy::Msg::Pylon(envelope)).await;
            }
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the relay's other messages are for whoever asked it something"
    )]
    async fn on_notice(&mut self, message: RelayToDevice) {
        match message {
            RelayToDevice::DeviceStatus(status) => {
                let is_whole = status.unlisted.is_none();
                let devices = status.devices.into_iter();
                let (pylons, clients): (BTreeSet<_>, BTreeSet<_>) = devices
                    .map(|device| (device.device_type == DeviceType::Pylon, device.device_id))
                    .partition(|(is_pylon, _)| *is_pylon);
                let ids = |devices: BTreeSet<(bool, DeviceId)>| {
                    devices.into_iter().map(|(_, id)| id).collect()
                };
                self.cx.deploys.tell(deploy::Msg::Pylons(ids(pylons))).await;
                let mut clients: BTreeSet<DeviceId> = ids(clients);
                if !is_whole {
                    // Who has no room in the list is there until the relay says that they went.
                    clients.extend(self.room.clients());
                }
                self.on_presence(clients).await;
                // Whoever was there before us may not have noticed that we were away, and is told what waits.
                if std::mem::take(&mut self.is_new_here) {
                    self.announce_list();
                }
                self.announce_status();
            }
            RelayToDevice::ClientDisconnect(gone) => {
                if let Some(reader) = self.room.leave(gone.device_id) {
                    self.went(gone.device_id, reader).await;
                }
            }
            RelayToDevice::PairedListResult(list) if list.outcome().is_ok() => {
                let keys = list.devices.into_iter().map(|device| device.device_key);
                self.forget_revoked(keys.collect()).await;
            }
            RelayToDevice::ErrorReport(report) => {
                tracing::debug!(error = %report.error, about = ?report.about, "the relay complains");
            }
            _ => {}
        }
    }

    /// Devices may have been taken out of the realm while we were away.
    fn ask_who_belongs(&self) {
        if let Some(outlet) = &self.outlet {
            let ask = Envelope::<DeviceToRelay>::new(PairedList::default());
            // A connection that is gone is followed by one over which it is asked again.
            let _ = outlet.send(&ask);
        }
    }

    /// Nobody is told any more over a device that was taken out of the realm.
    async fn forget_revoked(&self, paired: BTreeSet<DeviceKey>) {
        match self.cx.store.forget_revoked(paired).await {
            Ok(0) => {}
            Ok(gone) => tracing::info!(gone, "subscriptions of devices that are revoked are gone"),
            Err(error) => tracing::warn!(%error, "devices that are revoked may still be notified"),
        }
    }

    async fn on_presence(&mut self, clients: BTreeSet<DeviceId>) {
        let (came, went) = self.room.present(clients);
        for (client, reader) in went {
            self.went(client, reader).await;
        }
        if !came.is_empty() {
            // A line may have been passed while nobody was there.
            self.hold_budgets();
        }
        for device in came {
            self.register_device(device).await;
        }
    }

    /// What was kept under this number belongs to somebody else.
    pub(super) async fn register_device(&self, device: DeviceId) {
        self.forget_device(device).await;
        if let Err(error) = self.cx.store.register_device(device).await {
            tracing::warn!(%error, "a client is not registered");
        }
    }

    /// What a paired device has seen is kept for when it is back; a connection does not come back.
    async fn went(&self, client: DeviceId, reader: DeviceId) {
        self.cx.looks.leave(client);
        if client == reader {
            return self.forget_device(client).await;
        }
        if let Err(error) = self.cx.store.look_away(reader).await {
            tracing::warn!(%error, "a device that went still counts as looking");
        }
    }

    /// Finds out which paired device a client is.
    pub(super) async fn recognise(&mut self, client: DeviceId, key: DeviceKey) {
        match self.cx.store.paired_device(key).await {
            Ok(reader) => {
                self.forget_device(client).await;
                self.room.recognise(client, reader);
            }
            Err(error) => tracing::warn!(%error, "a device is not recognised"),
        }
    }

    async fn forget_device(&self, device: DeviceId) {
        if let Err(error) = self.cx.store.forget_device(device).await {
            tracing::warn!(%error, "a client is not forgotten");
        }
    }
}
