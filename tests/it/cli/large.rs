//! Files that claim, ask for or refer to more than is there.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::h5;
use crate::support::{python, scratch};

/// What a script with h5py (`h`) and NumPy (`np`), run in `folder`, prints.
fn h5py(folder: &Path, script: &str) -> String {
    let mut command = Command::new(python::python());
    command.current_dir(folder).args(["-c", &format!("import h5py as h, numpy as np\n{script}")]);
    let printed = python::run(&mut command, "the files are made by h5py").stdout;
    String::from_utf8(printed).unwrap()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    h5().current_dir(folder).args(arguments).output().unwrap()
}

fn said(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

const SPARSE: &str = "
with h.File('sparse.h5', 'w') as f:
    f.create_dataset('y', (700_000_000,), 'i1', chunks=(1_000_000,))
    f.create_dataset('t', (100_000_000,), [('a', 'f4'), ('b', 'i8')], chunks=(100_000,))
    f.create_dataset('wide', (10**9, 10**9), 'i4', chunks=(1000, 1000))[3, 5] = 7
    f.create_dataset('none', (10**15, 0), 'i4', chunks=(1000, 1), maxshape=(None, None))
with h.File('other.h5', 'w') as f:
    f.create_dataset('y', (700_000_000,), 'i1', chunks=(1_000_000,), fillvalue=1)[5] = 0
    f.create_dataset('t', (100_000_000,), [('a', 'f4'), ('b', 'i8')], chunks=(20_000,))
    f.create_dataset('wide', (10**9, 10**9), 'i4', chunks=(700, 1000))[700, 0] = 1
    f.create_dataset('none', (10**15, 0), 'i4', chunks=(1000, 1), maxshape=(None, None))
";

/// A file of some KiB made the command reserve 56 GB, which ended it.
#[cfg(target_os = "linux")]
#[test]
fn elements_beyond_memory_are_dumped_part_after_part() {
    let folder = scratch("dump-sparse");
    h5py(&folder, SPARSE);
    let begins = [
        (&["y"][..], "{\"path\":\"y\",\"type\":\"i8\",\"shape\":[700000000],\"attributes\":{},\"value\":[0,0,0,"),
        (&["y", "--csv"], "0\n0\n0\n"),
        (&["t", "--csv"], "a,b\n0.0,0\n0.0,0\n"),
        (&["wide", "--npy", "-"], "NUMPY\u{1}\0v\0{'descr': '<i4', 'fortran_order': False, 'shape': (1000000000, "),
        (&["y", "--all"], "i8 [700000000], chunks [1000000]\n[0, 0, 0, 0, 0, 0, 0, 0, "),
        (&["y[1:]", "--text"], "i8 [700000000], chunks [1000000]\n[0, 0, 0, ..., 0, 0, 0]\n"),
        (&["none", "--text"], "i32 [1000000000000000+, 0+], chunks [1000, 1]\n[]\n"),
        (&["none", "--json"], "{\"path\":\"none\",\"type\":\"i32\",\"shape\":[1000000000000000,0],\"attributes\":{},"),
    ];
    for (arguments, wanted) in begins {
        let script = "ulimit -v 2000000; exec \"$0\" dump sparse.h5 \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(h5().get_program()).args(arguments).current_dir(&folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = Vec::new();
        child.stdout.take().unwrap().take(wanted.len() as u64 + 1).read_to_end(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&first).into_owned();
        assert!(text.trim_start_matches('\u{fffd}').starts_with(wanted), "{arguments:?}: {text}");
        assert_eq!((String::from_utf8_lossy(&output.stderr), output.status.code()), ("".into(), Some(0)), "{text}");
    }
}

#[test]
fn values_count_against_the_limit_of_a_result() {
    let folder = scratch("values-limit");
    h5py(&folder, "with h.File('a.h5', 'w') as f: f['y'] = np.arange(100_000, dtype='u1')");
    let limits = hdfive::Limits { result: 1 << 20, ..Default::default() };
    let file = hdfive::OpenOptions::new().limits(limits).open(folder.join("a.h5")).unwrap();
    let y = file.dataset("y").unwrap();
    assert_eq!(y.read::<u8>().unwrap().len(), 100_000);
    let error = y.read_value().unwrap_err();
    assert_eq!(error.kind(), hdfive::ErrorKind::Limit);
    assert!(
        error
            .message()
            .ends_with("of 100000 elements are beyond Limits::result, which is 1048576; a part can be selected")
    );
    let values = y.select(hdfive::s![..;-1]).values().unwrap().map(|value| value.unwrap().as_i64().unwrap());
    let wanted = (0..100_000i64).rev().map(|n| n % 256);
    assert!(values.eq(wanted));
}

#[test]
fn what_neither_of_two_files_stores_is_compared_once() {
    let folder = scratch("diff-sparse");
    h5py(&folder, SPARSE);
    assert_eq!(said(&run(&folder, &["diff", "sparse.h5", "sparse.h5"])), (String::new(), String::new(), Some(0)));
    // NumPy's count of different elements: all but the one 0 in y, two in wide.
    let wanted = "/wide: 2 of 1000000000000000000 elements differ, first at [3, 5]: 7 | 0
/y: 699999999 of 700000000 elements differ, first at [0]: 0 | 1\n";
    assert_eq!(said(&run(&folder, &["diff", "sparse.h5", "other.h5"])), (wanted.to_owned(), String::new(), Some(1)));
}

/// Datasets of random shapes, chunks and fill values, of which little is written; NumPy counts what differs.
#[test]
fn datasets_that_are_stored_in_part_differ_as_numpy_says() {
    let folder = scratch("diff-random");
    let script = "
import random
random.seed(5)
pick = random.randrange
files = [h.File(name, 'w', libver=libver) for name, libver in (('a.h5', None), ('b.h5', 'latest'))]
for number in range(120):
    shape = tuple(pick(number % 7 > 0, 23) for _ in range(pick(4)))
    for f in files:
        chunks = {'chunks': tuple(pick(1, n + 1) for n in shape)} if 0 not in shape and shape and pick(4) else {}
        if chunks and pick(2): chunks['maxshape'] = (None,) * len(shape)
        d = f.create_dataset(f'{number:03}', shape, 'i4', fillvalue=pick(2), **chunks)
        for _ in range(0 if 0 in shape else pick(4)):
            starts = [pick(n) for n in shape]
            d[tuple(slice(start, start + pick(1, 5)) for start in starts)] = pick(3)
    one, other = (np.asarray(f[f'{number:03}'][()]) for f in files)
    if (one != other).any():
        at = tuple(np.argwhere(one != other)[0].tolist())
        count = (one != other).sum()
        print(f'/{number:03}: {count} of {one.size} elements differ, first at {list(at)}: {one[at]} | {other[at]}')
";
    let wanted = h5py(&folder, script);
    assert!(wanted.lines().count() > 50, "{wanted}");
    let (out, error, _) = said(&run(&folder, &["diff", "a.h5", "b.h5"]));
    let differing: Vec<&str> = out.lines().filter(|line| line.contains("elements differ")).collect();
    let wanted: Vec<&str> = wanted.lines().collect();
    assert_eq!((differing, error.as_str()), (wanted, ""));
}

#[test]
fn claims_of_virtual_datasets_are_not_compared_beyond_the_limit() {
    let folder = scratch("diff-virtual");
    let script = "
with h.File('v.h5', 'w') as f:
    layout = h.VirtualLayout((10**15,), 'f8')
    f.create_virtual_dataset('v', layout, fillvalue=0)
";
    h5py(&folder, script);
    let (out, error, code) = said(&run(&folder, &["diff", "v.h5", "v.h5"]));
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(error.contains("8000000000000000 bytes are not compared") && error.contains("\"/v\""), "{error}");
}

#[test]
fn a_file_is_not_repacked_onto_itself() {
    let folder = scratch("repack-self");
    h5py(&folder, "with h.File('a.h5', 'w') as f: f['x'] = np.arange(3)");
    let before = std::fs::read(folder.join("a.h5")).unwrap();
    std::fs::hard_link(folder.join("a.h5"), folder.join("b.h5")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("a.h5", folder.join("c.h5")).unwrap();
    for out in ["a.h5", "./a.h5", "b.h5", if cfg!(unix) { "c.h5" } else { "a.h5" }] {
        let (_, error, code) = said(&run(&folder, &["repack", "a.h5", out]));
        let wanted = format!("h5: the new file would take the place of the one that it is made from: {out}\n");
        assert_eq!((error, code), (wanted, Some(1)));
        assert_eq!(std::fs::read(folder.join("a.h5")).unwrap(), before);
    }
    let (_, error, code) = said(&run(&folder, &["repack", "a.h5", "nowhere/b.h5"]));
    assert!(error.ends_with(": nowhere/b.h5\n") && code == Some(1), "{error}");
}

#[test]
fn numpy_files_are_whole_or_not_there() {
    let folder = scratch("npy-whole");
    let script = "
with h.File('a.h5', 'w') as f:
    f['null'] = h.Empty('f4')
    f.create_dataset('bad', data=np.zeros(1000), chunks=(100,), fletcher32=True)
    offset = f['bad'].id.get_chunk_info(3).byte_offset
with open('a.h5', 'r+b') as f:
    f.seek(offset); f.write(b'damage')
";
    h5py(&folder, script);
    for path in ["null", "bad"] {
        let (_, error, code) = said(&run(&folder, &["dump", "a.h5", path, "--npy", "out.npy"]));
        assert_eq!(code, Some(1), "{path}");
        assert!(error.contains(if path == "null" { "the dataspace is null" } else { "fletcher32" }), "{error}");
        let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["a.h5"], "{path}");
    }
}

#[test]
fn numpy_loads_complex_numbers_and_times() {
    let folder = scratch("npy-types");
    let write = "
data = {'c8': np.array([1+2j, 3-4j], 'c8'), 'c16': np.array([[1j]], '>c16'), 'M': np.array(['2020-01-01', 'NaT'], 'M8[s]'),
    'm': np.array([1, -5], 'm8[10ms]')}
data['t'] = np.array([(1j, 7)], [('z', 'c8'), ('n', 'i2')])
";
    let make = format!(
        "{write}
with h.File('a.h5', 'w') as f:
    for name, values in data.items():
        time = values.dtype.kind in 'mM'
        f.create_dataset(name, data=values.astype(h.opaque_dtype(values.dtype)) if time else values)
"
    );
    h5py(&folder, &make);
    for path in ["c8", "c16", "M", "m", "t"] {
        let output = run(&folder, &["dump", "a.h5", path, "--npy", &format!("{path}.npy")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = run(&folder, &["dump", "a.h5", path, "--npy", "-"]);
        assert_eq!(output.stdout, std::fs::read(folder.join(format!("{path}.npy"))).unwrap());
    }
    let check = format!(
        "{write}
for name, wanted in data.items():
    got = np.load(name + '.npy')
    assert got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes(), (name, got, wanted)
"
    );
    h5py(&folder, &check);
}

#[test]
fn sources_that_are_missing_are_named_and_can_be_filled() {
    let folder = scratch("missing-source");
    let script = "
with h.File('a.h5', 'w') as f: f['x'] = np.arange(3)
with h.File('v.h5', 'w') as f:
    layout = h.VirtualLayout((2, 3), 'i8')
    layout[0] = h.VirtualSource('a.h5', 'x', (3,))
    layout[1] = h.VirtualSource('gone.h5', 'x', (3,))
    f.create_virtual_dataset('v', layout, fillvalue=-5)
";
    h5py(&folder, script);
    let (_, error, code) = said(&run(&folder, &["dump", "v.h5", "v"]));
    let missing = "the file refers to \"gone.h5\", which is not there";
    let hint = "MissingSources::Fill and --missing-sources fill read fill value in its place";
    assert_eq!((error, code), (format!("h5: {missing}; {hint} in \"/v\", v.h5\n"), Some(1)));
    let (out, _, code) = said(&run(&folder, &["dump", "v.h5", "v", "--csv", "--missing-sources", "fill"]));
    assert_eq!((out.as_str(), code), ("0,1,2\n-5,-5,-5\n", Some(0)));
    let (out, _, code) = said(&run(&folder, &["check", "v.h5"]));
    assert!(out.starts_with(&format!("v.h5: a source is missing: {missing} in \"/v\"\nv.h5: sound;")), "{out}");
    assert_eq!(code, Some(0));
    let (out, ..) = said(&run(&folder, &["check", "--json", "v.h5"]));
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["sound"], report["missing"].as_array().unwrap().len()), (&Value::Bool(true), 1));
    let (out, _, code) = said(&run(&folder, &["check", "v.h5", "--missing-sources", "error"]));
    assert!(out.contains("1 problem") && code == Some(1), "{out}");
}

#[test]
fn json_has_texts_for_numbers_that_are_not_finite() {
    let folder = scratch("json-nan");
    let script = "
with h.File('a.h5', 'w') as f:
    f['x'] = np.array([np.nan, np.inf, -np.inf, 1.5])
    f['z'] = np.array([complex(np.nan, 1)], 'c8')
    f['x'].attrs['a'] = np.float32(np.inf)
";
    h5py(&folder, script);
    let value =
        |path: &str| -> Value { serde_json::from_str(&said(&run(&folder, &["dump", "a.h5", path])).0).unwrap() };
    assert_eq!(value("x")["value"], serde_json::json!(["NaN", "Infinity", "-Infinity", 1.5]));
    assert_eq!(value("x")["attributes"]["a"], "Infinity");
    assert_eq!(value("z")["value"], serde_json::json!([["NaN", 1.0]]));
}

#[test]
fn regions_are_said_wherever_references_are_shown() {
    let folder = scratch("regions");
    let script = "
with h.File('a.h5', 'w') as f:
    x = f.create_dataset('x', (20, 30), 'i4')
    points, boxes = h.h5s.create_simple((20, 30)), h.h5s.create_simple((20, 30))
    points.select_elements([(i, i + 1) for i in range(6)])
    boxes.select_hyperslab((0, 0), (2, 3)); boxes.select_hyperslab((5, 1), (1, 9), op=h.h5s.SELECT_OR)
    of = lambda space: h.h5r.create(f.id, b'x', h.h5r.DATASET_REGION, space)
    r = f.create_dataset('r', (4,), h.regionref_dtype)
    r[0], r[1] = x.regionref[2:5, ::7], x.regionref[...]
    r[2], r[3] = of(points), of(boxes)
";
    h5py(&folder, script);
    let wanted = [
        "region [2:5, 0:1], [2:5, 7:8], [2:5, 14:15], [2:5, 21:22] and 1 more of /x",
        "region [...] of /x",
        "region (0, 1), (1, 2), (2, 3), (3, 4) and 2 more of /x",
        "region [0:2, 0:3], [5:6, 1:10] of /x",
    ];
    let (json, ..) = said(&run(&folder, &["dump", "a.h5", "r"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    let texts: Vec<&str> = json["value"].as_array().unwrap().iter().map(|value| value.as_str().unwrap()).collect();
    assert_eq!(texts, wanted);
    let (csv, ..) = said(&run(&folder, &["dump", "a.h5", "r", "--csv"]));
    assert!(csv.starts_with(&format!("\"{}\"\n", wanted[0])), "{csv}");
}

/// Text of a file that a terminal took for a command: what is shown is said elsewhere, CSV and JSON aside.
#[test]
fn values_command_no_terminal() {
    let folder = scratch("escapes");
    let script = "
with h.File('a.h5', 'w') as f:
    f['t'] = np.array([(1,)], [('\\x1b[2J', 'i4')])
    f['s'] = '\\x9b31m\\u202eevil'
    f['s'].attrs['a'] = np.array([(2,), (3,)], [('\\x1b[1m', 'i4')])
";
    h5py(&folder, script);
    let text = |arguments: &[&str]| said(&run(&folder, arguments)).0;
    assert!(text(&["dump", "a.h5", "t", "--text"]).ends_with("\n[{\\u{1b}[2J: 1}]\n"));
    assert!(text(&["dump", "a.h5", "s", "--text"]).ends_with("\n\"\\u{9b}31m\\u{202e}evil\"\n"));
    assert_eq!(text(&["attrs", "a.h5", "s", "a", "--text"]), "[{\\u{1b}[1m: 2},\n {\\u{1b}[1m: 3}]\n");
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    let folder = scratch("no-file");
    let made = Command::new("mkfifo").arg(folder.join("fifo")).status().unwrap();
    assert!(made.success());
    for (name, wanted) in
        [("fifo", "it is no regular file"), ("/dev/zero", "it is no regular file"), (".", "directory")]
    {
        let mut command = Command::new("timeout");
        let output =
            command.args(["10"]).arg(h5().get_program()).args(["ls", name]).current_dir(&folder).output().unwrap();
        let (_, error, code) = said(&output);
        assert!(
            error.contains(wanted) && error.ends_with(&format!(": {name}\n")) && code == Some(1),
            "{error}{code:?}"
        );
    }
}
