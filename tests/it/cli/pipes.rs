//! What no file of a command's output can say.

use std::io::Read;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::h5;
use crate::support::{python, scratch, testdata};

fn jsonl(arguments: &[&str]) -> (Vec<Value>, Option<i32>, String) {
    let output = h5().args(arguments).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let documents = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (documents, output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn jsonl_goes_on_after_a_bad_file_and_ends_with_code_1() {
    let files = ["readme/weather.h5", "nowhere.h5", "README.md", "layouts/layouts_latest.h5"];
    let (documents, code, _) = jsonl(&[&["digest", "--jsonl"], &files[..]].concat());
    let names: Vec<_> = documents.iter().map(|d| d["file"].as_str().unwrap()).collect();
    assert_eq!(names, files);
    let failed: Vec<_> = documents.iter().map(|d| d.get("open_error").is_some()).collect();
    assert_eq!(failed, [false, true, true, false]);
    assert_eq!(code, Some(1));
}

#[test]
fn jsonl_of_good_files_ends_with_code_0_and_says_nothing_to_stderr() {
    let (documents, code, said) = jsonl(&["digest", "--jsonl", "readme/weather.h5", "layouts/layouts_latest.h5"]);
    assert_eq!((documents.len(), code, said.as_str()), (2, Some(0), ""));
}

#[test]
fn json_is_one_document_on_one_line_also_for_a_file_that_cannot_be_read() {
    for (file, wanted) in [("readme/weather.h5", 0), ("README.md", 1)] {
        let (documents, code, _) = jsonl(&["digest", "--json", file]);
        assert_eq!((documents.len(), code), (1, Some(wanted)), "{file}");
        assert_eq!(documents[0]["oracle"], 1);
        assert_eq!(documents[0].get("open_error").is_some(), wanted == 1, "{file}");
    }
}

#[test]
fn the_documents_digests_are_those_of_the_writer() {
    let (documents, ..) = jsonl(&["digest", "--json", "readme/weather.h5"]);
    let told = std::fs::read_to_string(testdata("readme/weather.expect.json")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    let mut compared = 0;
    for object in documents[0]["objects"].as_array().unwrap() {
        let wanted = &told["objects"][object["path"].as_str().unwrap()];
        if let Some(digest) = wanted.get("digest") {
            assert_eq!(object["digest"], *digest, "{}", object["path"]);
            compared += 1;
        }
    }
    assert!(compared >= 7, "{compared}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [&["ls", "index/chunks_extensible.h5"][..], &["digest", "--jsonl"]] {
        let mut command = h5();
        command.args(arguments);
        if arguments.contains(&"--jsonl") {
            // More than any pipe holds.
            command.args(std::iter::repeat_n("index/chunks_extensible.h5", 40));
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 1];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        // The pipe is closed here.
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said, "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn nobody_who_reads_is_no_error() {
    for arguments in [&["completions", "bash"][..], &["man"], &["filters"], &["check", "readme/weather.h5"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = h5().args(arguments).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn numpy_loads_what_is_written_for_it() {
    let folder = scratch("npy");
    let paths = ["lat", "surface/rain", "surface/temperature", "stations/place"];
    for (number, path) in paths.iter().enumerate() {
        let out = folder.join(format!("{number}.npy"));
        let output = h5().args(["dump", "readme/weather.h5", path, "--npy"]).arg(out).output().unwrap();
        assert!(output.status.success(), "{path}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let script = "
import sys, h5py, numpy
file, folder, *paths = sys.argv[1:]
with h5py.File(file) as f:
    for number, path in enumerate(paths):
        got, wanted = numpy.load(f'{folder}/{number}.npy'), f[path][()]
        assert got.dtype == wanted.dtype and (got == wanted).all(), (path, got.dtype, wanted.dtype)
";
    let mut command = Command::new(python::python());
    command.args(["-c", script]).arg(testdata("readme/weather.h5")).arg(folder).args(paths);
    python::run(&mut command, "it loads what was written");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_many_elements_costs_no_memory() {
    use crate::support::package;
    let h5 = h5().get_program().to_owned();
    let script = "ulimit -v 2000000; exec \"$0\" digest --json --no-limit hostile/many_elements.h5";
    let mut command = Command::new("sh");
    let output = command.args(["-c", script]).arg(h5).current_dir(package().join("testdata")).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    let datasets = document["objects"].as_array().unwrap().iter().filter(|o| o["kind"] == "dataset");
    let errors: Vec<&Value> = datasets.map(|dataset| &dataset["data_error"]).collect();
    assert_eq!(errors.len(), 4);
    assert!(errors.iter().all(|error| !error.is_null()), "{errors:?}");
}

#[test]
fn bench_filters_tries_pipelines_and_says_how_small_and_how_fast_they_are() {
    for path in ["/surface/temperature", "/surface/rain"] {
        let output = h5().args(["bench-filters", "readme/weather.h5", path, "--sample", "1"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("pipeline")).skip(1).collect();
        assert!(rows.len() > 15, "{text}");
        for row in rows {
            let words: Vec<&str> = row.split_whitespace().rev().take(5).collect();
            let [decode, encode, smaller, unit, stored] = words[..] else { panic!("{row}") };
            assert!(decode.parse::<u64>().is_ok_and(|speed| speed > 0) && encode.parse::<u64>().is_ok(), "{row}");
            assert!(smaller.parse::<f64>().is_ok() && stored.parse::<f64>().is_ok() && unit.ends_with('B'), "{row}");
        }
        assert!(
            text.contains("\nshuffle(") && text.contains(" + deflate(6) ") && text.contains("szip(nn, 16)"),
            "{text}"
        );
    }
}
