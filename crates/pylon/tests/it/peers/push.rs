//! A push service on the loopback, and devices that decrypt what it carries: the receiver's side of RFC 8291 and 8292.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{self, ECDSA_P256_SHA256_FIXED};
use data_encoding::{BASE64URL_NOPAD as BASE64, HEXLOWER};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::PATIENCE;

/// A request that came.
#[derive(Debug)]
pub(crate) struct Push {
    pub(crate) path: String,
    headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Push {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Checks the token: by whom, for whom, for how long, and who may be written to.
    pub(crate) fn is_signed_by(&self, public_key: &str, origin: &str, contact: &str) {
        let value = self.header("authorization");
        let (token, key) = value
            .strip_prefix("vapid t=")
            .unwrap()
            .split_once(", k=")
            .unwrap();
        assert_eq!(key, public_key);
        let (signed, mac) = token.rsplit_once('.').unwrap();
        let key = BASE64.decode(key.as_bytes()).unwrap();
        let key = signature::UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key);
        key.verify(signed.as_bytes(), &BASE64.decode(mac.as_bytes()).unwrap())
            .unwrap();
        let parts: Vec<Value> = signed
            .split('.')
            .map(|part| serde_json::from_slice(&BASE64.decode(part.as_bytes()).unwrap()).unwrap())
            .collect();
        assert_eq!(parts[0]["alg"], "ES256");
        assert_eq!(parts[1]["aud"], origin);
        assert_eq!(parts[1]["sub"], contact);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let left =
            parts[1]["exp"].as_i64().unwrap() - i64::try_from(now.unwrap().as_secs()).unwrap();
        assert!((3600..=86_400).contains(&left), "{left}");
    }

    /// Checks the signature of a webhook.
    pub(crate) fn is_hook_of(&self, secret: &str) {
        let (time, mac) = self.header("estelle-signature").split_once(",v1=").unwrap();
        let mut signed = format!("{}.", time.strip_prefix("t=").unwrap()).into_bytes();
        signed.extend(&self.body);
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        hmac::verify(&key, &signed, &HEXLOWER.decode(mac.as_bytes()).unwrap()).unwrap();
    }
}

/// The service, until it is dropped.
#[derive(Debug)]
pub(crate) struct Endpoint {
    address: SocketAddr,
    answers: Arc<Mutex<VecDeque<u16>>>,
    pushes: mpsc::UnboundedReceiver<Push>,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Endpoint {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (told, pushes) = mpsc::unbounded_channel();
        let answers = Arc::new(Mutex::new(VecDeque::new()));
        let tasks = TaskTracker::new();
        let statuses = Arc::clone(&answers);
        let server = tasks.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                serve(stream, &statuses, &told).await;
            }
        });
        Self {
            address,
            answers,
            pushes,
            server,
        }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next requests are answered with these, the others with 201.
    pub(crate) fn answers(&self, statuses: &[u16]) {
        self.answers.lock().unwrap().extend(statuses);
    }

    pub(crate) async fn next(&mut self) -> Push {
        let next = tokio::time::timeout(PATIENCE, self.pushes.recv()).await;
        next.expect("nothing was pushed").unwrap()
    }

    /// A device with a subscription here.
    pub(crate) fn device(&self, name: &str) -> Device {
        let secret = PrivateKey::generate(&ECDH_P256).unwrap();
        let public = secret.compute_public_key().unwrap();
        let auth: Vec<u8> = name.bytes().cycle().take(16).collect();
        let path = format!("/push/{name}");
        Device {
            name: name.to_owned(),
            endpoint: format!("{}{path}", self.origin()),
            path,
            p256dh: BASE64.encode(public.as_ref()),
            auth: BASE64.encode(&auth),
            secret,
        }
    }
}

async fn serve(
    mut stream: TcpStream,
    answers: &Mutex<VecDeque<u16>>,
    told: &mpsc::UnboundedSender<Push>,
) {
    let mut bytes = Vec::new();
    let head = loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.lines();
    let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<_, _> = headers
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers["content-length"].parse().unwrap();
    while bytes.len() < head + length {
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let status = answers.lock().unwrap().pop_front().unwrap_or(201);
    let body = bytes[head..].to_vec();
    told.send(Push {
        path,
        headers,
        body,
    })
    .unwrap();
    // Wherever a redirect leads, nobody must follow it: this would be a request that no test expects.
    let answer =
        format!("HTTP/1.1 {status} x\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n");
    let _ = stream.write_all(answer.as_bytes()).await;
}

/// A device that subscribed.
pub(crate) struct Device {
    pub(crate) name: String,
    pub(crate) endpoint: String,
    pub(crate) path: String,
    pub(crate) p256dh: String,
    pub(crate) auth: String,
    secret: PrivateKey,
}

impl Device {
    /// Decrypts what came.
    pub(crate) fn open(&self, push: &Push) -> Value {
        assert_eq!(push.path, self.path);
        let (salt, rest) = push.body.split_at(16);
        assert_eq!(rest[..4], 4096_u32.to_be_bytes());
        assert_eq!(rest[4], 65);
        let (sender, record) = rest[5..].split_at(65);
        let peer = UnparsedPublicKey::new(&ECDH_P256, sender);
        let shared = agree(&self.secret, peer, (), |secret| Ok(secret.to_vec())).unwrap();
        let own = BASE64.decode(self.p256dh.as_bytes()).unwrap();
        let auth = BASE64.decode(self.auth.as_bytes()).unwrap();
        let info = [b"WebPush: info\0".as_slice(), &own, sender].concat();
        let secret = hkdf(&auth, &shared, &info, 32);
        let key = hkdf(salt, &secret, b"Content-Encoding: aes128gcm\0", 16);
        let nonce = hkdf(salt, &secret, b"Content-Encoding: nonce\0", 12);
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
        let nonce = Nonce::assume_unique_for_key(nonce.try_into().unwrap());
        let mut record = record.to_vec();
        let text = key.open_in_place(nonce, Aad::empty(), &mut record).unwrap();
        let (end, text) = text.split_last().unwrap();
        assert_eq!(*end, 2, "the last record");
        serde_json::from_slice(text).unwrap()
    }
}

/// RFC 5869 by its own words, for one block.
fn hkdf(salt: &[u8], secret: &[u8], info: &[u8], length: usize) -> Vec<u8> {
    let mac = |key: &[u8], text: &[u8]| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        hmac::sign(&key, text).as_ref().to_vec()
    };
    let key = mac(salt, secret);
    let block = mac(&key, &[info, &[1]].concat());
    block[..length].to_vec()
}
