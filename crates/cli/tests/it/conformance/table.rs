//! Which requirement of the protocol is shown where: the table, and the book in which a walk notes what it has shown.
//!
//! The table says what is claimed; a walk that ends without having shown all of it fails, and so does a table with a hole.

use std::collections::BTreeSet;

/// The requirements on the messages between devices that are carried out.
const ALL: std::ops::RangeInclusive<u8> = 1..=66;

/// Requirement, chapter of the walk, and what it looks at.
const TABLE: &[(u8, &str, &str)] = &[
    (
        1,
        "relay",
        "apps, Pylons and a relay as processes that know only the relay's address",
    ),
    (
        2,
        "relay",
        "every frame that came has these fields and no others",
    ),
    (
        3,
        "relay",
        "a message of a type alone is delivered; one without is refused",
    ),
    (
        4,
        "relay",
        "one device, by each form of `to`, with and without its type",
    ),
    (
        5,
        "relay",
        "each group, from an app and from a Pylon, the sender left out",
    ),
    (6, "relay", "`from` is put in, whatever the sender wrote"),
    (7, "relay", "the payload comes byte for byte as it was sent"),
    (
        8,
        "relay",
        "times of events in ms, of connections and usage in ISO 8601",
    ),
    (
        9,
        "relay",
        "`auth` of app and Pylon, with and without what each must say",
    ),
    (
        10,
        "relay",
        "`auth_result` of both, and of failures, which end the connection",
    ),
    (
        11,
        "relay",
        "ids of apps from 100 on, each once; a Pylon has its own",
    ),
    (
        12,
        "relay",
        "`device_status` to everybody when somebody comes or goes",
    ),
    (13, "relay", "`client_disconnect` to Pylons, and to no app"),
    (
        14,
        "places",
        "`workspace_list` to all Pylons, without a payload",
    ),
    (
        15,
        "places",
        "`workspace_list_result` of each Pylon, to the asker",
    ),
    (16, "places", "every workspace in every list"),
    (17, "places", "every conversation in every list"),
    (18, "places", "`workspace_create`"),
    (
        19,
        "places",
        "`workspace_create_result` with workspace and first conversation, both active",
    ),
    (
        20,
        "places",
        "`workspace_delete`: its conversations and history are gone",
    ),
    (
        21,
        "places",
        "`workspace_rename`: all clients get the list with the new name",
    ),
    (
        22,
        "places",
        "`workspace_switch`: the active ids change in everybody's list",
    ),
    (
        23,
        "places",
        "the list comes after delete, rename and switch, after their results",
    ),
    (24, "places", "`conversation_create` of each skill"),
    (25, "places", "`conversation_create_result`"),
    (
        26,
        "places",
        "`conversation_select`: who looks gets the page, then the pieces",
    ),
    (27, "places", "`conversation_delete`"),
    (28, "places", "`conversation_rename`"),
    (
        29,
        "claude",
        "`conversation_status` to all clients, through a turn that asks",
    ),
    (30, "past", "`history_request` by offset and by number"),
    (
        31,
        "past",
        "`history_result`: pages back from the newest, oldest first, without gap",
    ),
    (
        32,
        "past",
        "each kind of entry, and the whole of a call that was cut",
    ),
    (33, "claude", "`claude_send`, and the same message again"),
    (
        34,
        "claude",
        "`claude_event` around each event, to viewers or to everybody",
    ),
    (
        35,
        "claude",
        "`userMessage` to everybody, the sender included",
    ),
    (36, "claude", "`init`"),
    (37, "claude", "`stateUpdate` of all three kinds"),
    (38, "claude", "`text`: the pieces are the whole"),
    (39, "claude", "`textComplete` after its pieces"),
    (40, "claude", "`toolInfo`"),
    (
        41,
        "claude",
        "`toolComplete`, cut at 1000 and 200 characters",
    ),
    (
        42,
        "claude",
        "`permission_request` to everybody, and again to whoever comes",
    ),
    (43, "claude", "`askQuestion` with two questions"),
    (44, "claude", "`state` in step with `conversation_status`"),
    (
        45,
        "claude",
        "`result` of a turn that went well and of one that failed",
    ),
    (46, "claude", "`error` of a turn that failed"),
    (
        47,
        "claude",
        "`claude_permission`: allow, allowAll, deny, and too late",
    ),
    (48, "claude", "`claude_answer` as text, list and object"),
    (49, "claude", "`claude_control`: stop, new_session, clear"),
    (
        50,
        "claude",
        "`claude_set_permission_mode` of a conversation and of the Pylon",
    ),
    (
        51,
        "past",
        "`pylon_status` after a result, with sums that grow",
    ),
    (
        52,
        "deploys",
        "a deploy is prepared by who may, where there is something to deploy from",
    ),
    (
        53,
        "deploys",
        "`deploy_status` of every step, with the line for people",
    ),
    (
        54,
        "deploys",
        "`deploy_log` line by line, to everybody who may look",
    ),
    (55, "deploys", "`deploy_ready` with commit and version"),
    (
        56,
        "deploys",
        "the build is confirmed, and `pylon_status` says that it waits",
    ),
    (
        57,
        "deploys",
        "`deploy_start` to Pylons and apps; those who answer are counted",
    ),
    (
        58,
        "deploys",
        "`deploy_go` to everybody; the one that leads acts on it",
    ),
    (
        59,
        "deploys",
        "`deploy_restart` with the build, and the Pylon comes back as the new one",
    ),
    (60, "release", "whoever may look asks what is published"),
    (
        61,
        "release",
        "`version_check_result` before and after something is published",
    ),
    (62, "release", "an app asks where it gets the newest one"),
    (
        63,
        "release",
        "`app_update_result` with the addresses of the configuration; without them it is refused",
    ),
    (
        64,
        "release",
        "a report is acknowledged, kept with its context, and listed by `estelle bugs`",
    ),
    (
        65,
        "places",
        "the folders where a workspace could be, by their path and without one",
    ),
    (
        66,
        "places",
        "`folder_list_result` with them, and of what is not shown",
    ),
];

/// What a walk has shown.
#[derive(Default)]
pub(crate) struct Book {
    shown: BTreeSet<u8>,
}

impl Book {
    /// Something was looked at that is a requirement of this number; the table must say so.
    pub(crate) fn shows<const N: usize>(&mut self, chapter: &str, requirements: [u8; N]) {
        for number in requirements {
            let row = TABLE
                .iter()
                .find(|(known, at, _)| *known == number && *at == chapter);
            assert!(
                row.is_some(),
                "the table does not say that `{chapter}` shows R{number}"
            );
            self.shown.insert(number);
        }
    }

    /// Everything in the table was shown.
    pub(crate) fn assert_complete(&self) {
        let left = TABLE
            .iter()
            .filter(|(number, ..)| !self.shown.contains(number));
        let left: Vec<_> = left.collect();
        assert!(left.is_empty(), "not shown: {left:#?}");
    }
}

#[test]
fn every_requirement_of_the_protocol_has_a_row() {
    let numbers: Vec<u8> = TABLE.iter().map(|(number, ..)| *number).collect();
    let all: Vec<u8> = ALL.collect();
    assert_eq!(numbers, all);
}
