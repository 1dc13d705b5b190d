"""Makes pairs of files that differ in a known way, with h5py: PAIRS.json says in which paths.

  python pairs.py FOLDER COUNT SEED
"""
import json
import os
import random
import shutil
import sys

import h5py
import numpy as np

folder, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed)
TYPES = ["<i4", ">i2", "<u8", "<f4", ">f8", "<f2", "S5", "bool", "c8"]


def values(dtype, shape):
    numbers = np.array([rng.randrange(0, 100) for _ in range(int(np.prod(shape)))]).reshape(shape)
    return numbers.astype(dtype)


def dataset(group, name):
    rank = rng.randrange(0, 4)
    shape = tuple(rng.randrange(1, 7) for _ in range(rank))
    kind = rng.randrange(0, 4)
    if kind == 0:
        group.create_dataset(name, data=np.array([f"text {rng.random()}" for _ in range(3)], dtype=h5py.string_dtype()))
    elif kind == 1:
        table = np.zeros(4, dtype=[("a", "<i4"), ("b", ">f8"), ("c", "S3")])
        table["a"], table["b"], table["c"] = values("<i4", 4), values(">f8", 4), b"xyz"
        group.create_dataset(name, data=table)
    elif kind == 2 and rank:
        chunks = tuple(rng.randrange(1, n + 1) for n in shape)
        group.create_dataset(name, data=values(rng.choice(TYPES), shape), chunks=chunks, compression="gzip")
    else:
        group.create_dataset(name, data=values(rng.choice(TYPES), shape))
    group[name].attrs["units"] = rng.choice(["K", "m", "s"])
    group[name].attrs["range"] = values("<f8", 2)


def make(path, libver):
    with h5py.File(path, "w", libver=libver) as f:
        for g in range(rng.randrange(1, 4)):
            group = f.create_group(f"g{g}")
            group.attrs["number"] = g
            for d in range(rng.randrange(1, 4)):
                dataset(group, f"d{d}")
        f["soft"] = h5py.SoftLink("/g0/d0")


def change(f):
    """Changes one thing; the path in which files then differ."""
    paths = []
    f.visit(paths.append)
    datasets = [p for p in paths if isinstance(f[p], h5py.Dataset)]
    path = rng.choice(datasets)
    target = f[path]
    what = rng.choice(["value", "attribute", "new attribute", "no attribute", "new object", "no object", "link", "type"])
    if what == "value":
        value = target[()]
        if target.dtype.kind == "V":
            value["b"][1] += 1
        elif target.dtype.kind == "O":
            value[1] = b"other"
        elif target.dtype.kind == "S":
            value = np.where(np.ones(target.shape, bool), np.bytes_(b"other"), value)
        elif target.dtype.kind == "b":
            value = ~value
        else:
            value = value + value.dtype.type(1)
        target[...] = value
    elif what == "attribute":
        target.attrs.modify("range", [3.5, 1000.5])
    elif what == "new attribute":
        target.attrs["new"] = 1
    elif what == "no attribute":
        del target.attrs["units"]
    elif what == "new object":
        path = "g0/new"
        f[path] = [1, 2]
    elif what == "no object":
        del f[path]
    elif what == "link":
        path = ""
        del f["soft"]
        f["soft"] = h5py.SoftLink("/g0")
    else:
        attributes = dict(target.attrs)
        del f[path]
        new = f.create_dataset(path, data=np.arange(7, dtype="<i8") + 200)
        for name, value in attributes.items():
            new.attrs[name] = value
    return "/" + path


pairs = []
for i in range(count):
    first, second = os.path.join(folder, f"{i}a.h5"), os.path.join(folder, f"{i}b.h5")
    make(first, rng.choice(["earliest", "latest"]))
    shutil.copy(first, second)
    changed = set()
    if rng.random() < 0.8:
        with h5py.File(second, "r+") as f:
            changed.add(change(f))
    pairs.append({"first": first, "second": second, "differ": sorted(changed)})
with open(os.path.join(folder, "PAIRS.json"), "w", encoding="utf8") as out:
    json.dump(pairs, out)
