//! Which folders may be workspaces: absolute, there, and under one of the roots once all links are followed.

use std::path::{Path, PathBuf};

use estelle_proto::{ApiError, ErrorCode, PathText};

use super::error::refusal;

/// The folder as it really is called.
pub(super) async fn workspace_folder(
    given: &PathText,
    roots: &[PathBuf],
) -> Result<PathText, ApiError> {
    let path = PathBuf::from(given.as_str());
    let roots = roots.to_vec();
    let found = tokio::task::spawn_blocking(move || find(&path, &roots)).await;
    let real = found.unwrap_or(Err("it cannot be looked at"));
    let bad = |why: &str| refusal(ErrorCode::BadPath, format!("{given}: {why}"));
    let real = real.map_err(bad)?;
    let text = real.to_str().ok_or_else(|| bad("its name is no text"))?;
    PathText::parse(text).map_err(|error| bad(&format!("its name {error}")))
}

fn find(path: &Path, roots: &[PathBuf]) -> Result<PathBuf, &'static str> {
    if !path.is_absolute() {
        return Err("the path is not absolute");
    }
    let real = path.canonicalize().map_err(|_| "there is no such folder")?;
    if !real.is_dir() {
        return Err("it is no folder");
    }
    let is_under = |root: &PathBuf| root.canonicalize().is_ok_and(|root| real.starts_with(root));
    if !roots.is_empty() && !roots.iter().any(is_under) {
        return Err("it lies outside the allowed folders");
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn links_do_not_lead_out_of_the_roots() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, outside) = (base.join("root"), base.join("outside"));
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        let check = async |path: PathBuf| {
            let given = PathText::parse(path.to_str().unwrap()).unwrap();
            let found = workspace_folder(&given, std::slice::from_ref(&root)).await;
            found
                .map(|path| path.as_str().to_owned())
                .map_err(|error| error.code)
        };
        let inner = root.join("inner");
        assert_eq!(
            check(inner.join("../inner")).await,
            Ok(inner.to_str().unwrap().to_owned())
        );
        let bad = [
            root.join("link"),
            outside,
            root.join("file"),
            root.join("none"),
            "inner".into(),
        ];
        for path in bad {
            assert_eq!(
                check(path.clone()).await,
                Err(ErrorCode::BadPath),
                "{}",
                path.display()
            );
        }
    }
}
