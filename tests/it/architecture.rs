//! The walls of the house: which room may import which, no circles, no large files, a page for each structure, and a
//! list of whoever needs `unsafe`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::{files, package};

/// Rooms, or files of a room, with their floors. The longest name that fits counts. A room may import those on lower
/// floors, and itself.
const FLOORS: [(&str, u32); 26] = [
    ("error", 1),
    ("memory", 1),
    ("limits", 2),
    ("selection", 2),
    ("wire", 3),
    ("format", 4),
    ("storage", 4),
    ("manifest", 5),
    ("filter", 5),
    // Of `convert`, what needs no heap.
    ("convert::cast", 5),
    ("convert::element", 5),
    ("convert::notation", 5),
    ("convert::number", 5),
    ("object", 6),
    ("stage", 6),
    ("index", 7),
    ("convert", 7),
    ("plan", 8),
    ("read", 9),
    ("write", 9),
    ("handle", 10),
    ("inspect", 11),
    ("netcdf", 11),
    ("create", 12),
    ("refs", 12),
    ("repack", 13),
];

/// Imports between rooms that the floors forbid, each with its reason. Empty is best.
const ALLOWED_UP: [(&str, &str, &str); 0] = [];

/// Files that import each other in a circle, each circle with its reason. Empty is best.
const ALLOWED_CIRCLES: [(&[&str], &str); 3] = [
    (
        &["format/extensible_array/blocks.rs", "format/extensible_array/header.rs"],
        "the header's parameters say how blocks are laid out, and blocks are read by that layout",
    ),
    (
        &[
            "handle/attribute.rs",
            "handle/core.rs",
            "handle/dataset.rs",
            "handle/file.rs",
            "handle/group.rs",
            "handle/named_type.rs",
            "handle/options.rs",
            "handle/virtual_sources.rs",
        ],
        "a virtual dataset opens datasets; options open files, which keep them for the files that they refer to",
    ),
    (
        &["object/btree.rs", "object/container.rs", "object/header.rs", "object/heap.rs"],
        "a container is opened by reading a header, and reading anything takes a container",
    ),
];

/// Most lines of a file that are not tests.
const MOST_LINES: usize = 700;

/// Files that are larger, each with its reason. Empty is best.
const ALLOWED_LARGE: [(&str, &str); 0] = [];

/// A source file.
struct Source {
    /// Below `src`, with `/`.
    path: String,
    /// Names from the crate on: `format`, `btree_v2`, `node`.
    module: Vec<String>,
    /// Without comments and without what is only compiled for tests.
    code: String,
}

impl Source {
    fn is_mod(&self) -> bool {
        self.path.ends_with("mod.rs") || self.path == "lib.rs"
    }

    /// The module that `super` is.
    fn parent(&self) -> &[String] {
        &self.module[..self.module.len().saturating_sub(1)]
    }
}

/// Lines without comments; strings keep their place, as no import looks like one.
fn without_comments(text: &str) -> String {
    let line = |line: &str| {
        let trimmed = line.trim_start();
        if trimmed.starts_with("//") { String::new() } else { line.to_owned() }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Without the modules for tests at the end, and without items behind `cfg(test)` or the feature `testing`.
fn without_tests(code: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut lines = code.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        let is_test =
            trimmed.starts_with("#[cfg(test)]") || trimmed.starts_with("#[cfg(any(test, feature = \"testing\"))]");
        if !is_test {
            kept.push(line);
            continue;
        }
        // The item ends with the line that closes it at the same indent, or with a semicolon or comma before.
        let indent = line.len() - trimmed.len();
        for item in lines.by_ref() {
            let own = item.len() - item.trim_start().len() == indent && !item.trim().is_empty();
            let attribute = item.trim_start().starts_with("#[") || item.trim_start().starts_with("///");
            let ends = item.ends_with(';') || item.ends_with(',') || item.ends_with('}');
            if own && ends && !attribute {
                break;
            }
        }
    }
    kept.join("\n")
}

fn sources() -> Vec<Source> {
    let src = package().join("src");
    let mut all = Vec::new();
    for path in files(&src, &|path| path.extension().is_some_and(|e| e == "rs")) {
        let below = path.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
        if below.starts_with("cli/") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut module: Vec<String> = below.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if module.last().is_some_and(|last| last == "mod" || last == "lib") {
            module.pop();
        }
        all.push(Source { path: below, module, code: without_tests(&without_comments(&text)) });
    }
    // Files of which the `mod` line is only there in tests.
    let mut declared: BTreeSet<Vec<String>> = BTreeSet::new();
    for source in all.iter().filter(|source| source.is_mod()) {
        for line in source.code.lines() {
            let words: Vec<&str> = line.trim_end_matches(';').split_whitespace().collect();
            if let Some(at) = words.iter().position(|word| *word == "mod").filter(|_| line.ends_with(';')) {
                declared.insert([source.module.as_slice(), &[words[at + 1].to_owned()]].concat());
            }
        }
    }
    all.retain(|source| source.module.is_empty() || declared.contains(&source.module));
    assert!(all.len() > 100, "only {} files were found", all.len());
    all
}

/// A path, and whether it is only handed on.
type Import = (Vec<String>, bool);

/// All paths that begin with `crate` or `super`: those of `use`, unfolded, and those in the code.
fn imports(source: &Source) -> Vec<Import> {
    let mut found = Vec::new();
    let mut rest = source.code.as_str();
    let mut code = String::new();
    // `use` items, which may go over several lines.
    while let Some(at) = find_use(rest) {
        let (before, item) = rest.split_at(at);
        let end = item.find(';').expect("because a use item ends with a semicolon");
        let hands_on = before.lines().last().is_some_and(|line| line.trim_start().starts_with("pub"));
        let tree: String = item[4..end].split_whitespace().collect::<Vec<_>>().join(" ");
        for path in unfold(&tree) {
            found.extend(resolve(source, &path).map(|path| (path, hands_on)));
        }
        code.push_str(before);
        rest = &item[end..];
    }
    code.push_str(rest);
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let is_inside = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$');
            if is_inside {
                continue;
            }
            let path: String =
                code[at..].chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
            found.extend(resolve(source, path.trim_end_matches(':')).map(|path| (path, false)));
        }
    }
    found
}

/// Where the next `use` begins that is an item.
fn find_use(code: &str) -> Option<usize> {
    code.match_indices("use ").map(|(at, _)| at).find(|&at| {
        let line = &code[..at][code[..at].rfind('\n').map_or(0, |n| n + 1)..];
        matches!(line.trim(), "" | "pub" | "pub(crate)" | "pub(super)")
    })
}

/// The paths of a tree of imports.
fn unfold(tree: &str) -> Vec<String> {
    let Some(open) = tree.find('{') else { return vec![tree.split(" as ").next().unwrap().trim().to_owned()] };
    let (head, body) = (&tree[..open], tree[open + 1..].strip_suffix('}').expect("because braces are in pairs"));
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, letter) in body.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&body[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&body[start..]);
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    parts.flat_map(unfold).map(|path| format!("{head}{path}")).collect()
}

/// The path from the crate on, without `self`; `None` for what is elsewhere.
fn resolve(source: &Source, path: &str) -> Option<Vec<String>> {
    let mut words = path.split("::").map(str::trim).peekable();
    let mut base: Vec<String> = match words.peek().copied() {
        Some("crate") => Vec::new(),
        Some("self") => source.module.clone(),
        Some("super") => source.parent().to_vec(),
        // The index of a room names its files without `self`.
        Some(word) if source.is_mod() && is_file(source, word) => {
            let name = word.to_owned();
            words.next();
            return Some(source.module.iter().cloned().chain([name]).chain(words.map(str::to_owned)).collect());
        }
        _ => return None,
    };
    words.next();
    for word in words {
        match word {
            "super" => drop(base.pop()),
            "self" | "*" | "" => {}
            word => base.push(word.to_owned()),
        }
    }
    Some(base)
}

/// Whether the index of a room has a file or folder of this name beside it.
fn is_file(index: &Source, name: &str) -> bool {
    let folder = package().join("src").join(index.module.join("/"));
    folder.join(format!("{name}.rs")).is_file() || folder.join(name).is_dir()
}

/// The file in which a path ends.
fn file_of<'a>(sources: &BTreeMap<Vec<String>, &'a Source>, path: &[String]) -> Option<&'a Source> {
    (0..=path.len()).rev().find_map(|len| sources.get(&path[..len]).copied())
}

/// Where what a path names stands, if `index`, in which the path ends, only hands it on.
fn behind<'a>(sources: &BTreeMap<Vec<String>, &'a Source>, index: &'a Source, path: &[String]) -> &'a Source {
    let Some(name) = path.get(index.module.len()).filter(|_| index.is_mod()) else { return index };
    let handed_on = imports(index).into_iter().find(|(path, hands_on)| *hands_on && path.last() == Some(name));
    let file = handed_on.and_then(|(path, _)| file_of(sources, &path));
    file.unwrap_or(index)
}

/// The room of a file, and its floor.
fn room(module: &[String]) -> (&'static str, u32) {
    let name = module.join("::");
    let fits =
        |room: &&(&str, u32)| name == room.0 || name.strip_prefix(room.0).is_some_and(|rest| rest.starts_with("::"));
    let (room, floor) =
        FLOORS.iter().filter(fits).max_by_key(|(room, _)| room.len()).unwrap_or_else(|| panic!("{name} has no floor"));
    (room, *floor)
}

/// Files that import others: from, to.
fn arrows(sources: &[Source]) -> BTreeSet<(&str, &str)> {
    let by_module: BTreeMap<Vec<String>, &Source> = sources.iter().map(|s| (s.module.clone(), s)).collect();
    let mut arrows = BTreeSet::new();
    for source in sources.iter().filter(|source| source.path != "lib.rs") {
        for (path, hands_on) in imports(source) {
            if hands_on && source.is_mod() {
                continue;
            }
            let Some(target) = file_of(&by_module, &path).map(|file| behind(&by_module, file, &path)) else { continue };
            if target.path != "lib.rs" && target.path != source.path {
                arrows.insert((source.path.as_str(), target.path.as_str()));
            }
        }
    }
    assert!(arrows.len() > 300, "only {} imports were found", arrows.len());
    arrows
}

#[test]
fn imports_run_down_the_floors_only() {
    let sources = sources();
    let module = |path: &str| sources.iter().find(|s| s.path == path).unwrap().module.clone();
    let mut allowed: BTreeSet<(&str, &str)> = ALLOWED_UP.iter().map(|(from, to, _)| (*from, *to)).collect();
    let mut wrong = Vec::new();
    for (from, to) in arrows(&sources) {
        let ((from_room, from_floor), (to_room, to_floor)) = (room(&module(from)), room(&module(to)));
        let same_folder = from.split('/').next() == to.split('/').next();
        // The index of a room, which only names what is in it, stands on no floor of its own.
        let names = same_folder && (from.ends_with("mod.rs") || to.ends_with("mod.rs"));
        if to_floor < from_floor || same_folder && to_floor == from_floor || names {
            continue;
        }
        if !allowed.remove(&(from, to)) {
            wrong.push(format!("{from} ({from_room}, floor {from_floor}) imports {to} ({to_room}, floor {to_floor})"));
        }
    }
    assert!(wrong.is_empty(), "arrows that do not run down:\n{}", wrong.join("\n"));
    assert!(allowed.is_empty(), "these arrows are allowed, but not there: {allowed:?}");
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let sources = sources();
    let mut after: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows(&sources) {
        after.entry(from).or_default().push(to);
    }
    let reach = |start: &str| {
        let (mut seen, mut queue) = (BTreeSet::new(), vec![start]);
        while let Some(at) = queue.pop() {
            for next in after.get(at).into_iter().flatten() {
                if seen.insert(*next) {
                    queue.push(next);
                }
            }
        }
        seen.into_iter().map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let reached: BTreeMap<&str, BTreeSet<String>> = after.keys().map(|file| (*file, reach(file))).collect();
    let mut circles: BTreeSet<Vec<&str>> = BTreeSet::new();
    for (file, others) in reached.iter().filter(|(file, others)| others.contains(**file)) {
        let circle = |other: &&&str| others.contains(**other) && reached[**other].contains(*file);
        circles.insert(reached.keys().filter(circle).copied().collect());
    }
    let mut allowed: BTreeSet<Vec<&str>> = ALLOWED_CIRCLES.iter().map(|(files, _)| files.to_vec()).collect();
    circles.retain(|circle| !allowed.remove(circle));
    assert!(circles.is_empty(), "files that import each other: {circles:#?}");
    assert!(allowed.is_empty(), "these circles are allowed, but not there: {allowed:?}");
}

#[test]
fn the_command_uses_the_public_library_only() {
    for path in files(&package().join("src/cli"), &|path| path.extension().is_some_and(|e| e == "rs")) {
        let code = without_comments(&std::fs::read_to_string(&path).unwrap());
        let elsewhere = code.contains("#[path") || code.contains("include!");
        assert!(!elsewhere, "{} takes files of the library", path.display());
        assert!(code.contains("hdfive::"), "{} does not use the library", path.display());
    }
}

#[test]
fn no_file_has_more_than_seven_hundred_lines_that_are_not_tests() {
    let large: Vec<String> = sources()
        .iter()
        .filter(|source| source.code.lines().count() > MOST_LINES)
        .filter(|source| !ALLOWED_LARGE.iter().any(|(path, _)| *path == source.path))
        .map(|source| format!("{}: {} lines", source.path, source.code.lines().count()))
        .collect();
    assert!(large.is_empty(), "large files hold two nouns: {large:?}");
}

#[test]
fn every_structure_has_a_page_and_every_page_a_structure() {
    let stem = |path: &Path, folder: &Path| {
        path.strip_prefix(folder).unwrap().with_extension("").to_string_lossy().replace('\\', "/")
    };
    let pages = package().join("format-spec");
    let is_page = |path: &Path| path.extension().is_some_and(|e| e == "md") && !path.ends_with("README.md");
    let pages: BTreeSet<String> = files(&pages, &is_page).iter().map(|path| stem(path, &pages)).collect();
    let structures: BTreeSet<String> = sources()
        .iter()
        .filter(|source| source.path.starts_with("format/") && !source.is_mod())
        .map(|source| stem(Path::new(&source.path), Path::new("format")))
        .collect();
    let without_page: Vec<_> = structures.difference(&pages).collect();
    let without_structure: Vec<_> = pages.difference(&structures).collect();
    assert!(without_page.is_empty(), "structures without a page: {without_page:?}");
    assert!(without_structure.is_empty(), "pages without a structure: {without_structure:?}");
}

#[test]
fn whoever_is_unsafe_stands_in_the_list_of_contributing() {
    let src = package().join("src");
    let contributing = std::fs::read_to_string(package().join("CONTRIBUTING.md")).unwrap_or_default();
    let section = contributing.split("## Unsafe").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap();
    let listed: BTreeSet<String> = section
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.starts_with("src/") && name.ends_with(".rs"))
        .map(str::to_owned)
        .collect();
    let mut found = BTreeSet::new();
    for path in files(&src, &|path| path.extension().is_some_and(|e| e == "rs")) {
        let code = without_comments(&std::fs::read_to_string(&path).unwrap());
        let is_word = |at: usize| {
            let around = |c: char| c.is_alphanumeric() || c == '_';
            !code[..at].ends_with(around) && !code[at + 6..].starts_with(around)
        };
        if code.match_indices("unsafe").any(|(at, _)| is_word(at)) {
            found.insert(format!("src/{}", path.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/")));
        }
    }
    assert_eq!(found, listed, "files with `unsafe` and the list under \"## Unsafe\" of CONTRIBUTING.md");
}
