//! Finds the processes below a process, from `/proc`.
//!
//! Used only to end a command that ran past its limit. On a system without `/proc` the answer is empty and only
//! the command itself is ended.

use std::collections::HashMap;

/// The pids below `root`, without `root` itself.
pub(crate) fn of(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    for process in processes.flatten() {
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        if let Some((pid, parent)) = pid_and_parent(&stat) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        let below = children.remove(&parent).unwrap_or_default();
        open.extend(&below);
        found.extend(below);
    }
    found
}

/// Reads `pid (name) state ppid ...`; the name may itself hold spaces and brackets.
fn pid_and_parent(stat: &str) -> Option<(u32, u32)> {
    let pid = stat.split(' ').next()?.parse().ok()?;
    let after_name = &stat[stat.rfind(')')? + 1..];
    let parent = after_name.split_whitespace().nth(1)?.parse().ok()?;
    Some((pid, parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        assert_eq!(pid_and_parent("12 (a) b) c) S 7 12 12 0"), Some((12, 7)));
        assert_eq!(pid_and_parent(""), None);
    }
}
