//! Which names and pages are let in; the numbers are those of the catalogue of attacks.

use hyper::header::HeaderValue;

use super::*;

fn guard() -> Guard {
    let local = SocketAddr::from(([127, 0, 0, 1], 7711));
    let origins = ["https://app.example.org".to_owned()];
    Guard::new(local, &["estelle.example.org".to_owned()], &origins)
}

fn allows(uri: &str, headers: &[(HeaderName, &str)]) -> bool {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(name, HeaderValue::from_str(value).unwrap());
    }
    guard().allows(&map, &uri.parse().unwrap())
}

fn host(host: &str) -> bool {
    allows("/api/health", &[(HOST, host)])
}

fn origin(origin: &str) -> bool {
    allows("/api/health", &[(HOST, "127.0.0.1:7711"), (ORIGIN, origin)])
}

#[test]
fn own_names_and_configured_ones_are_let_in() {
    for name in [
        "127.0.0.1:7711",
        "localhost:7711",
        "LOCALHOST:7711",
        "[::1]:7711",
    ] {
        assert!(host(name), "{name}");
    }
    assert!(host("estelle.example.org"));
    assert!(origin("http://127.0.0.1:7711"));
    assert!(origin("https://app.example.org"));
}

#[test]
fn l1_l3_l4_another_origin_is_refused() {
    for from in [
        "https://evil.example",
        "null",
        "http://localhost.evil.com",
        "http://127.0.0.1.evil.com",
        "http://localhost:evil",
        "http://127.0.0.1:7712",
        "http://localhost:7711",
        "file://",
        "",
    ] {
        assert!(!origin(from), "{from}");
    }
}

#[test]
fn l5_l7_l8_l9_another_host_is_refused() {
    for name in [
        "evil.com",
        "evil.com:7711",
        "127.0.0.1:80",
        "127.0.0.1",
        "0.0.0.0:7711",
        "[::ffff:127.0.0.1]:7711",
        "2130706433:7711",
        "127.evil.com:7711",
        "localhost@evil:7711",
        "",
    ] {
        assert!(!host(name), "{name}");
    }
}

#[test]
fn l6_two_hosts_or_another_one_in_the_request_line_are_refused() {
    let own = (HOST, "127.0.0.1:7711");
    assert!(!allows("/", &[own.clone(), (HOST, "evil.com")]));
    assert!(!allows("/", &[]));
    assert!(!allows("http://evil.com/", std::slice::from_ref(&own)));
    assert!(allows("http://127.0.0.1:7711/", std::slice::from_ref(&own)));
    let twice = (ORIGIN, "http://127.0.0.1:7711");
    assert!(!allows("/", &[own, twice.clone(), twice]));
}
