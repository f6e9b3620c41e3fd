//! The web app as pages of the relay: the files of its build, from memory.
//!
//! A release carries them; a debug build reads them once at the start from `web/dist`, if they were built. Without them
//! there is one page that says how to get them. Files with a hash in their name are kept by browsers for ever, the page
//! itself is asked for each time.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use estelle_relay::{Page, Pages};
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HeaderMap, IF_NONE_MATCH, VARY,
};
use hyper::{Request, Response, StatusCode};

/// What a release carries: path and content.
static CARRIED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/web_files.rs"));

/// The app's own rules, stricter than those of the relay; the page repeats them for itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types estelle";

const NOT_BUILT: &str = "<!doctype html><meta charset=utf-8><title>Estelle</title><p>This program was built without \
    the web app. Run <code>cargo xtask test --only web</code>, then start it again.\n";

/// A file, as it is and packed.
#[derive(Debug, Clone)]
struct File {
    kind: &'static str,
    plain: Bytes,
    packed: Option<Bytes>,
    tag: String,
}

/// Answers with the files of the web app.
pub(crate) fn pages() -> Pages {
    let files = files();
    Arc::new(move |request: &Request<()>| answer(&files, request))
}

fn files() -> HashMap<String, File> {
    let mut all: HashMap<String, Bytes> = CARRIED
        .iter()
        .map(|(path, content)| ((*path).to_owned(), Bytes::from_static(content)))
        .collect();
    if all.is_empty() && cfg!(debug_assertions) {
        let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
        read(&dist, &dist, &mut all);
    }
    if !all.contains_key("/index.html") {
        all.insert("/index.html".to_owned(), NOT_BUILT.into());
    }
    let names: Vec<String> = all.keys().cloned().collect();
    let plain = names
        .iter()
        .filter(|name| name.strip_suffix(".gz").is_none());
    plain
        .filter_map(|name| {
            let content = all.get(name)?.clone();
            let file = File {
                kind: kind(name),
                packed: all.get(&format!("{name}.gz")).cloned(),
                tag: format!("\"{:016x}\"", hash(&content)),
                plain: content,
            };
            let path = if name == "/index.html" { "/" } else { name };
            Some((path.to_owned(), file))
        })
        .collect()
}

/// Files that cannot be read are as good as absent: the page then says what to do.
fn read(root: &Path, folder: &Path, all: &mut HashMap<String, Bytes>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            read(root, &path, all);
        } else if let (Ok(name), Ok(content)) = (path.strip_prefix(root), std::fs::read(&path)) {
            all.insert(format!("/{}", name.display()), content.into());
        }
    }
}

fn answer(files: &HashMap<String, File>, request: &Request<()>) -> Option<Page> {
    let path = request.uri().path();
    let file = files.get(path)?;
    let is_hashed = path.starts_with("/assets/");
    let cache = if is_hashed {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let page = Response::builder()
        .header(CONTENT_TYPE, file.kind)
        .header(CACHE_CONTROL, cache)
        .header(CONTENT_SECURITY_POLICY, POLICY)
        .header(VARY, "accept-encoding")
        .header(ETAG, &file.tag);
    let headers = request.headers();
    let page = if says(headers, IF_NONE_MATCH.as_str(), &file.tag) {
        page.status(StatusCode::NOT_MODIFIED).body(Bytes::new())
    } else if let Some(packed) = takes_gzip(headers)
        .then_some(file.packed.as_ref())
        .flatten()
    {
        page.header(CONTENT_ENCODING, "gzip").body(packed.clone())
    } else {
        page.body(file.plain.clone())
    };
    page.ok()
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    says(headers, ACCEPT_ENCODING.as_str(), "gzip")
}

/// Whether one of the comma-separated words of a header is this one.
fn says(headers: &HeaderMap, name: &str, word: &str) -> bool {
    let values = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .filter_map(|part| part.split(';').next())
        .any(|part| part.trim() == word)
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

/// FNV-1a: tells one build of a file from the next.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built() -> HashMap<String, File> {
        let file = |name: &str, packed: Option<&'static [u8]>| File {
            kind: kind(name),
            plain: Bytes::from_static(b"plain"),
            packed: packed.map(Bytes::from_static),
            tag: "\"1\"".to_owned(),
        };
        HashMap::from([
            ("/".to_owned(), file("/index.html", None)),
            ("/assets/a-1.js".to_owned(), file("a.js", Some(b"packed"))),
        ])
    }

    fn ask(path: &str, headers: &[(&str, &str)]) -> Option<Page> {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(&built(), &request.body(()).unwrap())
    }

    #[test]
    fn a_browser_gets_the_packed_file_and_others_the_plain_one() {
        let packed = ask("/assets/a-1.js", &[("accept-encoding", "br;q=1, gzip")]).unwrap();
        assert_eq!(packed.body().as_ref(), b"packed");
        assert_eq!(packed.headers()[CONTENT_ENCODING], "gzip");
        assert!(
            packed.headers()[CACHE_CONTROL]
                .to_str()
                .unwrap()
                .contains("immutable")
        );
        let plain = ask("/assets/a-1.js", &[]).unwrap();
        assert_eq!(plain.body().as_ref(), b"plain");
        assert!(!plain.headers().contains_key(CONTENT_ENCODING));
    }

    #[test]
    fn the_page_is_asked_for_each_time_and_sent_only_when_it_changed() {
        let page = ask("/", &[]).unwrap();
        assert_eq!(page.headers()[CACHE_CONTROL], "no-cache");
        assert_eq!(page.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        let same = ask("/", &[("if-none-match", "\"1\"")]).unwrap();
        assert_eq!(same.status(), StatusCode::NOT_MODIFIED);
        assert!(same.body().is_empty());
    }

    #[test]
    fn no_other_path_is_a_file() {
        for path in ["/index.html", "/assets/", "/assets/../", "/nothing", "//"] {
            assert!(ask(path, &[]).is_none(), "{path}");
        }
    }

    #[test]
    fn there_is_always_a_page() {
        assert!(files().contains_key("/"));
    }
}
