//! Options that an older CLI refuses, with the version each of them needs.
//!
//! An unknown argument makes the CLI exit at once, so these are checked before the start. The two versions this
//! was measured on are 2.1.197, which knows none of them, and 2.1.325, which knows all. Where between the two
//! an option appeared is known only for plugin delivery (the vendor documents 2.1.261); the others are refused
//! below 2.1.325, the first version known to be good.

use super::{CliVersion, LaunchError, Options, PluginDelivery};

/// An option and the CLI version it needs.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// Name of the option.
    pub option: &'static str,
    /// The argument an older CLI does not know.
    pub flag: &'static str,
    /// The first version known to take it.
    pub known_good: CliVersion,
    /// The last version known to refuse it.
    pub known_bad: CliVersion,
    used: fn(&Options) -> bool,
}

/// Measured: refused.
const V197: CliVersion = CliVersion::new(2, 1, 197);
/// Documented by the vendor for `--await-initialize`.
const V261: CliVersion = CliVersion::new(2, 1, 261);
/// Measured: taken.
const V325: CliVersion = CliVersion::new(2, 1, 325);

/// Every gated option.
pub const GATES: [Gate; 4] = [
    Gate {
        option: "permission_prompts",
        flag: "--permission-prompts",
        known_good: V325,
        known_bad: V197,
        used: |options| options.permissions.prompts.is_some(),
    },
    Gate {
        option: "plugin_delivery",
        flag: "--await-initialize",
        known_good: V261,
        known_bad: V197,
        used: |options| options.settings.plugin_delivery == PluginDelivery::Initialize,
    },
    Gate {
        option: "project_config_root",
        flag: "--project-config-root",
        known_good: V325,
        known_bad: V197,
        used: |options| options.process.project_config_root.is_some(),
    },
    Gate {
        option: "resume_drops_turn",
        flag: "--resume-drops-turn",
        known_good: V325,
        known_bad: V197,
        used: |options| options.session.resume_drops_turn.is_some(),
    },
];

/// Refuses the first option in use that this version does not know.
pub(crate) fn check(options: &Options, version: CliVersion) -> Result<(), LaunchError> {
    match GATES
        .iter()
        .find(|gate| version < gate.known_good && (gate.used)(options))
    {
        Some(gate) => Err(LaunchError::OptionTooNew {
            option: gate.option,
            flag: gate.flag,
            found: version,
            needed: gate.known_good,
        }),
        None => Ok(()),
    }
}
