//! The SDK on both real CLIs, through its public interface alone, against the scripted Messages API.
//!
//! Each scenario runs once per version, with a home, a working directory and an API of its own, and has one minute.
//! Where the versions differ, the scenario says so. The binaries come from the environment, see `RealCli`.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a scenario looks for one kind of message among an open list"
)]

/// Makes each scenario a test on 2.1.197 and one on 2.1.325.
macro_rules! on_both_versions {
    ($($scenario:ident),+ $(,)?) => {
        mod v197 {$(
            #[tokio::test]
            async fn $scenario() -> anyhow::Result<()> {
                let stage = crate::real::stage::Stage::v197().await?;
                crate::real::stage::in_time(super::$scenario(&stage)).await
            }
        )+}
        mod v325 {$(
            #[tokio::test]
            async fn $scenario() -> anyhow::Result<()> {
                let stage = crate::real::stage::Stage::v325().await?;
                crate::real::stage::in_time(super::$scenario(&stage)).await
            }
        )+}
    };
}

mod desk;
mod stage;

mod background;
mod choices;
mod failures;
mod hooks;
mod injection;
mod life;
mod mcp;
mod permissions;
mod questions;
mod requests;
mod resume;
mod saved;
mod stdio;
mod steering;
