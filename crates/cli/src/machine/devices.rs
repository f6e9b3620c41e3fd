//! `estelle devices`: who belongs to the household, and adding or taking out one of them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use estelle_proto::devices::{DeviceAdd, DeviceRevoke, PairedDevice, PairedList};
use estelle_proto::{DeviceKey, Name, RelayToDevice, Reply as _, Right};
use serde_json::json;

use super::call::{Call, request_id};
use crate::data::DataArgs;
use crate::table::Table;
use crate::up::{TERMINAL_NAME, TERMINAL_RIGHTS, Terminal};

/// List, add and revoke the devices that may come in.
#[derive(Debug, Args)]
pub(crate) struct DevicesArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<DevicesCommand>,
}

#[derive(Debug, Subcommand)]
enum DevicesCommand {
    /// List them; the same as no subcommand.
    List,
    /// Add one without pairing, and print its secret, which is shown this once.
    Add {
        /// Its name.
        #[arg(long)]
        name: String,
        /// What it may do: view, prompt, approve, terminal, admin.
        #[arg(long, value_delimiter = ',', default_value = "view,prompt,approve")]
        rights: Vec<String>,
    },
    /// Take one out; its connections are closed at once.
    Revoke {
        /// Its key, as the list shows it.
        #[arg(value_name = "KEY")]
        key: String,
    },
}

/// Runs the subcommand.
pub(crate) fn run(args: &DevicesArgs) -> anyhow::Result<ExitCode> {
    let folders = args.data.folders()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let (mut call, folder) = Call::open(&folders).await?;
        match &args.command {
            None | Some(DevicesCommand::List) => list(&mut call, args.json).await?,
            Some(DevicesCommand::Add { name, rights }) => {
                let terminal = Terminal::load(folder).context("the data folder is not complete")?;
                let added = add(&mut call, name, parse_rights(rights)?).await?;
                let (device, token) = added;
                if args.json {
                    let shown = json!({
                        "address": terminal.page, "url": terminal.url,
                        "deviceKey": device.device_key, "name": device.name,
                        "rights": device.rights, "token": token,
                    });
                    anstream::println!("{shown}");
                } else {
                    anstream::println!("{token}");
                }
            }
            Some(DevicesCommand::Revoke { key }) => {
                revoke(&mut call, key).await?;
                if args.json {
                    anstream::println!("{}", json!({ "revoked": key }));
                } else {
                    anstream::println!("It is out.");
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Who belongs to the household.
pub(crate) async fn paired(folders: &[PathBuf]) -> anyhow::Result<Vec<PairedDevice>> {
    let (mut call, _) = Call::open(folders).await?;
    all(&mut call).await
}

async fn all(call: &mut Call) -> anyhow::Result<Vec<PairedDevice>> {
    let id = request_id()?;
    let request = PairedList {
        request_id: Some(id.clone()),
    };
    call.say(request).await?;
    let result = call
        .until(|message| {
            let RelayToDevice::PairedListResult(result) = message else {
                return None;
            };
            (result.request_id.as_ref() == Some(&id)).then_some(result)
        })
        .await?;
    result.outcome()?;
    Ok(result.devices)
}

/// The way in for the commands of a machine. Where the relay is elsewhere, it is asked for a secret when one is needed
/// first: whoever is at the door may have one.
pub(crate) async fn terminal(folder: &Path) -> anyhow::Result<Terminal> {
    let mut terminal = Terminal::load(folder).context("the data folder is not complete")?;
    if terminal.token.is_empty() {
        let folders = [folder.to_owned()];
        let (mut call, _) = Call::open(&folders).await?;
        let (_, token) = add(&mut call, TERMINAL_NAME, TERMINAL_RIGHTS.to_vec()).await?;
        terminal.token = token;
        terminal.clone().store(folder)?;
    }
    Ok(terminal)
}

async fn list(call: &mut Call, json: bool) -> anyhow::Result<()> {
    let devices = all(call).await?;
    if json {
        anstream::println!("{}", serde_json::to_string(&devices)?);
        return Ok(());
    }
    let mut table = Table::default();
    table.row(["KEY", "NAME", "RIGHTS", "CONNECTED"].map(str::to_owned));
    for device in &devices {
        let rights: Vec<String> = device.rights.iter().map(ToString::to_string).collect();
        table.row([
            device.device_key.to_string(),
            device.name.to_string(),
            rights.join(","),
            device.connected.len().to_string(),
        ]);
    }
    anstream::print!("{table}");
    Ok(())
}

async fn add(
    call: &mut Call,
    name: &str,
    rights: Vec<Right>,
) -> anyhow::Result<(PairedDevice, String)> {
    let name = Name::parse(name).context("--name")?;
    let id = request_id()?;
    let request = DeviceAdd {
        request_id: Some(id.clone()),
        ..DeviceAdd::new(name, rights)
    };
    call.say(request).await?;
    let result = call
        .until(|message| {
            let RelayToDevice::DeviceAddResult(result) = message else {
                return None;
            };
            (result.request_id.as_ref() == Some(&id)).then_some(result)
        })
        .await?;
    result.outcome()?;
    let (device, token) = result
        .device
        .zip(result.token)
        .context("the relay gave no secret")?;
    Ok((device, token.reveal().to_owned()))
}

async fn revoke(call: &mut Call, key: &str) -> anyhow::Result<()> {
    let key = DeviceKey::parse(key).context("this is no key of a device")?;
    let id = request_id()?;
    let request = DeviceRevoke {
        request_id: Some(id.clone()),
        ..DeviceRevoke::new(key)
    };
    call.say(request).await?;
    let result = call
        .until(|message| {
            let RelayToDevice::DeviceRevokeResult(result) = message else {
                return None;
            };
            (result.request_id.as_ref() == Some(&id)).then_some(result)
        })
        .await?;
    Ok(result.outcome()?)
}

/// Rights by their names; a word that is none is refused with the ones there are.
pub(crate) fn parse_rights(words: &[String]) -> anyhow::Result<Vec<Right>> {
    let rights: Vec<Right> = words
        .iter()
        .map(|word| Right::from(word.as_str()))
        .collect();
    let unknown = rights
        .iter()
        .find(|right| matches!(right, Right::Unknown(_)));
    match unknown {
        Some(unknown) => anyhow::bail!(
            "`{unknown}` is no right; there are {}",
            Right::WORDS.join(", ")
        ),
        None => Ok(rights),
    }
}
