//! The answer to questions in its three forms, and how it fits the questions.
//!
//! ```text
//! "Blue"                               the first question
//! ["Blue", ["S", "L"]]                 by position
//! {"Which colour?": "Blue", "1": "S"}  by the text of the question, or by its position
//! ```
//!
//! Several choices for one question are joined with `", "`. What the agent is sent in the end is the host's business.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Question;

/// Why an answer does not fit the questions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// More answers than questions.
    #[error("{answers} answers for {questions} questions")]
    TooMany {
        /// What came.
        answers: usize,
        /// What was asked.
        questions: usize,
    },
    /// A key that is neither the text nor the position of a question.
    #[error("there is no question {key:?}")]
    NoSuchQuestion {
        /// The key.
        key: String,
    },
}

/// What was chosen for one question: one thing or several.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
#[cfg_attr(feature = "gen", schemars(untagged), ts(untagged))]
pub enum Choice {
    /// One label, or free text.
    One(String),
    /// Several labels.
    Several(Vec<String>),
}

impl Choice {
    /// As one text; several labels are joined with `", "`.
    pub fn joined(&self) -> String {
        match self {
            Self::One(label) => label.clone(),
            Self::Several(labels) => labels.join(", "),
        }
    }
}

/// The answers to the questions of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "gen", derive(schemars::JsonSchema, ts_rs::TS))]
#[cfg_attr(feature = "gen", schemars(untagged), ts(untagged))]
pub enum Answer {
    /// For the first question.
    One(String),
    /// By position.
    List(Vec<Choice>),
    /// By text or position.
    Map(BTreeMap<String, Choice>),
}

impl Answer {
    /// Bytes of all labels, texts and keys in it.
    pub fn length(&self) -> usize {
        let of = |choice: &Choice| match choice {
            Choice::One(label) => label.len(),
            Choice::Several(labels) => labels.iter().map(String::len).sum(),
        };
        match self {
            Self::One(label) => label.len(),
            Self::List(choices) => choices.iter().map(of).sum(),
            Self::Map(choices) => choices
                .iter()
                .map(|(key, choice)| key.len() + of(choice))
                .sum(),
        }
    }

    /// The answers in the order of the questions; nothing for a question that was not answered.
    pub fn fit(&self, questions: &[Question]) -> Result<Vec<Option<String>>, AnswerError> {
        let mut fitted = vec![None; questions.len()];
        let too_many = |answers| AnswerError::TooMany {
            answers,
            questions: questions.len(),
        };
        match self {
            Self::One(label) => {
                *fitted.first_mut().ok_or(too_many(1))? = Some(label.clone());
            }
            Self::List(choices) if choices.len() > questions.len() => {
                return Err(too_many(choices.len()));
            }
            Self::List(choices) => {
                for (slot, choice) in fitted.iter_mut().zip(choices) {
                    *slot = Some(choice.joined());
                }
            }
            Self::Map(choices) => {
                for (key, choice) in choices {
                    let slot = position(key, questions).and_then(|at| fitted.get_mut(at));
                    let missing = || AnswerError::NoSuchQuestion { key: key.clone() };
                    *slot.ok_or_else(missing)? = Some(choice.joined());
                }
            }
        }
        Ok(fitted)
    }
}

/// The text of a question is tried first: a question may be called "1".
fn position(key: &str, questions: &[Question]) -> Option<usize> {
    let by_text = questions.iter().position(|asked| asked.question == key);
    by_text.or_else(|| key.parse().ok())
}

impl Serialize for Choice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(label) => label.serialize(serializer),
            Self::Several(labels) => labels.serialize(serializer),
        }
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(label) => label.serialize(serializer),
            Self::List(choices) => choices.serialize(serializer),
            Self::Map(choices) => choices.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ChoiceVisitor)
    }
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnswerVisitor)
    }
}

struct ChoiceVisitor;

impl<'de> Visitor<'de> for ChoiceVisitor {
    type Value = Choice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of texts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Choice, E> {
        Ok(Choice::One(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Choice, A::Error> {
        let mut labels = Vec::new();
        while let Some(label) = list.next_element()? {
            labels.push(label);
        }
        Ok(Choice::Several(labels))
    }
}

struct AnswerVisitor;

impl<'de> Visitor<'de> for AnswerVisitor {
    type Value = Answer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a list of answers, or an object of answers")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Answer, E> {
        Ok(Answer::One(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Answer, A::Error> {
        let mut choices = Vec::new();
        while let Some(choice) = list.next_element()? {
            choices.push(choice);
        }
        Ok(Answer::List(choices))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Answer, A::Error> {
        let mut choices = BTreeMap::new();
        while let Some((key, choice)) = map.next_entry::<String, Choice>()? {
            if choices.insert(key.clone(), choice).is_some() {
                return Err(de::Error::custom(format_args!(
                    "question {key:?} is answered twice"
                )));
            }
        }
        Ok(Answer::Map(choices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions() -> Vec<Question> {
        let ask = |text: &str| Question::new(text.to_owned(), String::new(), Vec::new(), false);
        vec![ask("Which colour?"), ask("Which sizes?")]
    }

    fn fit(json: &str) -> Result<Vec<Option<String>>, AnswerError> {
        let answer: Answer = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&answer).unwrap(), json);
        answer.fit(&questions())
    }

    fn both(colour: &str, sizes: &str) -> Vec<Option<String>> {
        vec![Some(colour.to_owned()), Some(sizes.to_owned())]
    }

    #[test]
    fn all_three_forms_reach_their_questions() {
        assert_eq!(fit("\"Blue\"").unwrap(), [Some("Blue".to_owned()), None]);
        assert_eq!(
            fit("[\"Blue\",[\"S\",\"L\"]]").unwrap(),
            both("Blue", "S, L")
        );
        assert_eq!(
            fit("{\"1\":[\"S\"],\"Which colour?\":\"Blue\"}").unwrap(),
            both("Blue", "S")
        );
    }

    #[test]
    fn answers_to_nothing_are_refused() {
        let (answers, questions) = (3, 2);
        assert_eq!(
            fit("[\"a\",\"b\",\"c\"]").unwrap_err(),
            AnswerError::TooMany { answers, questions }
        );
        for key in ["2", "Which?"] {
            let key = key.to_owned();
            let json = format!("{{{key:?}:\"x\"}}");
            assert_eq!(fit(&json).unwrap_err(), AnswerError::NoSuchQuestion { key });
        }
        assert!(Answer::One("x".to_owned()).fit(&[]).is_err());
    }

    #[test]
    fn other_forms_are_no_answers() {
        for bad in [
            "1",
            "true",
            "null",
            "[1]",
            "{\"0\":{}}",
            "[[[]]]",
            "{\"0\":\"a\",\"0\":\"b\"}",
        ] {
            assert!(serde_json::from_str::<Answer>(bad).is_err(), "{bad}");
        }
    }
}
