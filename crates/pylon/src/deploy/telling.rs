//! What apps and other Pylons are told of a deploy, in the words of the wire.

use estelle_proto::deploy::{
    DeployAck, DeployAckReceived, DeployLog, DeployReady, DeployStatus, DeployStatusResult,
};
use estelle_proto::{
    ApiError, Broadcast, DeviceId, Envelope, ErrorCode, Message, PylonToApp, Reply as _, Retry,
};

use super::actor::Actor;
use super::machine::{Build, Refusal, Ticket};
use super::plan::Role;
use crate::desk::now;

impl Actor {
    pub(super) fn tell_ready(&self, ticket: Ticket, result: Result<Build, Refusal>) {
        let ready = DeployReady::new(self.config.device_id);
        let ready = match result {
            Ok(build) => DeployReady {
                commit_hash: Some(build.commit),
                version: Some(build.version),
                ..ready
            },
            Err(refusal) => ready.failed(refusal.into()),
        };
        // It is told of the answers of the others later on.
        if let Some(asker) = self.askers.get(&ticket) {
            asker.answer(ready.in_reply_to(asker.request.as_ref()));
        }
    }

    pub(super) fn tell_ack(
        &self,
        ticket: Ticket,
        from: DeviceId,
        result: Result<(), String>,
        total: u32,
    ) {
        let ack = DeployAckReceived::new(from, total);
        let ack = match result {
            Ok(()) => ack,
            Err(why) => ack.failed(failure(why)),
        };
        if let Some(asker) = self.askers.get(&ticket) {
            asker.answer(ack);
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        let own = self.config.device_id;
        for line in self.log.add(text, now()) {
            self.tell_apps(DeployLog::new(own, line.line, line.timestamp));
        }
    }

    pub(super) fn status(&self) -> DeployStatus {
        let tasks = self.machine.tasks();
        let line = tasks.line(self.config.language);
        DeployStatus::new(self.config.device_id, tasks.wire(), line)
    }

    pub(super) fn status_result(&self) -> DeployStatusResult {
        let tasks = self.machine.tasks();
        let deploy = self.machine.deploy.as_ref();
        let acks = deploy.into_iter().flat_map(|deploy| &deploy.acks);
        let acks = acks.map(|(id, said)| DeployAck {
            success: said.as_ref().map(Result::is_ok),
            error: said.as_ref().and_then(|said| said.as_ref().err().cloned()),
            ..DeployAck::new(*id)
        });
        let build = deploy.and_then(|deploy| deploy.build.as_ref());
        DeployStatusResult {
            commit_hash: deploy.and_then(|deploy| deploy.commit.clone()),
            version: build.map(|build| build.version.clone()),
            approved: deploy.map(|deploy| deploy.approved),
            lead_pylon_id: deploy.and_then(|deploy| match deploy.role {
                Role::Follower { lead } => Some(lead),
                Role::Lead => Some(self.config.device_id),
                Role::Alone => None,
            }),
            running_commit: self.config.running.commit.clone(),
            running_version: self.config.running.version.clone(),
            ..DeployStatusResult::new(
                self.config.device_id,
                self.machine.phase(),
                Box::new(tasks.wire()),
                tasks.line(self.config.language),
                acks.collect(),
                self.log.last(),
            )
        }
    }

    pub(super) fn tell_apps(&self, message: impl Into<PylonToApp>) {
        self.send(&Envelope::<PylonToApp>::broadcast(Broadcast::App, message));
    }

    pub(super) fn tell_all<M: Message>(&self, message: impl Into<M>) {
        self.send(&Envelope::<M>::broadcast(Broadcast::All, message));
    }

    /// Sends something, if there is a way. Who missed it asks how far the deploy is.
    pub(super) fn send<M: Message>(&self, envelope: &Envelope<M>) {
        if let Some(way) = &self.way
            && let Err(error) = way.send(envelope)
        {
            tracing::debug!(%error, "a message of a deploy is lost");
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code, refusal.text, Retry::Never)
    }
}

/// Something failed on this machine.
pub(super) fn failure(why: String) -> ApiError {
    ApiError::new(ErrorCode::Internal, why, Retry::Never)
}
