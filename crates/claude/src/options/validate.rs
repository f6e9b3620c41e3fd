//! Contradictions and impossible values, found before anything is started.
//!
//! The CLI reports most of these only by exiting, some not at all. Checks here need the options alone; what
//! needs the disk is in `prepare`, what needs the CLI's version in `gates`. The first problem is reported.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use super::{LaunchError, Options, OutputFormat, PermissionPrompts, Settings, Skills};
use crate::wire::PermissionMode;

/// The longest single argument Linux takes, with the zero byte at its end (`MAX_ARG_STRLEN`).
const MAX_ARGUMENT_BYTES: usize = 128 * 1024;

/// Checks the options against each other.
pub(crate) fn check(options: &Options) -> Result<(), LaunchError> {
    check_permissions(options)?;
    check_resume(options)?;
    check_ids(options)?;
    check_directories(options)?;
    check_limits(options)?;
    check_settings(options)?;
    check_callbacks(options)?;
    check_skills(options)?;
    check_extra_arguments(options)
}

fn check_permissions(options: &Options) -> Result<(), LaunchError> {
    let permissions = &options.permissions;
    let callback = options.callbacks.can_use_tool.is_some();
    let tool = permissions.prompt_tool_name.is_some();
    requires(
        permissions.mode == Some(PermissionMode::BypassPermissions),
        permissions.allow_dangerously_skip,
        (
            "permission_mode(BypassPermissions)",
            "allow_dangerously_skip_permissions",
        ),
        "say that running without any permission check is meant, or choose another mode",
    )?;
    excludes(
        callback && tool,
        ("can_use_tool", "permission_prompt_tool_name"),
        "only one of them can answer permission prompts",
    )?;
    let nobody = permissions.prompts == Some(PermissionPrompts::None);
    excludes(
        nobody && callback,
        ("permission_prompts(None)", "can_use_tool"),
        "with nobody to answer prompts the callback would never be called",
    )?;
    excludes(
        nobody && tool,
        ("permission_prompts(None)", "permission_prompt_tool_name"),
        "with nobody to answer prompts the tool would never be called",
    )?;
    requires(
        permissions.prompts == Some(PermissionPrompts::Host),
        callback || tool,
        ("permission_prompts(Host)", "can_use_tool"),
        "somebody must answer the prompts; `permission_prompt_tool_name` will do as well",
    )
}

fn check_resume(options: &Options) -> Result<(), LaunchError> {
    let session = &options.session;
    let resumes = session.resume.is_some() || session.continue_;
    excludes(
        session.resume.is_some() && session.continue_,
        ("resume", "continue_"),
        "one names the conversation to take up, the other takes the newest",
    )?;
    requires(
        session.fork,
        resumes,
        ("fork_session", "resume"),
        "only a conversation that is taken up can be forked; `continue_` will do as well",
    )?;
    requires(
        session.resume_at.is_some(),
        session.resume.is_some(),
        ("resume_session_at", "resume"),
        "name the conversation the message belongs to",
    )?;
    requires(
        session.resume_drops_turn.is_some(),
        session.resume_at.is_some(),
        ("resume_drops_turn", "resume_session_at"),
        "name the message behind which the turn is dropped",
    )?;
    let other = if session.continue_ {
        "continue_"
    } else {
        "resume"
    };
    excludes(
        session.session_id.is_some() && resumes && !session.fork,
        ("session_id", other),
        "a conversation that is taken up keeps its id unless `fork_session` is set",
    )
}

fn check_ids(options: &Options) -> Result<(), LaunchError> {
    let session = &options.session;
    for (option, id) in [
        ("session_id", &session.session_id),
        ("resume_session_at", &session.resume_at),
        ("resume_drops_turn", &session.resume_drops_turn),
    ] {
        if let Some(id) = id
            && !is_uuid(id)
        {
            return invalid(option, format!("{id:?}"), "it must be a UUID with hyphens");
        }
    }
    match &session.resume {
        Some(id) if id.trim().is_empty() => invalid(
            "resume",
            format!("{id:?}"),
            "it must be the id or title of a conversation",
        ),
        Some(_) | None => Ok(()),
    }
}

/// Whether the text is a UUID in the only form the CLI takes; the parser alone would also take others.
fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

fn check_directories(options: &Options) -> Result<(), LaunchError> {
    let process = &options.process;
    let directories = process
        .cwd
        .iter()
        .map(|path| ("cwd", path))
        .chain(
            process
                .additional_directories
                .iter()
                .map(|path| ("additional_directories", path)),
        )
        .chain(
            process
                .project_config_root
                .iter()
                .map(|path| ("project_config_root", path)),
        );
    for (option, path) in directories {
        if !path.is_absolute() {
            return invalid(option, quoted(path), "it must be an absolute path");
        }
    }
    Ok(())
}

fn check_limits(options: &Options) -> Result<(), LaunchError> {
    let model = &options.model;
    if model.max_turns == Some(0) {
        return invalid("max_turns", "0", "it must be at least 1");
    }
    if model.task_budget == Some(0) {
        return invalid("task_budget", "0", "it must be at least 1 token");
    }
    if let Some(dollars) = model.max_budget_usd
        && !(dollars.is_finite() && dollars > 0.0)
    {
        return invalid(
            "max_budget_usd",
            dollars.to_string(),
            "it must be a positive amount",
        );
    }
    if let (Some(model), Some(fallback)) = (&model.model, &model.fallback_model)
        && model == fallback
    {
        return invalid(
            "fallback_model",
            format!("{fallback:?}"),
            "it must differ from `model`",
        );
    }
    if let Some(OutputFormat::JsonSchema(schema)) = &model.output_format
        && !schema.is_object()
    {
        return invalid(
            "output_format",
            kind(schema),
            "a JSON schema is an object here",
        );
    }
    Ok(())
}

fn check_settings(options: &Options) -> Result<(), LaunchError> {
    let settings = &options.settings;
    for (option, value) in [
        (
            "settings",
            match &settings.settings {
                Some(Settings::Inline(value)) => Some(value),
                Some(Settings::Path(_)) | None => None,
            },
        ),
        ("managed_settings", settings.managed.as_ref()),
    ] {
        if let Some(value) = value
            && !value.is_object()
        {
            return invalid(option, kind(value), "settings are an object");
        }
    }
    excludes(
        matches!(settings.settings, Some(Settings::Path(_))) && settings.sandbox.is_some(),
        ("settings(Path)", "sandbox"),
        "put the sandbox into the settings file, or give the settings inline",
    )?;
    let twice = options
        .process
        .extra_args
        .iter()
        .any(|extra| extra.name == "settings");
    excludes(
        twice && (settings.settings.is_some() || settings.sandbox.is_some()),
        ("extra_arg(settings)", "settings"),
        "the CLI takes only one; put everything into `settings`",
    )
}

fn check_callbacks(options: &Options) -> Result<(), LaunchError> {
    let callbacks = &options.callbacks;
    requires(
        !callbacks.supported_dialog_kinds.is_empty(),
        callbacks.on_user_dialog.is_some(),
        ("supported_dialog_kinds", "on_user_dialog"),
        "a dialog that nobody shows would hold up the conversation",
    )?;
    let matchers = || callbacks.hooks.iter().flat_map(|(_, matchers)| matchers);
    if matchers().any(|matcher| matcher.callbacks.is_empty()) {
        return invalid(
            "hook",
            "a matcher without callbacks",
            "add one with `HookMatcher::callback`",
        );
    }
    if matchers().any(|matcher| matcher.timeout.is_some_and(|timeout| timeout.is_zero())) {
        return invalid(
            "hook",
            "a matcher with the timeout 0",
            "leave it out to wait without limit",
        );
    }
    Ok(())
}

fn check_skills(options: &Options) -> Result<(), LaunchError> {
    let Some(Skills::List(names)) = &options.tools.skills else {
        return Ok(());
    };
    let bad = |name: &&String| {
        name.is_empty()
            || name.trim() != name.as_str()
            || name.contains(|c: char| c.is_control() || matches!(c, '(' | ')' | ','))
    };
    match names.iter().find(bad) {
        Some(name) => invalid(
            "skills",
            format!("{name:?}"),
            "a name has no parentheses, commas, control characters or spaces around it",
        ),
        None => Ok(()),
    }
}

fn check_extra_arguments(options: &Options) -> Result<(), LaunchError> {
    let bad = |name: &str| {
        name.is_empty()
            || name.starts_with('-')
            || name.contains(|c: char| c == '=' || c.is_whitespace())
    };
    match options
        .process
        .extra_args
        .iter()
        .find(|extra| bad(&extra.name))
    {
        Some(extra) => invalid(
            "extra_arg",
            format!("{:?}", extra.name),
            "the name goes without dashes, spaces and value: `foo` for `--foo`",
        ),
        None => Ok(()),
    }
}

/// Checks what the operating system would refuse with a message that names no option.
pub(crate) fn check_arguments(args: &[OsString]) -> Result<(), LaunchError> {
    let refused = |arg: &OsString| {
        if arg.as_encoded_bytes().contains(&0) {
            Some("no argument can hold a zero byte")
        } else if arg.len() >= MAX_ARGUMENT_BYTES {
            Some("an argument must be shorter than 128 KiB; use a file where one will do")
        } else {
            None
        }
    };
    match args
        .iter()
        .enumerate()
        .find_map(|(index, arg)| Some((index, refused(arg)?)))
    {
        Some((index, reason)) => Err(LaunchError::Argument {
            flag: flag_at(args, index),
            reason,
        }),
        None => Ok(()),
    }
}

/// The name of the flag at this place, or of the one whose value stands there; never the value.
fn flag_at(args: &[OsString], index: usize) -> String {
    let flags = args
        .iter()
        .take(index + 1)
        .rev()
        .map(|arg| arg.to_string_lossy());
    let flag = flags
        .into_iter()
        .find(|arg| arg.starts_with("--"))
        .unwrap_or_default();
    flag.split('=').next().unwrap_or_default().to_owned()
}

fn requires(
    given: bool,
    satisfied: bool,
    (option, needs): (&'static str, &'static str),
    advice: &'static str,
) -> Result<(), LaunchError> {
    if given && !satisfied {
        return Err(LaunchError::Requires {
            option,
            needs,
            advice,
        });
    }
    Ok(())
}

fn excludes(
    both: bool,
    (first, second): (&'static str, &'static str),
    advice: &'static str,
) -> Result<(), LaunchError> {
    if both {
        return Err(LaunchError::Contradiction {
            first,
            second,
            advice,
        });
    }
    Ok(())
}

fn invalid(
    option: &'static str,
    value: impl Into<String>,
    reason: &'static str,
) -> Result<(), LaunchError> {
    Err(LaunchError::Value {
        option,
        value: value.into(),
        reason,
    })
}

fn quoted(path: &Path) -> String {
    format!("{:?}", path.display().to_string())
}

/// What a JSON value is, without its contents.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
