//! Decisions: what is asked, shown, answered and refused.

use estelle_proof::history::{Answer, Fact};
use estelle_proto::decisions::{DecisionKind, DecisionState, PermissionDecision, Question};
use estelle_proto::events::{ClaudeEvent, DecisionAnswered, PermissionAsked, QuestionAsked};
use estelle_proto::ipc::{HostToPylon, PendingPermission, PermissionResponse, RequestResult};
use estelle_proto::{DeviceId, Generation, Json, RequestId, Timestamp};
use estelle_sim::cli::truth::checksum;
use estelle_state::conversation::{Record, Request, Seen};
use estelle_state::decisions::{Answered, DecisionKey, Fact as Decided};
use serde_json::{Value, json};

use super::{Stage, Who, call_id};

impl Stage {
    pub(crate) fn asks(&mut self, number: usize, call: &str) {
        let (tool, input) = self.rooms[number].calls[call].clone();
        let request_id = format!("req-{call}");
        self.tell(
            number,
            Fact::Asked {
                request_id: request_id.clone(),
                tool_use_id: call.to_owned(),
                tool: tool.clone(),
                input: checksum(input.to_string().as_bytes()),
            },
        );
        let line = json!({
            "type": "control_request",
            "request_id": &request_id,
            "request": {"subtype": "can_use_tool", "tool_name": &tool, "input": &input, "tool_use_id": call},
        });
        let request = Request {
            request_id,
            tool_use_id: call_id(call),
            kind: DecisionKind::Permission,
            tool_name: tool,
            input: Json::of(&input).unwrap(),
            input_hash: "hash".to_owned(),
            questions: questions(&input),
            parent_tool_use_id: None,
        };
        self.print(
            number,
            line,
            vec![Seen::Asked(Box::new(request))],
            Vec::new(),
        );
    }

    pub(crate) fn shows(&mut self, number: usize, call: &str) {
        let (tool, input) = self.rooms[number].calls[call].clone();
        let questions = questions(&input);
        let input = Json::of(&input).unwrap();
        let event = if questions.is_empty() {
            ClaudeEvent::PermissionAsked(PermissionAsked::new(
                tool.clone(),
                input.clone(),
                call_id(call),
            ))
        } else {
            ClaudeEvent::QuestionAsked(QuestionAsked::new(call_id(call), questions))
        };
        let shown = Record::Shown {
            key: self.key(number, call),
            reason: "nobody else can say".to_owned(),
            why: None,
        };
        self.append(number, shown, vec![event]);
        let pending = PendingPermission::new(call_id(call), tool, input);
        self.rooms[number].open.push(pending);
    }

    fn key(&self, number: usize, call: &str) -> DecisionKey {
        DecisionKey {
            generation: Generation(self.rooms[number].generation),
            tool_use_id: call_id(call),
        }
    }

    /// A person answers.
    pub(crate) fn answers(&mut self, who: Who, number: usize, call: &str, word: &str) {
        let request_id = self.respond(who, number, call, word);
        let by = Some(self.people[who.0].device);
        self.decide(number, call, word, by);
        self.people[who.0].got(HostToPylon::RequestResult(RequestResult {
            request_id: Some(request_id),
            ..RequestResult::default()
        }));
    }

    /// A person answers too late.
    pub(crate) fn is_refused(&mut self, who: Who, number: usize, call: &str) {
        let request_id = self.respond(who, number, call, "allow");
        self.people[who.0].got(HostToPylon::RequestResult(RequestResult {
            request_id: Some(request_id),
            success: false,
            ..RequestResult::default()
        }));
    }

    /// The policy answers.
    pub(crate) fn rules(&mut self, number: usize, call: &str, word: &str) {
        self.decide(number, call, word, None);
    }

    fn respond(&mut self, who: Who, number: usize, call: &str, word: &str) -> RequestId {
        let session = self.rooms[number].id.clone();
        let person = &mut self.people[who.0];
        let request_id = person.request();
        person.sent(PermissionResponse {
            request_id: Some(request_id.clone()),
            device_id: Some(person.device),
            ..PermissionResponse::new(session, call_id(call), PermissionDecision::from(word))
        });
        request_id
    }

    fn decide(&mut self, number: usize, call: &str, word: &str, by: Option<DeviceId>) {
        let request_id = format!("req-{call}");
        let line = json!({
            "type": "control_response",
            "response": {"subtype": "success", "request_id": &request_id, "response": {"behavior": word}},
        });
        let fact = Decided::Answered(Answered {
            key: self.key(number, call),
            by,
            author: None,
            at: Timestamp(self.clock),
            line: line.to_string(),
        });
        let told = by.map(|by| {
            ClaudeEvent::DecisionAnswered(DecisionAnswered {
                decision: Some(PermissionDecision::from(word)),
                device_id: Some(by),
                ..DecisionAnswered::new(call_id(call), DecisionState::Answered)
            })
        });
        self.rooms[number]
            .open
            .retain(|open| open.tool_use_id.as_str() != call);
        let decided = Record::Decided {
            fact,
            verdict: None,
            remember: None,
        };
        self.append(number, decided, told.into_iter().collect());
        self.tell(
            number,
            Fact::Answered {
                request_id: request_id.clone(),
                answer: Answer::Taken(word.to_owned()),
            },
        );
        // Sent again by a host that did not see the echo: it has no effect.
        self.tell(
            number,
            Fact::Answered {
                request_id,
                answer: Answer::Stale,
            },
        );
    }
}

fn questions(input: &Value) -> Vec<Question> {
    let questions = input.get("questions").cloned().unwrap_or_else(|| json!([]));
    serde_json::from_value(questions).unwrap()
}
