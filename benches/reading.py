#!/usr/bin/env python3
"""Times reading beside h5py, in turns, and prints the ratios.

  python benches/reading.py [--data DIR] [--rounds N] [--keep RESULTS.md]

Needs h5py and numpy, and `cargo build --release --example contestant`. Makes its files in DIR on the first call (about
800 MB). A ratio is h5py's median time over ours: 2 means twice as fast as h5py.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(HERE, "..", "target")), "release", "examples", "contestant")


def many(path, libver):
    """10,000 small datasets in 100 groups, with three attributes each."""
    with h5py.File(path, "w", libver=libver) as f:
        for g in range(100):
            group = f.create_group(f"group{g:03}")
            for d in range(100):
                dataset = group.create_dataset(f"set{d:03}", data=np.arange(64, dtype="<f4") + g * 100 + d)
                dataset.attrs["number"] = np.int64(100 * g + d)
                dataset.attrs["scale"] = np.float64(0.5 + d)
                dataset.attrs["units"] = np.bytes_(b"metres")


def chunks(path, libver, maxshape):
    """A million chunks of 64 bytes."""
    with h5py.File(path, "w", libver=libver) as f:
        f.create_dataset("data", data=np.arange(16_000_000, dtype="<i4"), chunks=(16,), maxshape=maxshape)


def plain(path, gzip):
    """512 MB contiguous, or 201 MB in 16 chunks of gzip 1."""
    rows, columns = (3072, 16384) if gzip else (16384, 8192)
    rng = np.random.default_rng(1)
    data = np.round(1000 * np.sin(np.arange(rows)[:, None] / 211) + 6 * rng.standard_normal((rows, columns), dtype="f4")) / 8
    options = dict(chunks=(192, columns), compression="gzip", compression_opts=1) if gzip else {}
    with h5py.File(path, "w") as f:
        f.create_dataset("data", data=data.astype("<f4"), **options)


FILES = {
    "old.h5": lambda p: many(p, "earliest"),
    "new.h5": lambda p: many(p, ("v110", "v110")),
    "btree.h5": lambda p: chunks(p, "earliest", None),
    "fixed.h5": lambda p: chunks(p, ("v110", "v110"), None),
    "extensible.h5": lambda p: chunks(p, ("v110", "v110"), (None,)),
    "contiguous.h5": lambda p: plain(p, False),
    "gzip.h5": lambda p: plain(p, True),
}


def ours(words):
    line = subprocess.run([OURS, *words, "--reps", "20"], capture_output=True, text=True, check=True).stdout
    return statistics.median(json.loads(line)["ns"]) / 1e9


def clock(job):
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def walk(path):
    with h5py.File(path) as f:
        seen = []
        f.visititems(lambda name, object: seen.append((name, getattr(object, "shape", ()), dict(object.attrs))))


def read_many(path):
    with h5py.File(path) as f:
        for group in f.values():
            for dataset in group.values():
                dataset[()]


def iterate(path):
    with h5py.File(path) as f:
        seen = []
        f["data"].id.chunk_iter(seen.append)


def count(path):
    with h5py.File(path) as f:
        f["data"].id.get_num_chunks()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.path.join(tempfile.gettempdir(), "hdfive-bench"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep")
    options = parser.parse_args()
    os.makedirs(options.data, exist_ok=True)
    paths = {name: os.path.join(options.data, name) for name in FILES}
    for name, make in FILES.items():
        if not os.path.exists(paths[name]):
            make(paths[name] + ".part")
            os.rename(paths[name] + ".part", paths[name])
    buffer = np.ones((16384, 8192), dtype="<f4")

    def direct():
        with h5py.File(paths["contiguous.h5"]) as f:
            f["data"].read_direct(buffer)

    jobs = []
    for name in ("old.h5", "new.h5"):
        jobs.append((f"walk 10,000 datasets, 30,000 attributes, {name}", ["walk", paths[name]], lambda p=paths[name]: walk(p)))
        jobs.append((f"read 10,000 datasets, {name}", ["readmany", paths[name]], lambda p=paths[name]: read_many(p)))
    for name in ("btree.h5", "fixed.h5", "extensible.h5"):
        jobs.append((f"index 1,000,000 chunks, chunk_iter, {name}", ["index", paths[name], "data"], lambda p=paths[name]: iterate(p)))
        jobs.append((f"index 1,000,000 chunks, get_num_chunks, {name}", ["index", paths[name], "data"], lambda p=paths[name]: count(p)))
    jobs.append(("512 MB contiguous into a buffer, read_direct", ["into", paths["contiguous.h5"], "data"], direct))
    rows = []
    for label, words, theirs in jobs:
        pairs = [(ours(words), clock(theirs)) for _ in range(options.rounds)]
        mine, other = (statistics.median(column) for column in zip(*pairs))
        rows.append(f"| {label} | {1000 * other:.1f} | {1000 * mine:.1f} | {other / mine:.2f} |")
        print(rows[-1], flush=True)
    one, two = (statistics.median(ours(["threads", paths["gzip.h5"], "data", n]) for _ in range(options.rounds)) for n in "12")
    rows.append(f"| two threads, each its own dataset of 201 MB in gzip 1, over one thread and one | {1000 * one:.1f} | {1000 * two:.1f} | {2 * one / two:.2f} |")
    print(rows[-1], flush=True)
    if options.keep:
        head = "| what | h5py, ms | ours, ms | ratio |\n|---|---|---|---|\n"
        with open(options.keep, "a", encoding="utf8") as out:
            out.write(head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
