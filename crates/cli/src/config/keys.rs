//! The table of all keys: the one place where a key, its variables, its meaning and its default stand together.

use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use estelle_proto::{DeviceId, Name, OnBusy};
use estelle_relay::RealmName;
use estelle_state::idle::LEAST_MINUTES;

use super::deploying;
use super::given::{Given, because};
use super::{
    Config, DeploySection, GatewaySection, HostSection, NotificationsSection, PylonSection,
    RelaySection,
};
use crate::logging::LogFormat;

/// The port that nobody has to remember.
const PORT: u16 = 7710;
/// The port of the gateway.
pub(crate) const GATEWAY_PORT: u16 = 7711;
/// A year: whoever wants more wants never, which is 0.
const MOST_MINUTES: u64 = 525_600;

type Taken = Result<(), String>;

/// One key.
pub(super) struct Key {
    /// Its name, section first.
    pub(super) name: &'static str,
    /// Variables that stand above the file; the first that is set counts.
    pub(super) variables: &'static [&'static str],
    /// What it means.
    pub(super) about: &'static str,
    /// Takes a value in.
    pub(super) take: fn(&mut Config, &Given) -> Taken,
    /// The value that holds, as TOML.
    pub(super) show: fn(&Config) -> toml::Value,
}

/// Keys whose value gives way to one that holds when it is not usable, with a remark: whoever mistypes how long an idle
/// process may live shall not be without a host.
const GIVE_WAY: &[&str] = &["host.idle_timeout_minutes"];

impl Key {
    /// Whether a value that is not usable is no reason to refuse the whole.
    pub(super) fn gives_way(&self) -> bool {
        GIVE_WAY.contains(&self.name)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            log: "info".to_owned(),
            log_format: LogFormat::Text,
            allow_plaintext: false,
            relay: RelaySection {
                listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
                public_url: None,
                realm: realm("home"),
                hosts: Vec::new(),
                origins: Vec::new(),
                proxies: Vec::new(),
                certificate: None,
                key: None,
                metrics_token_file: None,
            },
            pylon: PylonSection {
                id: DeviceId(1),
                name: None,
                icon: "🌙".to_owned(),
                role: "home".to_owned(),
                roots: Vec::new(),
                first_conversation: name("New conversation"),
                relay: None,
                token_file: None,
                authorities: Vec::new(),
            },
            host: HostSection {
                claude: None,
                idle_timeout_minutes: 30,
                shutdown_grace_seconds: 5,
                deny_first: false,
                on_busy: OnBusy::Inject,
                turn_limit_minutes: 0,
                shutdown_stops_runs: false,
            },
            gateway: GatewaySection {
                listen: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, GATEWAY_PORT))),
                hosts: Vec::new(),
                origins: Vec::new(),
                viewer_token_file: None,
            },
            deploy: DeploySection::default(),
            notifications: NotificationsSection {
                webhook: None,
                webhook_secret_file: None,
                webhook_quiet: true,
                include_title: false,
                contact: "mailto:estelle@example.org".to_owned(),
                allow_loopback: false,
            },
        }
    }
}

#[expect(
    clippy::expect_used,
    reason = "the defaults are valid, and a test reads them"
)]
fn realm(text: &str) -> RealmName {
    RealmName::parse(text).expect("a valid default")
}

#[expect(
    clippy::expect_used,
    reason = "the defaults are valid, and a test reads them"
)]
fn name(text: &str) -> Name {
    Name::parse(text).expect("a valid default")
}

pub(super) fn text(value: impl Display) -> toml::Value {
    toml::Value::String(value.to_string())
}

pub(super) fn path(value: Option<&PathBuf>) -> toml::Value {
    text(value.map_or(Path::new(""), PathBuf::as_path).display())
}

fn list<T: Display>(values: &[T]) -> toml::Value {
    toml::Value::Array(values.iter().map(text).collect())
}

fn paths(values: &[PathBuf]) -> toml::Value {
    toml::Value::Array(values.iter().map(|path| text(path.display())).collect())
}

pub(super) fn number(value: u64) -> toml::Value {
    toml::Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

fn origins(given: &Given) -> Result<Vec<String>, String> {
    let each = given.list().into_iter();
    let each = each.map(|item| Given::One(item.to_owned()).url(&["https", "http"]));
    let each: Result<Vec<_>, _> = each.collect();
    Ok(each?.into_iter().flatten().collect())
}

/// Names under which something is reached. An address with a scheme or a path would never match a request.
fn hosts(given: &Given) -> Result<Vec<String>, String> {
    let each = given.list().into_iter().map(|item| {
        let is_host = |host: &str| {
            let sign = |sign: char| sign.is_ascii_alphanumeric() || "-._[]:".contains(sign);
            !host.is_empty() && host.len() <= 253 && host.chars().all(sign)
        };
        let is_sound = match item.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                is_host(host) && port.parse::<u16>().is_ok_and(|port| port > 0)
            }
            Some(_) => item.starts_with('[') && item.ends_with(']') && is_host(item),
            None => is_host(item),
        };
        let told = || {
            format!(
                "`{item}` is no name of a host, such as relay.example.org or relay.example.org:8443"
            )
        };
        is_sound.then(|| item.to_owned()).ok_or_else(told)
    });
    each.collect()
}

/// All keys, in the order in which they are shown.
pub(super) fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    KEYS.iter().chain(deploying::KEYS)
}

const KEYS: &[Key] = &[
    Key {
        name: "log",
        variables: &["ESTELLE_LOG"],
        about: "What is logged: error, warn, info, debug, trace, or a list such as `warn,estelle_pylon=debug`.",
        take: |config, given| {
            let text = given.text(1000)?;
            tracing_subscriber::EnvFilter::try_new(&text).map_err(because)?;
            config.log = text;
            Ok(())
        },
        show: |config| text(&config.log),
    },
    Key {
        name: "log_format",
        variables: &["ESTELLE_LOG_FORMAT"],
        about: "How log lines are written: `text` for people, `json` for programs, one object a line.",
        take: |config, given| {
            let word = given.one()?;
            let wanted = || format!("is `{word}`, and `text` or `json` is wanted");
            config.log_format = LogFormat::parse(word).ok_or_else(wanted)?;
            Ok(())
        },
        show: |config| config.log_format.word().into(),
    },
    Key {
        name: "allow_plaintext",
        variables: &["ESTELLE_ALLOW_PLAINTEXT"],
        about: "Join relays on other machines with ws://, without encryption. Only where the way itself is safe.",
        take: |config, given| {
            config.allow_plaintext = given.switch()?;
            Ok(())
        },
        show: |config| config.allow_plaintext.into(),
    },
    Key {
        name: "relay.listen",
        variables: &["ESTELLE_RELAY_LISTEN"],
        about: "Where the relay listens. `0.0.0.0:7710` lets other machines of the network in, without encryption.",
        take: |config, given| {
            config.relay.listen =
                given.parsed("an address with a port, such as 127.0.0.1:7710,")?;
            Ok(())
        },
        show: |config| text(config.relay.listen),
    },
    Key {
        name: "relay.public_url",
        variables: &["ESTELLE_RELAY_PUBLIC_URL"],
        about: "The address under which phones reach the relay, if it is another: `https://estelle.example.org`.",
        take: |config, given| {
            config.relay.public_url = given.url(&["https", "http"])?;
            Ok(())
        },
        show: |config| text(config.relay.public_url.as_deref().unwrap_or_default()),
    },
    Key {
        name: "relay.realm",
        variables: &["ESTELLE_RELAY_REALM"],
        about: "The realm of this machine: devices of other realms never meet it.",
        take: |config, given| {
            config.relay.realm = RealmName::parse(given.one()?).map_err(because)?;
            Ok(())
        },
        show: |config| text(&config.relay.realm),
    },
    Key {
        name: "relay.hosts",
        variables: &["ESTELLE_RELAY_HOSTS"],
        about: "Names under which the relay is reached, with the port if it is not the usual one. Its own address is known.",
        take: |config, given| {
            config.relay.hosts = hosts(given)?;
            Ok(())
        },
        show: |config| list(&config.relay.hosts),
    },
    Key {
        name: "relay.origins",
        variables: &["ESTELLE_RELAY_ORIGINS"],
        about: "Other origins whose pages may connect: `https://app.example.org`.",
        take: |config, given| {
            config.relay.origins = origins(given)?;
            Ok(())
        },
        show: |config| list(&config.relay.origins),
    },
    Key {
        name: "relay.proxies",
        variables: &["ESTELLE_RELAY_PROXIES"],
        about: "Proxies whose X-Forwarded-For is believed.",
        take: |config, given| {
            config.relay.proxies = given.each("an address such as 10.0.0.1")?;
            Ok(())
        },
        show: |config| list(&config.relay.proxies),
    },
    Key {
        name: "relay.certificate",
        variables: &["ESTELLE_RELAY_CERTIFICATE"],
        about: "Speak TLS with this certificate chain (PEM); needs relay.key.",
        take: |config, given| {
            config.relay.certificate = given.path()?;
            Ok(())
        },
        show: |config| path(config.relay.certificate.as_ref()),
    },
    Key {
        name: "relay.key",
        variables: &["ESTELLE_RELAY_KEY"],
        about: "The key of the certificate (PEM).",
        take: |config, given| {
            config.relay.key = given.path()?;
            Ok(())
        },
        show: |config| path(config.relay.key.as_ref()),
    },
    Key {
        name: "relay.metrics_token_file",
        variables: &["ESTELLE_RELAY_METRICS_TOKEN_FILE"],
        about: "Opens /metrics to whoever presents the bearer token in this file.",
        take: |config, given| {
            config.relay.metrics_token_file = given.path()?;
            Ok(())
        },
        show: |config| path(config.relay.metrics_token_file.as_ref()),
    },
    Key {
        name: "pylon.id",
        variables: &["ESTELLE_PYLON_ID"],
        about: "The number of this machine in its realm, 1 to 99.",
        take: |config, given| {
            let number = given.number(1..=99)?;
            config.pylon.id = DeviceId(u32::try_from(number).map_err(because)?);
            Ok(())
        },
        show: |config| number(config.pylon.id.0.into()),
    },
    Key {
        name: "pylon.name",
        variables: &["ESTELLE_PYLON_NAME"],
        about: "What people call this machine; empty means its host name.",
        take: |config, given| {
            let named = given.maybe()?.map(Name::parse);
            config.pylon.name = named.transpose().map_err(because)?;
            Ok(())
        },
        show: |config| text(config.pylon.name.as_ref().map_or("", Name::as_str)),
    },
    Key {
        name: "pylon.icon",
        variables: &["ESTELLE_PYLON_ICON"],
        about: "An emoji for this machine.",
        take: |config, given| {
            config.pylon.icon = given.text(8)?;
            Ok(())
        },
        show: |config| text(&config.pylon.icon),
    },
    Key {
        name: "pylon.role",
        variables: &["ESTELLE_PYLON_ROLE"],
        about: "What this machine is for: home, office.",
        take: |config, given| {
            config.pylon.role = given.text(32)?;
            Ok(())
        },
        show: |config| text(&config.pylon.role),
    },
    Key {
        name: "pylon.roots",
        variables: &["ESTELLE_PYLON_ROOTS"],
        about: "Folders under which workspaces may be and folders are shown; none means anywhere, and shows the home.",
        take: |config, given| {
            config.pylon.roots = given.paths()?;
            Ok(())
        },
        show: |config| paths(&config.pylon.roots),
    },
    Key {
        name: "pylon.first_conversation",
        variables: &["ESTELLE_PYLON_FIRST_CONVERSATION"],
        about: "The name of the first conversation of a new workspace.",
        take: |config, given| {
            config.pylon.first_conversation = Name::parse(given.one()?).map_err(because)?;
            Ok(())
        },
        show: |config| text(config.pylon.first_conversation.as_str()),
    },
    Key {
        name: "pylon.relay",
        variables: &["ESTELLE_PYLON_RELAY"],
        about: "The relay that `estelle pylon` joins: `wss://estelle.example.org`. `estelle up` has its own.",
        take: |config, given| {
            config.pylon.relay = given.url(&["wss", "ws"])?;
            Ok(())
        },
        show: |config| text(config.pylon.relay.as_deref().unwrap_or_default()),
    },
    Key {
        name: "pylon.token_file",
        variables: &["ESTELLE_PYLON_TOKEN_FILE"],
        about: "The file with the secret of this Pylon; empty means pylon.token in the data folder.",
        take: |config, given| {
            config.pylon.token_file = given.path()?;
            Ok(())
        },
        show: |config| path(config.pylon.token_file.as_ref()),
    },
    Key {
        name: "pylon.authorities",
        variables: &["ESTELLE_PYLON_AUTHORITIES"],
        about: "Certificates (PEM) to trust beside the public ones, for a relay with one of the household's own.",
        take: |config, given| {
            config.pylon.authorities = given.paths()?;
            Ok(())
        },
        show: |config| paths(&config.pylon.authorities),
    },
    Key {
        name: "host.claude",
        variables: &["CLAUDE_CODE_PATH"],
        about: "The program of Claude Code; empty means that it is looked for.",
        take: |config, given| {
            config.host.claude = given.path()?;
            Ok(())
        },
        show: |config| path(config.host.claude.as_ref()),
    },
    Key {
        name: "host.idle_timeout_minutes",
        variables: &["PROCESS_IDLE_TIMEOUT_MINUTES"],
        about: "Minutes after which an idle process is stopped; at least 5, 0 means never, no number means 30.",
        take: |config, given| {
            config.host.idle_timeout_minutes = match given.number(0..=u64::MAX)? {
                0 => 0,
                minutes => minutes.clamp(LEAST_MINUTES, MOST_MINUTES),
            };
            Ok(())
        },
        show: |config| number(config.host.idle_timeout_minutes),
    },
    Key {
        name: "host.shutdown_grace_seconds",
        variables: &["PROCESS_SHUTDOWN_GRACE_SECONDS"],
        about: "Seconds a process has to end after it was asked to.",
        take: |config, given| {
            config.host.shutdown_grace_seconds = given.number(0..=600)?;
            Ok(())
        },
        show: |config| number(config.host.shutdown_grace_seconds),
    },
    Key {
        name: "host.deny_first",
        variables: &["ESTELLE_DENY_FIRST"],
        about: "What is dangerous is asked about even in modes that allow everything.",
        take: |config, given| {
            config.host.deny_first = given.switch()?;
            Ok(())
        },
        show: |config| config.host.deny_first.into(),
    },
    Key {
        name: "host.on_busy",
        variables: &["ESTELLE_ON_BUSY"],
        about: "What becomes of a message that comes while a turn runs: `inject`, `queue` or `interrupt`.",
        take: |config, given| {
            let word = OnBusy::from(given.one()?);
            if let OnBusy::Unknown(_) = word {
                return Err("one of `inject`, `queue` and `interrupt`".to_owned());
            }
            config.host.on_busy = word;
            Ok(())
        },
        show: |config| config.host.on_busy.as_str().into(),
    },
    Key {
        name: "host.turn_limit_minutes",
        variables: &["ESTELLE_TURN_LIMIT_MINUTES"],
        about: "Minutes without a word from the agent after which its turn is broken off; 0 means never.",
        take: |config, given| {
            config.host.turn_limit_minutes = given.number(0..=MOST_MINUTES)?;
            Ok(())
        },
        show: |config| number(config.host.turn_limit_minutes),
    },
    Key {
        name: "host.shutdown_stops_runs",
        variables: &["ESTELLE_SHUTDOWN_STOPS_RUNS"],
        about: "Ending the host, or `estelle up` or the Pylon by a signal, ends its runs as well.",
        take: |config, given| {
            config.host.shutdown_stops_runs = given.switch()?;
            Ok(())
        },
        show: |config| config.host.shutdown_stops_runs.into(),
    },
    Key {
        name: "gateway.listen",
        variables: &["ESTELLE_GATEWAY_LISTEN"],
        about: "Where the HTTP interface listens, on this machine alone; empty means not at all.",
        take: |config, given| {
            let wanted = "an address of this machine alone, such as 127.0.0.1:7711,";
            let address = given.maybe()?.map(|text| {
                let address = Given::One(text.to_owned()).parsed::<SocketAddr>(wanted)?;
                let is_own = address.ip().to_canonical().is_loopback();
                let refused = || format!("is `{text}`, and {wanted} is wanted");
                is_own.then_some(address).ok_or_else(refused)
            });
            config.gateway.listen = address.transpose()?;
            Ok(())
        },
        show: |config| {
            let listen = config.gateway.listen;
            text(listen.map(|at| at.to_string()).unwrap_or_default())
        },
    },
    Key {
        name: "gateway.hosts",
        variables: &["ESTELLE_GATEWAY_HOSTS"],
        about: "Names under which a proxy on this machine is reached that passes requests on to the gateway.",
        take: |config, given| {
            config.gateway.hosts = hosts(given)?;
            Ok(())
        },
        show: |config| list(&config.gateway.hosts),
    },
    Key {
        name: "gateway.origins",
        variables: &["ESTELLE_GATEWAY_ORIGINS"],
        about: "Other origins whose pages may open a WebSocket of the gateway: `https://app.example.org`.",
        take: |config, given| {
            config.gateway.origins = origins(given)?;
            Ok(())
        },
        show: |config| list(&config.gateway.origins),
    },
    Key {
        name: "gateway.viewer_token_file",
        variables: &["ESTELLE_GATEWAY_VIEWER_TOKEN_FILE"],
        about: "A file with a second token for the gateway, which may only look.",
        take: |config, given| {
            config.gateway.viewer_token_file = given.path()?;
            Ok(())
        },
        show: |config| path(config.gateway.viewer_token_file.as_ref()),
    },
    Key {
        name: "notifications.webhook",
        variables: &["ESTELLE_NOTIFICATIONS_WEBHOOK"],
        about: "An address that is told of decisions, ends and failures; needs notifications.webhook_secret_file.",
        take: |config, given| {
            config.notifications.webhook = given.url(&["https", "http"])?;
            Ok(())
        },
        show: |config| text(config.notifications.webhook.as_deref().unwrap_or_default()),
    },
    Key {
        name: "notifications.webhook_secret_file",
        variables: &["ESTELLE_NOTIFICATIONS_WEBHOOK_SECRET_FILE"],
        about: "The file with the secret that messages to the webhook are signed with.",
        take: |config, given| {
            config.notifications.webhook_secret_file = given.path()?;
            Ok(())
        },
        show: |config| path(config.notifications.webhook_secret_file.as_ref()),
    },
    Key {
        name: "notifications.webhook_quiet",
        variables: &["ESTELLE_NOTIFICATIONS_WEBHOOK_QUIET"],
        about: "The webhook is told only what some device is told: not while somebody looks, is muted or has quiet hours. Off: it is told everything.",
        take: |config, given| {
            config.notifications.webhook_quiet = given.switch()?;
            Ok(())
        },
        show: |config| config.notifications.webhook_quiet.into(),
    },
    Key {
        name: "notifications.include_title",
        variables: &["ESTELLE_NOTIFICATIONS_INCLUDE_TITLE"],
        about: "A notification says the name of its conversation.",
        take: |config, given| {
            config.notifications.include_title = given.switch()?;
            Ok(())
        },
        show: |config| config.notifications.include_title.into(),
    },
    Key {
        name: "notifications.contact",
        variables: &["ESTELLE_NOTIFICATIONS_CONTACT"],
        about: "Where a push service may write to when something is wrong: `mailto:you@example.org`.",
        take: |config, given| {
            let contact = given.text(200)?;
            if !contact.starts_with("mailto:") && !contact.starts_with("https://") {
                return Err("an address that begins with mailto: or https://".to_owned());
            }
            config.notifications.contact = contact;
            Ok(())
        },
        show: |config| text(&config.notifications.contact),
    },
    Key {
        name: "notifications.allow_loopback",
        variables: &["ESTELLE_NOTIFICATIONS_ALLOW_LOOPBACK"],
        about: "Subscriptions may lead to this machine itself, without encryption. For tests.",
        take: |config, given| {
            config.notifications.allow_loopback = given.switch()?;
            Ok(())
        },
        show: |config| config.notifications.allow_loopback.into(),
    },
];
