//! Commands with the output that they must have.

use std::path::Path;

use super::h5;
use crate::support::{files, in_parallel, package};

/// What a command prints, as a case has it.
fn run(arguments: &[String]) -> String {
    let output = h5().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("because the command prints UTF-8");
    let mut told = text(output.stdout);
    let said = text(output.stderr);
    if !said.is_empty() {
        told += &format!("-- stderr\n{said}");
    }
    match output.status.code() {
        Some(0) => {}
        Some(code) => told += &format!("-- exit {code}\n"),
        None => told += "-- ended by a signal\n",
    }
    // The command calls itself by its file's name.
    told.replace("h5.exe", "h5")
}

/// The words of a command; single quotes hold what has spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

fn check(path: &Path, bless: bool) -> Option<String> {
    let case = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    let (first, wanted) = case.split_once('\n').unwrap_or((&case, ""));
    let command = first.strip_prefix("# h5").unwrap_or_else(|| panic!("{} begins with no command", path.display()));
    let found = run(&words(command));
    if found == wanted {
        return None;
    }
    if bless {
        std::fs::write(path, format!("{first}\n{found}")).unwrap();
        return None;
    }
    let differs = found.lines().zip(wanted.lines()).position(|(a, b)| a != b);
    let line = differs.unwrap_or_else(|| found.lines().count().min(wanted.lines().count()));
    let show = |text: &str| text.lines().nth(line).unwrap_or("nothing").to_owned();
    let place = format!("{}, line {}", path.file_name().unwrap().to_string_lossy(), line + 2);
    Some(format!("{place}:\n  prints  {}\n  wanted  {}", show(&found), show(wanted)))
}

#[test]
fn commands_print_what_their_files_say() {
    let bless = std::env::var_os("HDFIVE_BLESS").is_some_and(|value| value == "1");
    let all = files(&package().join("tests/it/cli/cases"), &|path| path.extension().is_some_and(|e| e == "txt"));
    assert!(all.len() > 10, "{all:?}");
    let wrong: Vec<String> = in_parallel(&all, |path| check(path, bless)).into_iter().flatten().collect();
    assert!(wrong.is_empty(), "with HDFIVE_BLESS=1 the files are rewritten:\n{}", wrong.join("\n"));
}
