//! What a file in the folder means as a task, and which task is next. Pure.
//!
//! A file that is no task (no front matter, an unknown status, an id that another one has) is shown with its problem and
//! never run or changed. What is missing in a sound one is filled in from its name: the id, the title, the day.

use estelle_proto::tasks;
use estelle_proto::workspaces::{TaskQueue, TaskStatus, TaskSummary};
use estelle_proto::{ApiError, ErrorCode, IsoTime, Retry, Timestamp, limits};

use super::matter::{self, Matter, MatterError};

/// How the names of task files end.
pub const ENDING: &str = ".md";
/// More than anybody spends on a task.
const MOST_USD: f64 = 1_000_000.0;
/// Letters of a title or a reason that lists show.
const SHOWN: usize = 200;

/// A file of the folder, as a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The name of the file.
    pub file: String,
    /// Which task.
    pub id: String,
    /// Its title.
    pub title: String,
    /// How far it is; never an unknown word.
    pub status: TaskStatus,
    /// When it was written.
    pub created_at: Option<String>,
    /// When work on it began.
    pub started_at: Option<String>,
    /// When it was done or failed.
    pub completed_at: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether it wants a git worktree of its own; none if it leaves that to the worker.
    pub worktree: Option<bool>,
    /// Where people are warned, in US dollars.
    pub soft_usd: Option<f64>,
    /// Where it is stopped and fails, in US dollars.
    pub hard_usd: Option<f64>,
    /// Why the file is no task.
    pub problem: Option<String>,
}

/// Why a file is no task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum NoTask {
    #[error(transparent)]
    Matter(#[from] MatterError),
    #[error("`status` is `{0}`: it must be pending, running, done or failed")]
    Status(String),
    #[error("`worktree` is `{0}`: it must be true or false")]
    Worktree(String),
    #[error("`{key}` is `{value}`: it must be an amount in US dollars above 0 and at most 1000000")]
    Amount { key: &'static str, value: String },
    #[error("`softUsd` is above `hardUsd`, so nobody would be warned")]
    Order,
}

impl Task {
    /// What a file says.
    pub fn read(file: &str, text: &str) -> Self {
        Self::try_read(file, text).unwrap_or_else(|why| Self::broken(file, why.to_string()))
    }

    /// A file that is no task.
    pub fn broken(file: &str, problem: String) -> Self {
        Self {
            file: file.to_owned(),
            id: stem(file).to_owned(),
            title: stem(file).to_owned(),
            status: TaskStatus::Failed,
            created_at: None,
            started_at: None,
            completed_at: None,
            error: Some(problem.clone()),
            worktree: None,
            soft_usd: None,
            hard_usd: None,
            problem: Some(problem),
        }
    }

    fn try_read(file: &str, text: &str) -> Result<Self, NoTask> {
        let matter = Matter::parse(text)?;
        let own = |key: &str| Ok::<_, MatterError>(matter.value(key)?.map(str::to_owned));
        let status = match own("status")? {
            None => TaskStatus::Pending,
            Some(word) => match TaskStatus::from(word.to_lowercase().as_str()) {
                TaskStatus::Unknown(_) => {
                    return Err(NoTask::Status(limits::cut(&word, 40).into()));
                }
                known @ (TaskStatus::Pending
                | TaskStatus::Running
                | TaskStatus::Done
                | TaskStatus::Failed) => known,
            },
        };
        let worktree = match own("worktree")? {
            None => None,
            Some(word) => match word.to_lowercase().as_str() {
                "true" | "yes" => Some(true),
                "false" | "no" => Some(false),
                _ => return Err(NoTask::Worktree(limits::cut(&word, 40).into())),
            },
        };
        let (soft_usd, hard_usd) = (amount(&matter, "softUsd")?, amount(&matter, "hardUsd")?);
        if soft_usd
            .zip(hard_usd)
            .is_some_and(|(soft, hard)| soft > hard)
        {
            return Err(NoTask::Order);
        }
        let title = own("title")?.or_else(|| heading(matter.body()));
        Ok(Self {
            file: file.to_owned(),
            id: own("id")?.unwrap_or_else(|| stem(file).to_owned()),
            title: title.unwrap_or_else(|| stem(file).to_owned()),
            status,
            created_at: own("createdAt")?,
            started_at: own("startedAt")?,
            completed_at: own("completedAt")?,
            error: own("error")?,
            worktree,
            soft_usd,
            hard_usd,
            problem: None,
        })
    }

    /// Without its text, for lists.
    pub fn summary(&self) -> TaskSummary {
        let short = |text: &String| limits::cut(text, SHOWN).to_owned();
        TaskSummary {
            created_at: self.created_at.as_ref().map(short),
            started_at: self.started_at.as_ref().map(short),
            completed_at: self.completed_at.as_ref().map(short),
            error: self.error.as_ref().map(short),
            file: Some(self.file.clone()),
            problem: self.problem.as_ref().map(short),
            soft_usd: self.soft_usd,
            hard_usd: self.hard_usd,
            ..TaskSummary::new(short(&self.id), short(&self.title), self.status.clone())
        }
    }

    /// With its text.
    pub fn whole(&self, text: &str) -> tasks::Task {
        let content = Matter::parse(text).map_or(text, |matter| matter.body());
        let shown = limits::cut(content, limits::TASK_CHARS);
        let summary = self.summary();
        tasks::Task {
            truncated: (shown.len() < content.len()).then_some(true),
            created_at: summary.created_at,
            started_at: summary.started_at,
            completed_at: summary.completed_at,
            error: summary.error,
            file: summary.file,
            problem: summary.problem,
            ..tasks::Task::new(summary.id, summary.title, summary.status, shown.to_owned())
        }
    }

    /// Whether the worker may take it.
    pub fn is_waiting(&self) -> bool {
        self.status == TaskStatus::Pending && self.problem.is_none()
    }

    /// The order in which tasks were written: by the day in the name, then by the time in the file, then by name.
    fn order(&self) -> (&str, &str, &str) {
        let is_day = |day: &&str| day.bytes().all(|byte| byte.is_ascii_digit());
        let day = self.file.get(..8).filter(is_day).unwrap_or("99999999");
        let time = self.created_at.as_deref().unwrap_or_default();
        (day, time, &self.file)
    }
}

/// An amount of money, if the front matter has one.
fn amount(matter: &Matter<'_>, key: &'static str) -> Result<Option<f64>, NoTask> {
    let Some(word) = matter.value(key)? else {
        return Ok(None);
    };
    let amount = word.trim_start_matches('$').trim().parse().ok();
    let amount = amount.filter(|usd: &f64| *usd > 0.0 && *usd <= MOST_USD);
    amount.map(Some).ok_or_else(|| NoTask::Amount {
        key,
        value: limits::cut(word, 40).into(),
    })
}

/// What a file without its ending is called.
fn stem(file: &str) -> &str {
    file.strip_suffix(ENDING).unwrap_or(file)
}

/// The first heading of a text.
fn heading(body: &str) -> Option<String> {
    let mut lines = body.lines().map(str::trim);
    let heading = lines.find_map(|line| line.strip_prefix("# "))?;
    let heading = heading.trim();
    (!heading.is_empty()).then(|| heading.to_owned())
}

/// A new file.
pub fn compose(id: &str, title: &str, content: &str, at: Timestamp) -> String {
    compose_within(id, title, content, (None, None), at)
}

/// The same with what it may cost: where people are warned, and where it is stopped.
pub fn compose_within(
    id: &str,
    title: &str,
    content: &str,
    (soft, hard): (Option<f64>, Option<f64>),
    at: Timestamp,
) -> String {
    let at = IsoTime::from(at);
    let [soft, hard] = [soft, hard].map(|usd| usd.map(|usd| usd.to_string()));
    let mut fields = vec![
        ("id", id),
        ("title", title),
        ("status", TaskStatus::Pending.as_str()),
        ("createdAt", at.as_str()),
    ];
    fields.extend(soft.as_deref().map(|soft| ("softUsd", soft)));
    fields.extend(hard.as_deref().map(|hard| ("hardUsd", hard)));
    let end = if content.ends_with('\n') { "" } else { "\n" };
    format!("{}\n{content}{end}", matter::made_of(&fields))
}

/// A file with another status, and what comes with it. All else is as it was.
pub fn with_status(
    text: &str,
    status: &TaskStatus,
    error: Option<&str>,
    at: Timestamp,
) -> Result<String, MatterError> {
    let matter = Matter::parse(text)?;
    let at = IsoTime::from(at);
    let mut changes = vec![("status", Some(status.as_str()))];
    match status {
        TaskStatus::Running => {
            if matter.value("startedAt")?.is_none() {
                changes.push(("startedAt", Some(at.as_str())));
            }
            changes.extend([("completedAt", None), ("error", None)]);
        }
        TaskStatus::Done | TaskStatus::Failed => {
            changes.extend([("completedAt", Some(at.as_str())), ("error", error)]);
        }
        TaskStatus::Pending | TaskStatus::Unknown(_) => {
            changes.extend([("completedAt", None), ("error", None)]);
        }
    }
    Ok(matter.with(&changes))
}

/// The file of a task that the worker begins. One that is not pending stays as it is.
pub fn begin(text: &str, at: Timestamp) -> Result<String, MatterError> {
    match status(text)? {
        Some(TaskStatus::Pending) => with_status(text, &TaskStatus::Running, None, at),
        Some(_) | None => Ok(text.to_owned()),
    }
}

/// The file of a task that the worker has carried out. Whoever wrote another end into it meanwhile is believed.
pub fn end(
    text: &str,
    outcome: &TaskStatus,
    error: Option<&str>,
    at: Timestamp,
) -> Result<String, MatterError> {
    let is_ended = matches!(status(text)?, Some(TaskStatus::Done | TaskStatus::Failed));
    let matter = Matter::parse(text)?;
    match matter.value("completedAt")? {
        Some(_) if is_ended => Ok(text.to_owned()),
        None if is_ended => {
            let at = IsoTime::from(at);
            Ok(matter.with(&[("completedAt", Some(at.as_str()))]))
        }
        Some(_) | None => with_status(text, outcome, error, at),
    }
}

/// The file of a task that waits again.
pub fn put_back(text: &str, at: Timestamp) -> Result<String, MatterError> {
    match status(text)? {
        Some(TaskStatus::Running) => with_status(text, &TaskStatus::Pending, None, at),
        Some(_) | None => Ok(text.to_owned()),
    }
}

/// The status in a file; none for a word that is no status.
fn status(text: &str) -> Result<Option<TaskStatus>, MatterError> {
    let matter = Matter::parse(text)?;
    let Some(word) = matter.value("status")? else {
        return Ok(Some(TaskStatus::Pending));
    };
    let status = TaskStatus::from(word.to_lowercase().as_str());
    Ok(Some(status).filter(|status| !matches!(status, TaskStatus::Unknown(_))))
}

/// Sorts tasks, newest first, and notes which of them have the same id.
pub fn arrange(tasks: &mut [Task]) {
    tasks.sort_by(|one, other| other.order().cmp(&one.order()));
    let ids: Vec<(String, String)> = tasks
        .iter()
        .filter(|task| task.problem.is_none())
        .map(|task| (task.id.clone(), task.file.clone()))
        .collect();
    let mut by_id = std::collections::HashMap::<&str, Vec<&str>>::new();
    for (id, file) in &ids {
        by_id.entry(id).or_default().push(file);
    }
    for task in tasks.iter_mut().filter(|task| task.problem.is_none()) {
        let files = by_id.get(task.id.as_str()).into_iter().flatten();
        if let Some(other) = files.copied().find(|file| *file != task.file) {
            let problem = format!("its id `{}` is also that of {other}", task.id);
            task.problem = Some(problem);
        }
    }
}

/// The task that was written first of those that wait.
pub fn first_waiting(tasks: &[Task]) -> Option<&Task> {
    let waiting = tasks.iter().filter(|task| task.is_waiting());
    waiting.min_by(|one, other| one.order().cmp(&other.order()))
}

/// How many there are.
pub fn queue(tasks: &[Task]) -> TaskQueue {
    let waiting = tasks.iter().filter(|task| task.is_waiting()).count();
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    TaskQueue::new(number(waiting), number(tasks.len()))
}

/// Why no task is meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// There is none.
    #[error("there is no task `{0}`")]
    Unknown(String),
    /// There are several.
    #[error("several tasks have the id `{id}`; name one by its file: {}", files.join(", "))]
    Several {
        /// The id.
        id: String,
        /// Their files.
        files: Vec<String>,
    },
}

impl From<FindError> for ApiError {
    fn from(error: FindError) -> Self {
        let code = match &error {
            FindError::Unknown(_) => ErrorCode::UnknownTask,
            FindError::Several { .. } => ErrorCode::Conflict,
        };
        Self::new(code, error.to_string(), Retry::Never)
    }
}

/// The task that is meant: by its file, or by its id.
pub fn find<'a>(tasks: &'a [Task], id: &str) -> Result<&'a Task, FindError> {
    if let Some(task) = tasks.iter().find(|task| task.file == id) {
        return Ok(task);
    }
    let found: Vec<&Task> = tasks.iter().filter(|task| task.id == id).collect();
    match found.as_slice() {
        [] => Err(FindError::Unknown(limits::cut(id, 80).to_owned())),
        [task] => Ok(task),
        several => Err(FindError::Several {
            id: limits::cut(id, 80).to_owned(),
            files: several.iter().map(|task| task.file.clone()).collect(),
        }),
    }
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
