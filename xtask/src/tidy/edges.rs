//! Which crate may depend on which, and which crate owns a library.
//!
//! The table is the architecture: a new edge is a decision, made here and explained in ARCHITECTURE.md, never a
//! side effect. Manifests are read as text; only the plain forms that the workspace uses are understood.

use super::{Finding, SourceFile};

/// What one package may depend on, among our own.
struct Edges {
    manifest: &'static str,
    package: &'static str,
    product: &'static [&'static str],
    /// Tests may use these as well.
    tests: &'static [&'static str],
}

const PROTO: &str = "estelle-proto";
const CLAUDE: &str = "estelle-claude";
const STATE: &str = "estelle-state";
const HOST: &str = "estelle-host";
const PYLON: &str = "estelle-pylon";
const RELAY: &str = "estelle-relay";
const GATEWAY: &str = "estelle-gateway";
const SIM: &str = "estelle-sim";
const PROOF: &str = "estelle-proof";

/// **Invariant:** the simulator does not know the SDK's types, the pylon links neither the SDK nor the host.
const TABLE: [Edges; 12] = [
    Edges {
        manifest: "crates/proto/Cargo.toml",
        package: PROTO,
        product: &[],
        tests: &[],
    },
    Edges {
        manifest: "crates/claude/Cargo.toml",
        package: CLAUDE,
        product: &[],
        tests: &[SIM],
    },
    Edges {
        manifest: "crates/state/Cargo.toml",
        package: STATE,
        product: &[PROTO],
        tests: &[],
    },
    Edges {
        manifest: "crates/host/Cargo.toml",
        package: HOST,
        product: &[PROTO, STATE, CLAUDE],
        tests: &[SIM],
    },
    Edges {
        manifest: "crates/pylon/Cargo.toml",
        package: PYLON,
        product: &[PROTO, STATE],
        tests: &[SIM],
    },
    // It lives in the Pylon's process and reaches everything through the Pylon.
    Edges {
        manifest: "crates/gateway/Cargo.toml",
        package: GATEWAY,
        product: &[PROTO, PYLON],
        tests: &[],
    },
    Edges {
        manifest: "crates/relay/Cargo.toml",
        package: RELAY,
        product: &[PROTO],
        tests: &[],
    },
    Edges {
        manifest: "crates/sim/Cargo.toml",
        package: SIM,
        product: &[],
        tests: &[],
    },
    Edges {
        manifest: "crates/cli/Cargo.toml",
        package: "estelle",
        // The simulated agent is part of the program: `estelle up --demo` needs nothing else.
        product: &[PROTO, CLAUDE, STATE, HOST, PYLON, RELAY, GATEWAY, SIM],
        tests: &[],
    },
    // For tests alone: nothing may depend on it.
    Edges {
        manifest: "crates/proof/Cargo.toml",
        package: PROOF,
        product: &[PROTO, STATE, HOST, SIM],
        tests: &[],
    },
    Edges {
        manifest: "xtask/Cargo.toml",
        package: "xtask",
        product: &[PROTO],
        tests: &[],
    },
    Edges {
        manifest: "fuzz/Cargo.toml",
        package: "estelle-fuzz",
        product: &[CLAUDE, PROTO, STATE],
        tests: &[],
    },
];

/// Libraries that only some packages may use in their product code.
const OWNERS: [(&str, &[&str]); 4] = [
    ("anyhow", &["estelle", "xtask", SIM, PROOF]),
    ("axum", &[PYLON, RELAY, SIM]),
    ("pty-process", &[HOST]),
    // The proof reads what the Pylon wrote without the Pylon's own code.
    ("rusqlite", &[PYLON, PROOF]),
];

/// Packages that do no IO and so have no runtime.
const PURE: [&str; 2] = [PROTO, STATE];

/// A dependency as it stands in a manifest.
#[derive(Debug, PartialEq, Eq)]
struct Dependency<'a> {
    line: usize,
    name: &'a str,
    for_tests: bool,
}

/// The manifest keeps to the table, and to the lints of the workspace.
pub(super) fn crate_edges(file: &SourceFile) -> Vec<Finding> {
    // The root manifest only lists versions.
    if file.name() != "Cargo.toml" || file.path == "Cargo.toml" {
        return Vec::new();
    }
    let Some(edges) = TABLE.iter().find(|edges| edges.manifest == file.path) else {
        return vec![file.finding(
            "this package has no row in xtask/src/tidy/edges.rs; decide what it may depend on",
        )];
    };
    let refused = dependencies(&file.text)
        .into_iter()
        .filter(|found| !is_allowed(edges, found));
    let mut findings: Vec<_> = refused
        .map(|found| {
            let message = format!(
                "{} may not depend on {}; see xtask/src/tidy/edges.rs",
                edges.package, found.name
            );
            file.finding_at(found.line, message)
        })
        .collect();
    let is_member = file.path != "fuzz/Cargo.toml";
    if is_member && !file.text.contains("[lints]\nworkspace = true") {
        findings.push(
            file.finding("take the lints of the workspace: `[lints]` with `workspace = true`"),
        );
    }
    findings
}

fn is_allowed(edges: &Edges, found: &Dependency<'_>) -> bool {
    let is_ours = TABLE.iter().any(|other| other.package == found.name);
    if is_ours {
        return edges.product.contains(&found.name)
            || (found.for_tests && edges.tests.contains(&found.name));
    }
    if found.name == "tokio" && !found.for_tests {
        return !PURE.contains(&edges.package);
    }
    let mut owners = OWNERS.iter().filter(|(library, _)| *library == found.name);
    found.for_tests || owners.all(|(_, owners)| owners.contains(&edges.package))
}

/// All dependencies of a manifest: `[dependencies]` with its variants, and `[dependencies.name]`.
fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    let mut section = "";
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        let number = index + 1;
        if let Some(header) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = header;
            if let Some((table, name)) = header.rsplit_once("dependencies.") {
                found.push(Dependency {
                    line: number,
                    name,
                    for_tests: table.ends_with("dev-"),
                });
            }
        } else if section.ends_with("dependencies") && !line.starts_with('#') {
            let for_tests = section.ends_with("dev-dependencies");
            found.extend(dependency_name(line).map(|name| Dependency {
                line: number,
                name,
                for_tests,
            }));
        }
    }
    found
}

/// The package named by `key.workspace = true`, `key = ...` or `key = { package = "name", ... }`.
fn dependency_name(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    if let Some((_, renamed)) = value.split_once("package = \"") {
        return renamed.split('"').next();
    }
    key.split('.').next().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaints;

    const LINTS: &str = "[lints]\nworkspace = true\n";

    fn check(manifest: &str, dependencies: &str) -> Vec<usize> {
        complaints(crate_edges, manifest, &format!("{dependencies}\n{LINTS}"))
    }

    #[test]
    fn an_edge_outside_the_table_is_refused() {
        let edge = "[dependencies]\nestelle-claude.workspace = true";
        assert_eq!(check("crates/sim/Cargo.toml", edge), [2]);
        assert_eq!(check("crates/pylon/Cargo.toml", edge), [2]);
        assert!(check("crates/cli/Cargo.toml", edge).is_empty());
    }

    #[test]
    fn renaming_and_tables_hide_nothing() {
        let renamed =
            "[dependencies]\nsdk = { package = \"estelle-claude\", path = \"../claude\" }";
        assert_eq!(check("crates/sim/Cargo.toml", renamed), [2]);
        assert_eq!(
            check(
                "crates/sim/Cargo.toml",
                "[dependencies.estelle-claude]\npath = \"x\""
            ),
            [1]
        );
        let conditional = "[target.'cfg(unix)'.dependencies]\nestelle-claude.workspace = true";
        assert_eq!(check("crates/sim/Cargo.toml", conditional), [2]);
    }

    #[test]
    fn the_simulator_may_serve_tests_only() {
        assert!(
            check(
                "crates/claude/Cargo.toml",
                "[dev-dependencies]\nestelle-sim.workspace = true"
            )
            .is_empty()
        );
        assert_eq!(
            check(
                "crates/claude/Cargo.toml",
                "[dependencies]\nestelle-sim.workspace = true"
            ),
            [2]
        );
    }

    #[test]
    fn a_library_has_its_owners() {
        assert_eq!(
            check(
                "crates/claude/Cargo.toml",
                "[dependencies]\nanyhow.workspace = true"
            ),
            [2]
        );
        assert!(
            check(
                "crates/claude/Cargo.toml",
                "[dev-dependencies]\nanyhow.workspace = true"
            )
            .is_empty()
        );
        assert!(
            check(
                "crates/claude/Cargo.toml",
                "[dependencies]\ntokio.workspace = true"
            )
            .is_empty()
        );
        assert_eq!(
            check(
                "crates/state/Cargo.toml",
                "[dependencies]\ntokio.workspace = true"
            ),
            [2]
        );
    }

    #[test]
    fn unknown_packages_and_packages_without_lints_are_refused() {
        assert_eq!(check("crates/new/Cargo.toml", ""), [0]);
        assert_eq!(
            complaints(crate_edges, "crates/sim/Cargo.toml", "[package]\n"),
            [0]
        );
        assert!(complaints(crate_edges, "Cargo.toml", "[workspace]\n").is_empty());
    }
}
