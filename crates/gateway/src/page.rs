//! The description of the interface: the `OpenAPI` document, and the same as a page that people can read.

use std::fmt::Write as _;

use serde_json::Value;

/// The document, as it is served.
pub(crate) const OPENAPI: &str = include_str!("openapi.json");

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}\
    code{font-family:ui-monospace,monospace}h2{margin-top:2rem;font-size:1.05rem}\
    h2 code{background:#eee;padding:.15rem .4rem;border-radius:.25rem}table{border-collapse:collapse}\
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
            page.push_str("<table>");
            for (status, response) in operation["responses"].as_object().into_iter().flatten() {
                let named = response["$ref"]
                    .as_str()
                    .and_then(|name| name.rsplit('/').next());
                let about = match named {
                    Some(name) => &document["components"]["responses"][name]["description"],
                    None => &response["description"],
                };
                let _ = write!(
                    page,
                    "<tr><td><code>{}</code><td>{}",
                    escape(status),
                    text(about)
                );
            }
            page.push_str("</table>");
        }
    }
    page.push_str("</html>");
    page
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
    fn text_of_the_document_is_no_markup() {
        assert_eq!(
            escape("<a href=\"x\">&"),
            "&lt;a href=&quot;x&quot;&gt;&amp;"
        );
    }
}
