//! `docs/performance.md`: one part per benchmark, each written by its own and left alone by the others.

use anyhow::Context as _;

use crate::workspace;

const PAGE: &str = "docs/performance.md";

/// Puts a part into the page, in the place of the one with the same title. The first line of a part is its title.
pub(crate) fn write(part: &str) -> anyhow::Result<()> {
    let path = workspace::root().join(PAGE);
    let page = match std::fs::read_to_string(&path) {
        Ok(page) => page,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).context(format!("failed to read {PAGE}")),
    };
    std::fs::write(&path, with_part(&page, part))
        .with_context(|| format!("failed to write {PAGE}"))?;
    println!("Written to {PAGE}.");
    Ok(())
}

fn with_part(page: &str, part: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for line in page.lines() {
        match parts.last_mut() {
            Some(last) if !line.starts_with("# ") => {
                last.push('\n');
                last.push_str(line);
            }
            Some(_) | None => parts.push(line.to_owned()),
        }
    }
    let title = part.lines().next();
    match parts.iter_mut().find(|old| old.lines().next() == title) {
        Some(old) => part.clone_into(old),
        None => parts.push(part.to_owned()),
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
    format!("{}\n", parts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::with_part;

    #[test]
    fn a_part_takes_the_place_of_the_one_before_and_leaves_others_alone() {
        let page = "# One\n\na\n\n## Below\n\nb\n\n# Two\n\nc\n";
        let new = with_part(page, "# One\n\nd\n");
        assert_eq!(new, "# One\n\nd\n\n# Two\n\nc\n");
        assert_eq!(with_part(&new, "# Two\n\nc\n"), new);
    }

    #[test]
    fn a_new_part_comes_last() {
        assert_eq!(
            with_part("# One\n\na\n", "# Two\n\nb"),
            "# One\n\na\n\n# Two\n\nb\n"
        );
        assert_eq!(with_part("", "# One\n\na"), "# One\n\na\n");
    }
}
