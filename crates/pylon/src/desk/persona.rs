//! What the agent is told about its part in a conversation, beside what people say: appended to its system prompt.
//!
//! Whether it keeps to it is not left to the text alone: the policy judges every call.

use estelle_proto::SkillType;

const GENERAL: &str = "The person you talk to may be far from this machine, at a telephone, and may look in only now and then. Say \
    first what came of it and then how; be brief where that is enough. They see your calls of tools and decide about them, \
    so say in a few words what a call is for when that is not plain. Before something that cannot be undone, ask. When you \
    stop, say what is done, what is not, and what you need from them.";

const PLANNER: &str = "You are the planner of this workspace. Talk the goal over, ask what is unclear, look at the \
    files, and write down a plan in small steps that somebody else can carry out. Read and search as you need; change \
    no files and run no commands that change anything: such calls are refused. When a plan is agreed on, make it a task \
    with the tool `task_create`; `task_list` and `worker_status` tell what there is and what is being done.";

const WORKER: &str = "You are the worker of this workspace. You get one task at a time. Carry it out step by step as \
    it is written, check what you did, and say at the end what was done and what was not. Where the task leaves a \
    choice open, take the simpler one and say so; ask only when you cannot go on.";

/// The persona of a conversation; none for one of a kind that we do not know.
pub(super) fn of(skill: &SkillType) -> Option<&'static str> {
    match skill {
        SkillType::Planner => Some(PLANNER),
        SkillType::Worker => Some(WORKER),
        SkillType::General => Some(GENERAL),
        SkillType::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_that_can_be_chosen_has_a_persona_of_its_own() {
        let kinds = SkillType::WORDS.iter().map(|word| SkillType::from(*word));
        let personas: Vec<_> = kinds.map(|kind| of(&kind)).collect();
        assert_eq!(personas.len(), 3);
        for (place, persona) in personas.iter().enumerate() {
            assert!(persona.is_some());
            assert!(!personas[..place].contains(persona));
        }
    }
}
