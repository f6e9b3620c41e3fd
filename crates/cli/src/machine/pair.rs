//! `estelle pair`: shows a link and a QR code, and asks the person at the machine about who comes with it.
//!
//! The secret is in the fragment of the link, which browsers send to nobody. It lives two minutes and serves one device.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use estelle_proto::pairing::{
    PairConfirm, PairDecision, PairOffer, PairOfferResult, PairRequested,
};
use estelle_proto::{PairId, RelayToDevice, Reply as _, Right};
use fast_qr::qr::QRBuilder;
use serde_json::json;

use super::call::{Call, request_id};
use super::devices::parse_rights;
use crate::chat::clean;
use crate::data::DataArgs;
use crate::up::Terminal;

/// Let a phone or a browser in: show a link and a QR code, then ask.
#[derive(Debug, Args)]
pub(crate) struct PairArgs {
    #[command(flatten)]
    data: DataArgs,
    /// What the device may do: view, prompt, approve, terminal, admin.
    #[arg(long, value_delimiter = ',', default_value = "view,prompt,approve")]
    rights: Vec<String>,
    /// Show no QR code.
    #[arg(long)]
    no_qr: bool,
    /// Print a line of JSON for the link, for the device that comes, and for how it ended. The answer is still read from
    /// standard input: y, a (it may manage as well) or n.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(args: &PairArgs) -> anyhow::Result<ExitCode> {
    let rights = parse_rights(&args.rights)?;
    let folders = args.data.folders()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let qr = match (args.json, args.no_qr) {
        (true, _) => Code::Json,
        (false, true) => Code::Link,
        (false, false) => Code::Both,
    };
    let outcome = runtime.block_on(offer(&folders, rights, qr));
    // A thread that reads standard input cannot be ended; it must not hold the program up.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Link,
    Both,
    /// The link, for a program.
    Json,
}

/// Offers to let one device in, and asks about the one that comes.
pub(crate) async fn offer(
    folders: &[PathBuf],
    rights: Vec<Right>,
    show: Code,
) -> anyhow::Result<()> {
    let (mut call, folder) = Call::open(folders).await?;
    let offered = begin(&mut call).await?;
    let (id, secret) = offered
        .pair_id
        .zip(offered.secret)
        .context("the relay made no offer")?;
    let link = format!("{}/#pair={id}.{}", page(folder)?, secret.reveal());
    if show == Code::Json {
        anstream::println!("{}", json!({ "link": link, "pairId": id }));
    }
    if show == Code::Both {
        let code = QRBuilder::new(link.as_str()).build();
        let code = code.map_err(|_| anyhow::anyhow!("the link does not fit into a QR code"))?;
        anstream::println!("{}", code.to_str());
    }
    if show != Code::Json {
        anstream::println!(
            "Open this within two minutes on the device that is to come in:\n  {link}"
        );
    }
    let requested = wait(&mut call, &id).await?;
    if show == Code::Json {
        anstream::println!("{}", json!({ "requested": requested }));
    } else {
        introduce(&requested, &rights)?;
    }
    let (decision, rights) = answer().await?.with(rights);
    let wanted = PairConfirm {
        request_id: Some(request_id()?),
        rights: Some(rights),
        ..PairConfirm::new(id.clone(), decision.clone())
    };
    call.say(wanted.clone()).await?;
    let result = call
        .until(|message| {
            let RelayToDevice::PairConfirmResult(result) = message else {
                return None;
            };
            (result.request_id == wanted.request_id).then_some(result)
        })
        .await?;
    result.outcome()?;
    let name = clean::line(requested.name.as_str()).into_owned();
    if show == Code::Json {
        let is_in = decision == PairDecision::Accept;
        anstream::println!("{}", json!({ "accepted": is_in, "name": requested.name }));
    } else if decision == PairDecision::Accept {
        anstream::println!("✓ {name} is in.");
    }
    if decision == PairDecision::Accept {
        Ok(())
    } else {
        bail!("{name} was turned away");
    }
}

fn page(folder: &Path) -> anyhow::Result<String> {
    let terminal = Terminal::load(folder).context("the data folder is not complete")?;
    Ok(terminal.page)
}

async fn begin(call: &mut Call) -> anyhow::Result<PairOfferResult> {
    let id = request_id()?;
    call.say(PairOffer {
        request_id: Some(id.clone()),
    })
    .await?;
    let result = call
        .until(|message| {
            let RelayToDevice::PairOfferResult(result) = message else {
                return None;
            };
            (result.request_id.as_ref() == Some(&id)).then_some(result)
        })
        .await?;
    result.outcome()?;
    Ok(result)
}

/// Waits for a device that knows the secret. The relay ends the offer when its time is over.
async fn wait(call: &mut Call, id: &PairId) -> anyhow::Result<PairRequested> {
    loop {
        let message = call.next().await?;
        if let RelayToDevice::PairClosed(closed) = &message
            && closed.pair_id == *id
        {
            bail!(
                "nobody came in ({}); `estelle pair` makes a new link",
                closed.reason
            );
        }
        if let RelayToDevice::PairRequested(requested) = message
            && requested.pair_id == *id
        {
            return Ok(requested);
        }
    }
}

fn introduce(requested: &PairRequested, rights: &[Right]) -> anyhow::Result<()> {
    let from = requested.address.as_deref().unwrap_or("an unknown address");
    anstream::println!(
        "\n{} wants to come in, from {}. It must show the code {}.",
        clean::line(requested.name.as_str()),
        clean::line(from),
        clean::line(&requested.code)
    );
    if rights.contains(&Right::Admin) {
        anstream::print!("Let it in? y/N › ");
    } else {
        anstream::println!("  y  yes");
        anstream::println!("  a  yes, and it may manage: devices, rules, modes, deleting");
        anstream::println!("  n  no");
        anstream::print!("Let it in? y/a/N › ");
    }
    Ok(std::io::stdout().flush()?)
}

/// What the person at the machine said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    No,
    Yes,
    /// And it may manage the realm, as a device of the owner.
    YesAndManage,
}

impl Said {
    /// Anything that is not plainly a yes is a no.
    fn parse(line: &str) -> Self {
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Self::Yes,
            "a" | "all" => Self::YesAndManage,
            _ => Self::No,
        }
    }

    fn with(self, mut rights: Vec<Right>) -> (PairDecision, Vec<Right>) {
        if self == Self::YesAndManage && !rights.contains(&Right::Admin) {
            rights.push(Right::Admin);
        }
        let decision = if self == Self::No {
            PairDecision::Reject
        } else {
            PairDecision::Accept
        };
        (decision, rights)
    }
}

async fn answer() -> anyhow::Result<Said> {
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    Ok(Said::parse(&answer.await??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managing_is_given_only_to_whom_it_is_meant() {
        let usual = vec![Right::View, Right::Prompt, Right::Approve];
        let given = |line: &str| Said::parse(line).with(usual.clone());
        assert_eq!(given("y\n"), (PairDecision::Accept, usual.clone()));
        let mut all = usual.clone();
        all.push(Right::Admin);
        assert_eq!(given(" A\n"), (PairDecision::Accept, all.clone()));
        assert_eq!(Said::YesAndManage.with(all.clone()).1, all);
        for line in ["", "n\n", "maybe\n", "ya\n"] {
            assert_eq!(given(line).0, PairDecision::Reject, "{line}");
        }
    }
}
