//! The tools that are answered by a person: questions and the end of a plan.

use super::json::{Json, obj};
use super::state::Sim;
use super::tools::{Call, Form, Output};

/// The result of `AskUserQuestion`: the answers lie in the input the host gave back.
pub(crate) fn answers(call: &Call) -> Output {
    let questions = call.input.get("questions").cloned().unwrap_or_default();
    let given = call
        .input
        .get("answers")
        .cloned()
        .unwrap_or_else(Json::empty);
    let told: Vec<String> = given
        .fields()
        .iter()
        .map(|(question, answer)| format!("\"{question}\"=\"{}\"", plain(answer)))
        .collect();
    let content = if told.is_empty() {
        "The user did not answer the questions.".to_owned()
    } else {
        format!(
            "Your questions have been answered: {}. You can now continue with these answers in mind.",
            told.join(", ")
        )
    };
    Output {
        content: content.into(),
        form: Form::Answered,
        structured: obj! { "questions" => questions, "answers" => given },
    }
}

/// A list prints as JavaScript joins it.
fn plain(answer: &Json) -> String {
    match answer {
        Json::Text(text) => text.clone(),
        Json::List(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        Json::Null | Json::Bool(_) | Json::Int(_) | Json::Float(_) | Json::Object(_) => {
            answer.to_string()
        }
    }
}

impl Sim {
    /// The result of `ExitPlanMode` once it was allowed.
    pub(crate) fn leave_plan(&self, call: &Call) -> Output {
        let plan = call.input.text("plan");
        self.change_mode("default");
        let newer = self.is_325();
        let file = format!("{}/.claude/plans/simulated-plan.md", self.setup().env.home);
        let told = if newer {
            "User has approved exiting plan mode. You can now proceed.".to_owned()
        } else {
            let plan = plan.unwrap_or_default();
            format!(
                "User has approved your plan. You can now start coding. Start with updating your todo list if applicable\n\nYour plan has been saved to: {file}\nYou can refer back to it if needed during implementation.\n\n## Approved Plan (edited by user):\n{plan}"
            )
        };
        Output {
            content: told.into(),
            form: Form::Answered,
            structured: obj! {
                "plan" => plan.filter(|_| !newer),
                "isAgent" => false,
                "filePath" => file,
                "planWasEdited" if !newer => true,
            },
        }
    }
}
