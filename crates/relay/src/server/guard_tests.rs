//! Hosts, origins and forwarded addresses, as attackers write them.

use hyper::header::HeaderValue;

use super::*;

fn guard() -> Guard {
    let hosts = ["relay.example.org".to_owned()];
    let origins = ["https://app.example.org".to_owned()];
    let proxies = ["192.0.2.9".parse().unwrap()];
    Guard::new(&hosts, &origins, &proxies, Transport::Plain)
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

fn host_of(value: &str, local: &str) -> Option<String> {
    let uri = Uri::from_static("/ws");
    guard().host(&headers(&[("host", value)]), &uri, local.parse().unwrap())
}

#[test]
fn l5_only_our_own_names_are_served() {
    for good in [
        "127.0.0.1:7000",
        "localhost:7000",
        "[::1]:7000",
        "LOCALHOST:7000",
        "relay.example.org",
    ] {
        assert!(host_of(good, "127.0.0.1:7000").is_some(), "{good}");
    }
    for bad in [
        "evil.com",
        "evil.com:7000",
        "localhost",
        "localhost:7001",
        "localhost.evil.com:7000",
        "127.0.0.1.evil.com:7000",
        "127.evil.com:7000",
        "localhost@evil.com:7000",
        "0.0.0.0:7000",
        "2130706433:7000",
        "relay.example.org:7000",
        "relay.example.org.evil.com",
        "",
    ] {
        assert_eq!(host_of(bad, "127.0.0.1:7000"), None, "{bad}");
    }
    // On a network the loopback names are somebody else's.
    assert!(host_of("192.168.1.5:7000", "192.168.1.5:7000").is_some());
    assert_eq!(host_of("localhost:7000", "192.168.1.5:7000"), None);
    assert!(host_of("192.168.1.5", "192.168.1.5:80").is_some());
}

#[test]
fn l6_two_hosts_are_none() {
    let local = "127.0.0.1:7000".parse().unwrap();
    let twice = headers(&[("host", "127.0.0.1:7000"), ("host", "127.0.0.1:7000")]);
    assert_eq!(guard().host(&twice, &Uri::from_static("/"), local), None);
    let one = headers(&[("host", "127.0.0.1:7000")]);
    let absolute = Uri::from_static("http://evil.com/ws");
    assert_eq!(guard().host(&one, &absolute, local), None);
    assert_eq!(
        guard().host(&HeaderMap::new(), &Uri::from_static("/"), local),
        None
    );
}

#[test]
fn l1_l3_l4_a_page_of_another_origin_is_refused() {
    let allows =
        |origin: &str| guard().allows_origin(&headers(&[("origin", origin)]), "localhost:7000");
    for good in [
        "http://localhost:7000",
        "https://localhost:7000",
        "https://app.example.org",
    ] {
        assert!(allows(good), "{good}");
    }
    for bad in [
        "https://evil.com",
        "null",
        "http://localhost",
        "http://localhost:7001",
        "http://localhost.evil.com:7000",
        "http://localhost:evil",
        "file://",
        "",
        "https://app.example.org.evil.com",
        "http://app.example.org",
    ] {
        assert!(!allows(bad), "{bad}");
    }
    assert!(guard().allows_origin(&HeaderMap::new(), "localhost:7000"));
    let twice = headers(&[
        ("origin", "http://localhost:7000"),
        ("origin", "https://evil.com"),
    ]);
    assert!(!guard().allows_origin(&twice, "localhost:7000"));
}

#[test]
fn with_tls_a_plain_page_is_another_origin() {
    let guard = Guard::new(&[], &[], &[], Transport::Tls);
    let plain = headers(&[("origin", "http://localhost:7000")]);
    assert!(!guard.allows_origin(&plain, "localhost:7000"));
    let safe = headers(&[("origin", "https://localhost:7000")]);
    assert!(guard.allows_origin(&safe, "localhost:7000"));
}

#[test]
fn r16_a_forwarded_address_counts_only_from_a_proxy_of_ours() {
    let guard = guard();
    let address = |text: &str| -> IpAddr { text.parse().unwrap() };
    let spoofed = headers(&[("x-forwarded-for", "10.0.0.1")]);
    let peer = address("198.51.100.7");
    assert_eq!(guard.client(&spoofed, peer), peer);
    let proxy = address("192.0.2.9");
    assert_eq!(guard.client(&spoofed, proxy), address("10.0.0.1"));
    // The client wrote the first one itself.
    let chain = headers(&[
        ("x-forwarded-for", "10.0.0.1, 203.0.113.4"),
        ("x-real-ip", "10.9.9.9"),
    ]);
    assert_eq!(guard.client(&chain, proxy), address("203.0.113.4"));
    assert_eq!(guard.client(&HeaderMap::new(), proxy), proxy);
}
