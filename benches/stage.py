#!/usr/bin/env python3
"""The operations of benches/stage.rs on Python's StagedChangesArray, and the ratios.

    pip install versioned-hdf5
    cargo bench --features memmap2 --bench stage --no-run        # says where the program is
    benches/stage.py PROGRAM [ROUNDS]

Both sides do each part in turns, so that both meet the same machine. Prints a table in Markdown. Times are the shortest
of all runs on both sides.
"""
import json, subprocess, sys, time
import numpy as np
import versioned_hdf5
from versioned_hdf5.staged_changes import StagedChangesArray as S

PY = {}


def measure(name, run, prepare=lambda: None, rounds=20, times=1):
    best, begin = float("inf"), time.perf_counter()
    for n in range(rounds):
        if n > 2 and time.perf_counter() - begin > 3:
            break
        arg = prepare()
        start = time.perf_counter()
        for _ in range(times):
            run(arg)
        best = min(best, (time.perf_counter() - start) / times)
    PY[name] = min(best * 1e9, PY.get(name, float("inf")))


def array(side, chunk, base):
    a = np.arange(side * side, dtype="f8").reshape(side, side)
    return S.from_array(a, chunk_size=(chunk, chunk), fill_value=0, as_base_slabs=base)


def small():
    a = array(1000, 10, False)
    measure("get 1 element", lambda _: a[500, 503], times=100)
    measure("get 6 x 6 elements in 4 chunks", lambda _: a[497:503, 498:504], times=100)
    measure("get a list of 6 elements", lambda _: a[3, [7, 3, 500, 501, 502, 12]], times=100)

    def put(index):
        a[index] = 1.0

    measure("set 1 element", lambda _: put((500, 503)), times=100)
    measure("set 6 x 6 elements in 4 chunks", lambda _: put((slice(497, 503), slice(498, 504))), times=100)


def full():
    return S.full((3200, 3200), chunk_size=(32, 32), dtype="f8", fill_value=0)


VALUE = np.arange(3200 * 3200, dtype="f8").reshape(3200, 3200)


def put_all(x):
    x[()] = VALUE


def large():
    b = array(3200, 32, True)
    measure("get 82 MB to new memory", lambda _: b[()], rounds=10)
    measure("set 82 MB to new memory", put_all, full, rounds=10)
    c = full()
    put_all(c)
    measure("set 82 MB to old memory", put_all, lambda: c, rounds=10)
    million = S.full((2_000_000,), chunk_size=(2,), dtype="u1", fill_value=0)
    measure("plan 1,000,000 chunks", lambda _: million._setitem_plan(()), rounds=3)


def empty(shape, dtype):
    return np.empty(shape, dtype)


def stored():
    """All chunks in one base slab, chunk upon chunk, as a file has them."""
    x = S.full((1000, 1000), chunk_size=(10, 10), dtype="f8", fill_value=0)
    x[()] = np.arange(1_000_000, dtype="f8").reshape(1000, 1000)
    x.commit(empty=empty)
    return x


def whole():
    base, columns = stored(), array(1000, 10, True)
    staged = base.copy()
    staged.load()
    cut = base.copy()
    cut.resize((995, 995))
    runs = {
        "copy 10,000 staged chunks": (lambda _: staged.copy(),),
        "astype of 10,000 staged chunks": (lambda _: staged.astype("f4"),),
        "astype of 10,000 staged chunks, and read all": (lambda _: staged.astype("f4")[()],),
        "astype of 10,000 base chunks": (lambda _: base.astype("f4"),),
        "load 10,000 chunks": (lambda x: x.load(), lambda: base.copy()),
        "load 10,000 chunks from 100 columns of a plain array": (lambda x: x.load(), lambda: columns.copy()),
        "resize 1000 x 1000 to 1005 x 995": (lambda x: x.resize((1005, 995)), lambda: base.copy()),
        "resize 1000 x 1000 to 503 x 503": (lambda x: x.resize((503, 503)), lambda: base.copy()),
        "resize 995 x 995 to 1200 x 1200": (lambda x: x.resize((1200, 1200)), lambda: cut.copy()),
    }
    for name, run in runs.items():
        measure(name, *run, rounds=50)


def commit():
    def hashed():
        x = full()
        put_all(x)
        return x

    def known():
        x = hashed()
        x.commit(empty=empty)
        put_all(x)
        return x

    measure("hash 82 MB in 10,000 chunks", lambda x: x._calc_hashes(), hashed, rounds=5)
    measure("commit 82 MB in 10,000 chunks", lambda x: x.commit(empty=empty), hashed, rounds=5)
    measure("commit 82 MB that are there already", lambda x: x.commit(empty=empty), known, rounds=5)


rust = {}


def ours(part):
    for line in subprocess.run([sys.argv[1], part], check=True, capture_output=True, text=True).stdout.splitlines():
        row = json.loads(line)
        rust[row["name"]] = min(row["ns"], rust.get(row["name"], float("inf")))


for part in (small, large, whole, commit):
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3):
        ours(part.__name__)
        part()


def text(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


print(f"versioned-hdf5 {versioned_hdf5.__version__}, NumPy {np.__version__}\n")
print("| operation | hdfive | Python | times as fast |\n|---|---:|---:|---:|")
for name, ns in rust.items():
    if "(1,000 times)" in name:
        continue
    other = PY.get(name)
    print(f"| {name} | {text(ns)} | {text(other) if other else ''} | {f'{other / ns:.1f}' if other else ''} |")
