//! The description of the interface: the `OpenAPI` document, and the same as a page that people can read.

use std::fmt::Write as _;

use serde_json::Value;

/// The document, as it is served.
pub(crate) const OPENAPI: &str = include_str!("openapi.json");

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}\
    code{font-family:ui-monospace,monospace}h2{margin-top:2rem;font-size:1.05rem}\
    h3{font-size:.9rem;margin:.8rem 0 .2rem}ul{margin:0}h2 code{background:#eee;padding:.15rem .4rem;border-radius:.25rem}table{border-collapse:collapse}\
    td,th{text-align:left;padding:.15rem .8rem .15rem 0;vertical-align:top}\
    @media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}h2 code{background:#333}}";

/// The page, made from the document.
pub(crate) fn html() -> String {
    let document: Value = serde_json::from_str(OPENAPI).unwrap_or_default();
    let text = |value: &Value| escape(value.as_str().unwrap_or_default());
    let info = &document["info"];
    let title = text(&info["title"]);
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}</style><h1>{title}</h1>"
    );
    for paragraph in info["description"]
        .as_str()
        .unwrap_or_default()
        .split("\n\n")
    {
        let _ = write!(page, "<p>{}</p>", escape(paragraph));
    }
    page.push_str(
        "<p>The document itself: <a href=\"/api/openapi.json\">/api/openapi.json</a></p>",
    );
    let paths = document["paths"].as_object().into_iter().flatten();
    for (path, item) in paths {
        for (method, operation) in item.as_object().into_iter().flatten() {
            if method == "parameters" {
                continue;
            }
            let (method, path) = (method.to_uppercase(), escape(path));
            let summary = text(&operation["summary"]);
            let _ = write!(
                page,
                "<h2><code>{method} {path}</code></h2><p>{summary}</p>"
            );
            if operation["description"].is_string() {
                let _ = write!(page, "<p>{}</p>", text(&operation["description"]));
            }
            parameters(&mut page, &[&item["parameters"], &operation["parameters"]]);
            let body = &operation["requestBody"];
            if let Some(shape) = content(body) {
                let _ = write!(page, "<h3>Body</h3><p>{}</p>", shape_of(shape));
            }
            responses(&mut page, &document, &operation["responses"]);
        }
    }
    schemas(&mut page, &document["components"]["schemas"]);
    page.push_str("</html>");
    page
}

/// What stands in an address or a header.
fn parameters(page: &mut String, lists: &[&Value]) {
    let mut all = lists
        .iter()
        .filter_map(|list| list.as_array())
        .flatten()
        .peekable();
    if all.peek().is_none() {
        return;
    }
    page.push_str("<h3>Parameters</h3><table>");
    for one in all {
        let word = |key: &str| escape(one[key].as_str().unwrap_or_default());
        let optional = if one["required"] == true { "" } else { "?" };
        let (name, place, about) = (word("name"), word("in"), word("description"));
        let shape = shape_of(&one["schema"]);
        let _ = write!(
            page,
            "<tr><td><code>{name}{optional}</code><td>{place}<td>{shape}<td>{about}"
        );
    }
    page.push_str("</table>");
}

/// What comes back, by its status.
fn responses(page: &mut String, document: &Value, responses: &Value) {
    page.push_str("<h3>Answers</h3><table>");
    for (status, response) in responses.as_object().into_iter().flatten() {
        let named = response["$ref"]
            .as_str()
            .and_then(|name| name.rsplit('/').next());
        let response = match named {
            Some(name) => &document["components"]["responses"][name],
            None => response,
        };
        let about = escape(response["description"].as_str().unwrap_or_default());
        let shape = content(response).map(shape_of).unwrap_or_default();
        let status = escape(status);
        let _ = write!(page, "<tr><td><code>{status}</code><td>{about}<td>{shape}");
    }
    page.push_str("</table>");
}

/// The shapes that have a name.
fn schemas(page: &mut String, schemas: &Value) {
    page.push_str("<h1>Shapes</h1>");
    for (name, schema) in schemas.as_object().into_iter().flatten() {
        let (name, shape) = (escape(name), shape_of(schema));
        let _ = write!(
            page,
            "<h2 id=\"{name}\"><code>{name}</code></h2><p>{shape}</p>"
        );
    }
}

/// The schema of what goes up or comes down, whatever it is written as.
fn content(holder: &Value) -> Option<&Value> {
    let mut kinds = holder["content"].as_object()?.values();
    kinds.next().map(|kind| &kind["schema"])
}

/// A schema in a few words: its kind, its members, and what is said about it.
fn shape_of(schema: &Value) -> String {
    let about = schema["description"].as_str().map(escape);
    let about = about.map_or_else(String::new, |text| format!(" <i>{text}</i>"));
    format!("{}{about}", kind_of(schema))
}

fn kind_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = escape(name.rsplit('/').next().unwrap_or_default());
        return format!("<a href=\"#{name}\">{name}</a>");
    }
    if let Some(value) = schema.get("const") {
        return code(value);
    }
    let several = |key: &str| schema[key].as_array();
    if let Some(values) = several("enum") {
        return joined(values.iter().map(code));
    }
    if let Some(shapes) = several("anyOf").or_else(|| several("oneOf")) {
        return joined(shapes.iter().map(shape_of));
    }
    if let Some(shapes) = several("allOf") {
        let shapes: Vec<String> = shapes.iter().map(shape_of).collect();
        return shapes.join(" and ");
    }
    if let Some(members) = schema["properties"].as_object() {
        return members_of(schema, members);
    }
    let is_list = schema["type"] == "array";
    if is_list && schema["items"].is_object() {
        return format!("list of {}", shape_of(&schema["items"]));
    }
    match &schema["type"] {
        Value::Array(kinds) => joined(kinds.iter().map(word)),
        Value::String(_) => word(&schema["type"]),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "anything".to_owned(),
    }
}

fn members_of(schema: &Value, members: &serde_json::Map<String, Value>) -> String {
    let required = schema["required"].as_array().into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let mut list = String::from("object<ul>");
    for (name, member) in members {
        let optional = if required.contains(&name.as_str()) {
            ""
        } else {
            "?"
        };
        let (name, shape) = (escape(name), shape_of(member));
        let _ = write!(list, "<li><code>{name}{optional}</code>: {shape}");
    }
    list.push_str("</ul>");
    list
}

fn joined(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    words.join(" or ")
}

fn word(value: &Value) -> String {
    escape(value.as_str().unwrap_or_default())
}

fn code(value: &Value) -> String {
    format!("<code>{}</code>", escape(&value.to_string()))
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_route_and_runs_nothing() {
        let page = html();
        for route in &crate::routes::ROUTES {
            let named = format!("<code>{} {}</code>", route.method, route.path);
            assert!(page.contains(&named), "{named}");
        }
        assert!(!page.contains("<script"));
    }

    #[test]
    fn the_page_shows_parameters_bodies_and_shapes() {
        let page = html();
        for part in [
            "<h3>Parameters</h3><table><tr><td><code>id</code><td>path<td>string",
            "<code>client_message_id?</code>: string or null",
            "<code>limit?</code><td>query<td>integer",
            "<h2 id=\"Session\"><code>Session</code></h2><p>object<ul><li><code>",
            "<li><code>worktree_path</code>: string <i>",
            "<a href=\"#SessionStatus\">SessionStatus</a>",
            "<code>429</code><td>Too much waits already.",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn text_of_the_document_is_no_markup() {
        assert_eq!(
            escape("<a href=\"x\">&"),
            "&lt;a href=&quot;x&quot;&gt;&amp;"
        );
    }
}
