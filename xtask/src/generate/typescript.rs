//! TypeScript of every type of the protocol, one file per module of `crates/proto`, with the imports it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use estelle_proto::catalog::{self, Declaration};

use super::Made;

const HEADER: &str = "// Made by `cargo xtask gen` from crates/proto. Do not edit.\n";

pub(super) fn files() -> Vec<Made> {
    let declarations = catalog::declarations();
    let homes: BTreeMap<_, _> = declarations
        .iter()
        .map(|declared| (declared.path.name, declared.path.module))
        .collect();
    let modules: BTreeSet<_> = homes.values().copied().collect();
    let mut files: Vec<_> = modules
        .iter()
        .map(|&module| {
            let inside = declarations
                .iter()
                .filter(|declared| declared.path.module == module);
            let inside: Vec<_> = inside.collect();
            Made {
                path: format!("web/src/gen/{module}.ts"),
                text: text(module, &inside, &homes),
            }
        })
        .collect();
    let exports = modules
        .iter()
        .map(|module| format!("export type * from \"./{module}\";\n"));
    files.push(Made {
        path: "web/src/gen/index.ts".to_owned(),
        text: format!("{HEADER}\n{}", exports.collect::<String>()),
    });
    files
}

fn text(module: &str, declarations: &[&Declaration], homes: &BTreeMap<&str, &str>) -> String {
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for declared in declarations {
        for word in words(&declared.text) {
            if let Some(home) = homes.get(word).filter(|home| **home != module) {
                imports.entry(home).or_default().insert(word);
            }
        }
    }
    let mut text = HEADER.to_owned();
    for (home, names) in imports {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let _ = write!(text, "\nimport type {{ {names} }} from \"./{home}\";");
    }
    text.push('\n');
    for declared in declarations {
        text.push('\n');
        text.push_str(&declared.text);
    }
    text
}

/// The identifiers outside comments and string literals.
fn words(declaration: &str) -> impl Iterator<Item = &str> {
    let code = declaration
        .lines()
        .filter(|line| !line.trim_start().starts_with(['*', '/']));
    // Every second piece between quotes is a literal.
    let outside = code.flat_map(|line| line.split('"').step_by(2));
    outside.flat_map(|piece| piece.split(|c: char| !c.is_alphanumeric() && c != '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_in_code_are_imported() {
        let text =
            "/**\n * About Comment.\n */\nexport type A = { kind: \"Literal\", b: Array<B>, };";
        let found: Vec<_> = words(text).collect();
        assert!(found.contains(&"B"));
        assert!(!found.contains(&"Literal") && !found.contains(&"Comment"));
    }

    #[test]
    fn every_file_is_exported_by_the_index() {
        let files = files();
        let index = files
            .iter()
            .find(|file| file.path.ends_with("/index.ts"))
            .unwrap();
        for file in files.iter().filter(|file| file.path != index.path) {
            let module = file
                .path
                .rsplit('/')
                .next()
                .unwrap()
                .trim_end_matches(".ts");
            assert!(index.text.contains(&format!("\"./{module}\"")), "{module}");
        }
    }
}
