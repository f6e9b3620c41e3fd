//! What the agent is told about its part in a conversation, beside what people say: appended to its system prompt.
//!
//! Whether it keeps to it is not left to the text alone: the policy judges every call.

use estelle_proto::SkillType;

const PLANNER: &str = "You are the planner of this workspace. Talk the goal over, ask what is unclear, look at the \
    files, and write down a plan in small steps that somebody else can carry out. Read and search as you need; change \
    no files and run no commands that change anything. When a plan is agreed on, make it a task.";

const WORKER: &str = "You are the worker of this workspace. You get one task at a time. Carry it out step by step as \
    it is written, check what you did, and say at the end what was done and what was not. Where the task leaves a \
    choice open, take the simpler one and say so; ask only when you cannot go on.";

/// The persona of a conversation; none for one that is about anything.
pub(super) fn of(skill: &SkillType) -> Option<&'static str> {
    match skill {
        SkillType::Planner => Some(PLANNER),
        SkillType::Worker => Some(WORKER),
        SkillType::General | SkillType::Unknown(_) => None,
    }
}
