//! What a conversation makes of commands and of what its CLI prints.

use super::*;

#[test]
fn a_conversation_that_begins_is_idle_and_has_nothing_to_do() {
    let id = ConversationId::parse("conv-1").expect("an id");
    let (conversation, entry) = Conversation::begin(Timestamp(1), id, Epoch(1), Generation(0));
    assert_eq!(conversation.status(), ConversationStatus::Idle);
    assert_eq!(conversation.due(), None);
    assert_eq!(Conversation::replay([entry]), Some(conversation));
}
