//! What a server gives is what the file is.

use std::path::Path;
use std::time::Duration;

use hdfive::inspect::Tree;
use hdfive::selection::{Index, Selection};
use hdfive::write::Compatibility;
use hdfive::{File, FileBuilder, s};
use serde_json::Value;

use super::server::Server;
use crate::cli::h5;
use crate::support::{documents, files, in_parallel, package, say, testdata};

/// The document of an opened file, or what kind of error there is.
fn document(file: hdfive::Result<File>) -> Value {
    let document = file.and_then(|file| documents::document(&file, "file".as_ref(), None));
    document.unwrap_or_else(|error| format!("{:?}", error.kind()).into())
}

#[test]
fn every_file_of_testdata_is_the_same_behind_a_server() {
    let folder = package().join("testdata");
    let all = files(&folder, &|path| !path.is_dir());
    let name = |path: &Path| format!("/{}", path.strip_prefix(&folder).unwrap().display());
    let server = Server::of(all.iter().map(|path| (name(path), std::fs::read(path).unwrap())));
    // Files that mean harm name others that may not be followed, and end when their purse is empty.
    let is_meant =
        |path: &Path| path.extension().is_some_and(|e| e == "h5") && !path.starts_with(folder.join("hostile"));
    let opened: Vec<_> = all.into_iter().filter(|path| is_meant(path)).collect();
    assert!(opened.len() > 50);
    let differing = in_parallel(&opened, |path| {
        let local = document(documents::options().open(path));
        let remote = document(documents::options().open_url(&server.url(&name(path)))).to_string();
        // Errors name the file.
        let remote =
            serde_json::from_str(&remote.replace(&server.url("/"), &format!("{}/", folder.display()))).unwrap();
        (local != remote).then(|| format!("{}: {}", path.display(), first_difference(&local, &remote)))
    });
    let differing: Vec<String> = differing.into_iter().flatten().collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

fn first_difference(local: &Value, remote: &Value) -> String {
    let lines = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    let (local, remote) = (lines(local), lines(remote));
    let different = local.lines().zip(remote.lines()).find(|(local, remote)| local != remote);
    different.map_or("one is longer".to_owned(), |(local, remote)| format!("{local} behind a server {remote}"))
}

/// 100 groups of 100 datasets with two attributes each.
fn ten_thousand_datasets() -> Vec<u8> {
    let file = FileBuilder::new().compatibility(Compatibility::V110).create_in_memory().unwrap();
    for group in 0..100i32 {
        for dataset in 0..100i32 {
            let name = format!("group {group:02}/dataset {dataset:02}");
            let new = file.new_dataset_builder().with_data(vec![group, dataset, 7]).create(name.as_str()).unwrap();
            new.attr("units", "mm").unwrap();
            new.attr("scale", 0.5f32).unwrap();
        }
    }
    file.close_in_memory().unwrap()
}

#[test]
fn a_walk_of_ten_thousand_datasets_takes_few_requests() {
    let bytes = ten_thousand_datasets();
    let (size, delay) = (bytes.len(), Duration::from_millis(20));
    let server = Server::with([("/x.h5".to_owned(), bytes)], delay, |_, _| None);
    let file = File::open_url(&server.url("/x.h5")).unwrap();
    assert_eq!(file.root().unwrap().names().unwrap().len(), 100);
    let root = server.requests();
    let tree = Tree::walk(&file).unwrap();
    let attributes: usize = tree.objects.iter().map(|o| o.object.as_ref().unwrap().attributes().unwrap().len()).sum();
    let walk = server.requests();
    assert_eq!((tree.objects.len(), attributes), (10_101, 20_000));
    say(&format!("{size} bytes: {} requests for the root, {} for everything", root.len(), walk.len()));
    assert!(root.len() <= 3, "{root:?}");
    assert!(root.len() + walk.len() <= 8, "{walk:?}");
}

/// 96 chunks of [16, 100] floats behind deflate, row-major.
fn chunked() -> (Vec<u8>, Vec<f32>) {
    let values: Vec<f32> =
        (0..128).flat_map(|row: i16| (0..1200).map(move |at: i16| f32::from(at) + f32::from(row) / 256.0)).collect();
    let file = FileBuilder::new().create_in_memory().unwrap();
    let array = ndarray::Array2::from_shape_vec((128, 1200), values.clone()).unwrap();
    file.new_dataset_builder()
        .with_data(array.clone())
        .chunk([16, 100])
        .shuffle()
        .deflate(1)
        .create("filtered")
        .unwrap();
    file.new_dataset_builder().with_data(array.clone()).chunk([16, 100]).create("plain").unwrap();
    file.new_dataset_builder().with_data(array).create("contiguous").unwrap();
    (file.close_in_memory().unwrap(), values)
}

#[test]
fn chunks_are_asked_for_together() {
    let (bytes, values) = chunked();
    let server = Server::of([("/x.h5".to_owned(), bytes)]);
    let file = File::open_url(&server.url("/x.h5")).unwrap();
    for name in ["filtered", "plain", "contiguous"] {
        let dataset = file.dataset(name).unwrap();
        let warm: f32 = dataset.select(s![0, 0]).read_scalar().unwrap();
        assert_eq!(warm, values[0]);
        server.requests();
        assert_eq!(dataset.read::<f32>().unwrap(), values, "{name}");
        assert!(server.requests().len() <= 3, "all of {name}");
        let column: Vec<f32> = dataset.select(s![.., 777]).read().unwrap();
        assert!(column.iter().eq(values.iter().skip(777).step_by(1200)), "{name}");
        assert!(server.requests().len() <= 8, "a column of {name}");
        let lists = Selection::Indices(vec![Index::List(vec![99, 3, 50]), Index::stepped(5..1000, 97)]);
        let part: Vec<f32> = dataset.select(lists).read().unwrap();
        let wanted = [99, 3, 50].into_iter().flat_map(|row| (5..1000).step_by(97).map(move |at| row * 1200 + at));
        assert!(part.iter().eq(wanted.map(|at| &values[at])), "{name}");
    }
}

#[test]
fn the_command_takes_urls_and_names_on_a_hub() {
    let bytes = std::fs::read(testdata("readme/weather.h5")).unwrap();
    let paths = ["/x.h5", "/me/model/resolve/main/x.h5"];
    let server = Server::of(paths.map(|path| (path.to_owned(), bytes.clone())));
    let listed = |name: &str| {
        let mut command = h5();
        command.env("HF_ENDPOINT", server.url("")).env("HF_TOKEN", "secret").args([
            "dump",
            name,
            "/stations/place",
            "--csv",
        ]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let local = listed("readme/weather.h5");
    assert_eq!(listed(&server.url("/x.h5?key=1")), local);
    assert!(server.requests().iter().all(|request| request.token.is_none()));
    assert_eq!(listed("hf://me/model/x.h5"), local);
    assert!(server.requests().iter().all(|request| request.token.as_deref() == Some("Bearer secret")));
    let missing = h5().args(["ls", &server.url("/y.h5?key=secret")]).output().unwrap();
    assert_eq!(missing.status.code(), Some(1));
    let said = String::from_utf8(missing.stderr).unwrap();
    assert_eq!(said, format!("h5: no such file: the server answers with 404: {}\n", server.url("/y.h5")));
}
