//! The table of all routes: method, path, what is done and who may do it. `openapi.json` describes the same table, and
//! a test holds one against the other.

use estelle_proto::Right;
use hyper::Method;

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    Health,
    OpenApi,
    Docs,
    Version,
    ListSessions,
    CreateSession,
    GetSession,
    RenameSession,
    DeleteSession,
    Input,
    Approve,
    Stop,
    Resume,
    ListMessages,
    ListEvents,
    Search,
    ListWorkspaces,
    CreateWorkspace,
    DeleteWorkspace,
    GetUsage,
    ListDevices,
    GetSettings,
    ChangeSettings,
    ListTerminals,
    CreateTerminal,
    CloseTerminal,
    ListTasks,
    CreateTask,
    GetTask,
    MarkTask,
    GetWorker,
    OrderWorker,
    MergeWorktree,
    RemoveWorktree,
    ListSaved,
    ContinueSaved,
}

/// Who may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anybody on this machine: it says nothing about it.
    Public,
    /// Whoever has this right.
    Right(Right),
}

/// One route.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) operation: Operation,
    pub(crate) access: Access,
}

const fn route(method: Method, path: &'static str, operation: Operation, access: Access) -> Route {
    Route {
        method,
        path,
        operation,
        access,
    }
}

const VIEW: Access = Access::Right(Right::View);
const PROMPT: Access = Access::Right(Right::Prompt);
const APPROVE: Access = Access::Right(Right::Approve);
const TERMINAL: Access = Access::Right(Right::Terminal);
const ADMIN: Access = Access::Right(Right::Admin);

/// Where the WebSocket of a session is opened.
pub(crate) const SOCKET: &str = "/ws/sessions/{id}";
/// Where the WebSocket of a terminal is opened.
pub(crate) const TERMINAL_SOCKET: &str = "/ws/terminals/{id}";

/// All routes.
pub(crate) static ROUTES: [Route; 36] = [
    route(
        Method::GET,
        "/api/health",
        Operation::Health,
        Access::Public,
    ),
    route(
        Method::GET,
        "/api/openapi.json",
        Operation::OpenApi,
        Access::Public,
    ),
    route(Method::GET, "/api/docs", Operation::Docs, Access::Public),
    route(Method::GET, "/api/version", Operation::Version, VIEW),
    route(Method::GET, "/api/sessions", Operation::ListSessions, VIEW),
    route(
        Method::POST,
        "/api/sessions",
        Operation::CreateSession,
        PROMPT,
    ),
    route(
        Method::GET,
        "/api/sessions/{id}",
        Operation::GetSession,
        VIEW,
    ),
    route(
        Method::PATCH,
        "/api/sessions/{id}",
        Operation::RenameSession,
        PROMPT,
    ),
    route(
        Method::DELETE,
        "/api/sessions/{id}",
        Operation::DeleteSession,
        ADMIN,
    ),
    route(
        Method::POST,
        "/api/sessions/{id}/input",
        Operation::Input,
        PROMPT,
    ),
    route(
        Method::POST,
        "/api/sessions/{id}/approve",
        Operation::Approve,
        APPROVE,
    ),
    route(
        Method::POST,
        "/api/sessions/{id}/stop",
        Operation::Stop,
        PROMPT,
    ),
    route(
        Method::POST,
        "/api/sessions/{id}/resume",
        Operation::Resume,
        PROMPT,
    ),
    route(
        Method::GET,
        "/api/sessions/{id}/messages",
        Operation::ListMessages,
        VIEW,
    ),
    route(
        Method::GET,
        "/api/sessions/{id}/events",
        Operation::ListEvents,
        VIEW,
    ),
    route(Method::GET, "/api/search", Operation::Search, VIEW),
    route(
        Method::GET,
        "/api/workspaces",
        Operation::ListWorkspaces,
        VIEW,
    ),
    route(
        Method::POST,
        "/api/workspaces",
        Operation::CreateWorkspace,
        PROMPT,
    ),
    route(
        Method::DELETE,
        "/api/workspaces/{id}",
        Operation::DeleteWorkspace,
        ADMIN,
    ),
    route(Method::GET, "/api/usage", Operation::GetUsage, VIEW),
    route(Method::GET, "/api/devices", Operation::ListDevices, ADMIN),
    route(Method::GET, "/api/settings", Operation::GetSettings, VIEW),
    route(
        Method::PATCH,
        "/api/settings",
        Operation::ChangeSettings,
        ADMIN,
    ),
    route(
        Method::GET,
        "/api/terminals",
        Operation::ListTerminals,
        TERMINAL,
    ),
    route(
        Method::POST,
        "/api/terminals",
        Operation::CreateTerminal,
        TERMINAL,
    ),
    route(
        Method::DELETE,
        "/api/terminals/{id}",
        Operation::CloseTerminal,
        TERMINAL,
    ),
    route(
        Method::GET,
        "/api/workspaces/{id}/tasks",
        Operation::ListTasks,
        VIEW,
    ),
    route(
        Method::POST,
        "/api/workspaces/{id}/tasks",
        Operation::CreateTask,
        PROMPT,
    ),
    route(
        Method::GET,
        "/api/workspaces/{id}/tasks/{task}",
        Operation::GetTask,
        VIEW,
    ),
    route(
        Method::PATCH,
        "/api/workspaces/{id}/tasks/{task}",
        Operation::MarkTask,
        PROMPT,
    ),
    route(
        Method::GET,
        "/api/workspaces/{id}/worker",
        Operation::GetWorker,
        VIEW,
    ),
    route(
        Method::POST,
        "/api/workspaces/{id}/worker",
        Operation::OrderWorker,
        PROMPT,
    ),
    route(
        Method::POST,
        "/api/sessions/{id}/worktree/merge",
        Operation::MergeWorktree,
        PROMPT,
    ),
    route(
        Method::DELETE,
        "/api/sessions/{id}/worktree",
        Operation::RemoveWorktree,
        ADMIN,
    ),
    route(
        Method::GET,
        "/api/workspaces/{id}/saved",
        Operation::ListSaved,
        PROMPT,
    ),
    route(
        Method::POST,
        "/api/workspaces/{id}/saved",
        Operation::ContinueSaved,
        PROMPT,
    ),
];

/// What a path names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Named<'a> {
    /// What stands in the place of `{id}`.
    pub(crate) id: Option<&'a str>,
    /// What stands in the place of `{task}`, as it was written.
    pub(crate) task: Option<&'a str>,
}

/// What a path leads to.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// The route, and what the path names.
    Route(&'static Route, Named<'a>),
    /// There is such a path, for these methods alone.
    OtherMethod(Vec<&'static Method>),
    Nothing,
}

/// Finds the route of a request.
pub(crate) fn find<'a>(method: &Method, path: &'a str) -> Found<'a> {
    let mut others = Vec::new();
    for route in &ROUTES {
        let Some(named) = fits(route.path, path) else {
            continue;
        };
        if route.method == *method {
            return Found::Route(route, named);
        }
        others.push(&route.method);
    }
    if others.is_empty() {
        Found::Nothing
    } else {
        Found::OtherMethod(others)
    }
}

/// What a path names, if it is one of a pattern.
pub(crate) fn fits<'a>(pattern: &str, path: &'a str) -> Option<Named<'a>> {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut named = Named::default();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(named),
            (Some("{id}"), Some(segment)) if !segment.is_empty() => named.id = Some(segment),
            (Some("{task}"), Some(segment)) if !segment.is_empty() => named.task = Some(segment),
            (Some(wanted), Some(segment)) if wanted == segment => {}
            (Some(_) | None, Some(_)) | (Some(_), None) => return None,
        }
    }
}

/// A segment of a path without its encoding; nothing if it has none that can be read.
pub(crate) fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn paths_lead_to_their_routes() {
        let Found::Route(route, named) = find(&Method::POST, "/api/sessions/a/input") else {
            panic!("no route");
        };
        assert_eq!((route.operation, named.id), (Operation::Input, Some("a")));
        let line = "/api/workspaces/w/tasks/a%20b%2Fc.md";
        let Found::Route(route, named) = find(&Method::GET, line) else {
            panic!("no route");
        };
        assert_eq!((route.operation, named.id), (Operation::GetTask, Some("w")));
        let task = named.task.and_then(decoded);
        assert_eq!(task.as_deref(), Some("a b/c.md"));
        assert_eq!(
            (decoded("%"), decoded("%zz"), decoded("%ff")),
            (None, None, None)
        );
        assert!(matches!(
            find(&Method::GET, "/api/sessions/"),
            Found::Nothing
        ));
        assert!(matches!(
            find(&Method::GET, "/api/sessions/a/b"),
            Found::Nothing
        ));
        let Found::OtherMethod(methods) = find(&Method::PUT, "/api/sessions") else {
            panic!("a route");
        };
        assert_eq!(methods, [&Method::GET, &Method::POST]);
    }

    #[test]
    fn the_document_describes_exactly_these_routes() {
        let document: Value = serde_json::from_str(crate::page::OPENAPI).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        let mut described = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                if method == "parameters" {
                    continue;
                }
                described.insert((method.to_uppercase(), path.clone()));
                assert!(operation["summary"].is_string(), "{method} {path}");
                assert!(operation["operationId"].is_string(), "{method} {path}");
            }
        }
        let routes = ROUTES.iter();
        let routes: BTreeSet<_> = routes
            .map(|route| (route.method.to_string(), route.path.to_owned()))
            .collect();
        assert_eq!(described, routes);
    }

    #[test]
    fn the_document_says_which_routes_need_a_token() {
        let document: Value = serde_json::from_str(crate::page::OPENAPI).unwrap();
        for route in &ROUTES {
            let method = route.method.as_str().to_lowercase();
            let operation = &document["paths"][route.path][&method];
            let is_public = operation["security"].as_array().is_some_and(Vec::is_empty);
            assert_eq!(is_public, route.access == Access::Public, "{}", route.path);
            let has_refusals = operation["responses"]["401"].is_object();
            assert_eq!(has_refusals, !is_public, "{} {method}", route.path);
        }
    }

    #[test]
    fn l12_nothing_is_changed_by_a_get() {
        let readers = ROUTES.iter().filter(|route| route.method == Method::GET);
        for route in readers {
            let name = format!("{:?}", route.operation);
            let reads = ["Health", "OpenApi", "Docs", "Version", "Search"];
            let is_reading = name.starts_with("Get") || name.starts_with("List");
            assert!(is_reading || reads.contains(&name.as_str()), "{name}");
        }
    }
}
