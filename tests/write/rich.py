#!/usr/bin/env python3
"""Files that have all structures between them, for tests of writing. Needs h5py.

  rich.py make FILE            makes such a file
  rich.py same OLD NEW LEVEL   says where NEW does not hold what OLD holds
  rich.py restored OLD NEW     the same but for how it is stored, which is printed as JSON
  rich.py edit FILE            changes the file, and prints as JSON what is in it then
"""
import hashlib
import json
import sys

import h5py
import numpy as np

LARGE_NUMBERS = {
    "fixed": dict(shape=(1, 5000), maxshape=(2, 6000), chunks=(1, 3)),
    "fixed_sparse": dict(shape=(4000, 3), maxshape=(9000, 3), chunks=(1, 1)),
    "extensible": dict(shape=(7, 900), maxshape=(10, None), chunks=(2, 3)),
    "extensible_front": dict(shape=(9000,), maxshape=(None,), chunks=(1,)),
    "btree": dict(shape=(60, 70), maxshape=(None, None), chunks=(1, 2)),
    "single": dict(shape=(20, 30), chunks=(20, 30)),
    "edges": dict(shape=(21, 33), chunks=(4, 5), maxshape=(40, 40)),
    "empty": dict(shape=(0, 5), chunks=(2, 2), maxshape=(None, 5)),
    "nothing": dict(shape=(100,), chunks=(10,)),
}


def make(name):
    rng = np.random.default_rng(7)
    with h5py.File(name, "w", libver="v108", track_order=True) as f:
        for kind, options in LARGE_NUMBERS.items():
            for filters in ({}, dict(compression="gzip", shuffle=True, fletcher32=True)):
                dataset = f.create_dataset(f"chunks/{kind}{'_filtered' if filters else ''}", dtype="<i4", fillvalue=-3,
                                           **options, **filters)
                if kind == "fixed_sparse":
                    for at in rng.integers(0, 4000, 25):
                        dataset[at] = rng.integers(0, 9, 3)
                elif kind not in ("nothing", "empty"):
                    dataset[...] = rng.integers(0, 1000, dataset.shape)
        for count in (0, 1, 8, 9, 60, 1000, 12000):
            group = f.create_group(f"links/{count}", track_order=count % 2 == 0)
            for i in range(count):
                group[f"{'long' * (i % 50)}_{i}"] = h5py.SoftLink(f"/target/{i}" * (1 + i % 7))
        for count in (0, 1, 8, 9, 300, 3000):
            group = f.create_group(f"attributes/{count}", track_order=count % 2 == 1)
            for i in range(count):
                group.attrs[f"a{i}"] = np.arange(i % 40)
        large = f.create_group("attributes/large")
        large.attrs["small"] = 1
        for i, size in enumerate((40_000, 70_000, 300_000, 5_000)):
            large.attrs[f"large{i}"] = rng.integers(0, 255, size, dtype="u1")
        f["hard"] = f["chunks/edges"]
        f["links/back"] = f["/"]
        f["links/outside"] = h5py.ExternalLink("other.h5", "/x")
        f["type"] = np.dtype([("a", "<i2"), ("b", ">f8"), ("c", "S5"), ("d", "<u1", (2, 3))])
        table = f.create_dataset("typed", (7,), dtype=f["type"])
        table["a"] = np.arange(7)
        f["typed"].attrs.create("same", np.zeros(2, f["type"].dtype), dtype=f["type"])
        texts = f.create_dataset("texts", (3000,), dtype=h5py.string_dtype(), chunks=(100,), compression="gzip")
        texts[:] = [f"text {i}" * (i % 30) for i in range(3000)]
        ragged = f.create_dataset("ragged", (70_000,), dtype=h5py.vlen_dtype("<i2"))
        ragged[:100] = np.array([np.arange(i) for i in range(100)], dtype=object)
        f["references"] = np.array([f["typed"].ref, f["links/9"].ref, h5py.Reference()], dtype=h5py.ref_dtype)
        regions = f.create_dataset("regions", (2,), dtype=h5py.regionref_dtype)
        regions[0] = f["chunks/edges"].regionref[2:7, 3:9]
        f.create_dataset("enum", data=[0, 2, 1], dtype=h5py.enum_dtype({"no": 0, "yes": 1, "maybe": 2}))
        f["scalar"] = 5.5
        f["nothing"] = h5py.Empty("f4")
        f.create_dataset("unwritten", (30,), dtype="f8", fillvalue=2.5)


def plain(value):
    """A value as something that can be compared."""
    if isinstance(value, h5py.Empty):
        return "empty", value.dtype.str
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return [plain(v) for v in value.ravel()]
    if isinstance(value, (h5py.Reference, h5py.RegionReference)):
        return bool(value)
    if isinstance(value, np.ndarray):
        return value.dtype.descr if value.dtype.names else value.dtype.str, value.shape, value.tobytes()
    return value


def target(file, value):
    return [file[v].name if v else None for v in np.ravel(value)]


def attributes(o, order):
    # Without order, as Earliest writes, nothing of 64 KiB or more has a place either.
    names = [n for n in o.attrs if order or np.asarray(o.attrs[n]).nbytes < 65_000]
    return {n: plain(o.attrs[n]) for n in names}, names if order else sorted(names)


STORAGE = ("chunks", "compression", "compression_opts", "shuffle", "fletcher32")


def same(old, new, level, alike=STORAGE):
    tracks, differences = level != "earliest", []
    with h5py.File(old) as a, h5py.File(new) as b:
        def compare(path, x, y):
            if type(x) is not type(y):
                differences.append(f"{path}: {type(y)}, was {type(x)}")
            elif isinstance(x, h5py.Dataset):
                for what in ("shape", "maxshape", "dtype", *alike):
                    if getattr(x, what) != getattr(y, what):
                        differences.append(f"{path}.{what}: {getattr(y, what)}, was {getattr(x, what)}")
                if plain(np.asarray(x.fillvalue)) != plain(np.asarray(y.fillvalue)) or plain(x[()]) != plain(y[()]):
                    differences.append(f"{path}: other values")
                if h5py.check_ref_dtype(x.dtype) is h5py.Reference and target(a, x[()]) != target(b, y[()]):
                    differences.append(f"{path}: references lead elsewhere")
            if isinstance(x, h5py.Datatype):
                if x.dtype != y.dtype:
                    differences.append(f"{path}: {y.dtype}, was {x.dtype}")
                return
            if attributes(x, tracks) != attributes(y, tracks):
                differences.append(f"{path}: other attributes")

        seen = []

        def walk(path, x, y):
            compare(path, x, y)
            if not isinstance(x, h5py.Group) or x in seen:
                return
            seen.append(x)
            names = list(x) if tracks else sorted(x)
            outside = [n for n in names if isinstance(x.get(n, getlink=True), h5py.ExternalLink)]
            wanted = names if tracks else [n for n in names if n not in outside]
            if (list(y) if tracks else sorted(y)) != wanted:
                differences.append(f"{path}: other links")
            for name in wanted:
                p, q = x.get(name, getlink=True), y.get(name, getlink=True)
                if type(p) is not type(q) or vars(p) != vars(q):
                    differences.append(f"{path}/{name}: another link")
                elif isinstance(p, h5py.HardLink):
                    walk(f"{path}/{name}", x[name], y[name])

        walk("", a["/"], b["/"])
    return differences


def restored(old, new):
    """Compares all but how elements are stored, and prints that."""
    differences, said = same(old, new, "v18", ()), {}
    with h5py.File(new) as f:
        def visit(path, o):
            if isinstance(o, h5py.Dataset) and o.shape:
                filters = o.id.get_create_plist()
                ids = [filters.get_filter(i)[0] for i in range(filters.get_nfilters())]
                said[path] = dict(chunks=o.chunks, filters=ids, size=o.id.get_storage_size())

        f.visititems(visit)
    print(json.dumps(said))
    return differences


def edit(name):
    rng = np.random.default_rng(8)
    with h5py.File(name, "r+") as f:
        for path in ("links/0", "links/8", "links/9", "links/60", "links/1000", "links/12000"):
            group = f[path]
            for i in range(40):
                group[f"new{i}"] = h5py.SoftLink("/somewhere")
            for old in list(group)[:5]:
                del group[old]
        for path in ("attributes/0", "attributes/8", "attributes/9", "attributes/300", "attributes/3000", "attributes/large"):
            for i in range(30):
                f[path].attrs[f"new{i}"] = i
            for old in list(f[path].attrs)[:4]:
                del f[path].attrs[old]
        for kind in LARGE_NUMBERS:
            for dataset in (f[f"chunks/{kind}"], f[f"chunks/{kind}_filtered"]):
                if dataset.maxshape != dataset.shape:
                    dataset.resize([m if m is not None else n + 20 for n, m in zip(dataset.shape, dataset.maxshape)])
                dataset[..., -1] = 77
                dataset[0] = rng.integers(0, 9, dataset.shape[1:])
        f["unwritten"][3:6] = 1
        f["typed"][1] = f["typed"][2]
        f["texts"][5] = "another text"
        f.create_dataset("new", data=np.arange(10))
        del f["scalar"]
    describe(name)


def comes_as_stored(dataset):
    """Whether h5py gives the bytes of elements as they are stored; padding of strings becomes NUL."""
    stored = dataset.id.get_type()
    is_padded = stored.get_class() == h5py.h5t.STRING and stored.get_strpad() == h5py.h5t.STR_SPACEPAD
    return not dataset.dtype.hasobject and not is_padded


def describe(name):
    """Prints as JSON what is in a file."""
    said = {}
    with h5py.File(name) as f:
        def visit(path, o):
            about = {"attributes": sorted(o.attrs)}
            if isinstance(o, h5py.Group):
                about["links"] = sorted(o)
            elif isinstance(o, h5py.Dataset) and o.shape is not None and comes_as_stored(o):
                about["sha256"] = hashlib.sha256(o[()].tobytes()).hexdigest()
            said[path] = about
        f.visititems(visit)
    print(json.dumps(said))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "edit":
        edit(sys.argv[2])
    else:
        found = restored(*sys.argv[2:4]) if sys.argv[1] == "restored" else same(*sys.argv[2:5])
        print("\n".join(found), file=sys.stderr)
        sys.exit(1 if found else 0)
