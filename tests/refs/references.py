#!/usr/bin/env python3
"""References as Python's zarr reads them, beside what h5py reads. Needs h5py, hdf5plugin, zarr and fsspec.

  references.py make FILE              makes a file of many types, layouts and filters
  references.py check REFS FILE PATH.. every dataset of FILE but those at PATHs is in REFS, with the same values and attributes
"""
import json
import sys

import numpy as np


def make(name):
    import h5py
    import hdf5plugin

    rng = np.random.default_rng(3)
    table = np.zeros(40, np.dtype([("a", "<i2"), ("b", ">f8"), ("c", "S5"), ("d", "u1", (2, 3))], align=True))
    table["a"], table["b"], table["c"] = np.arange(40), rng.normal(size=40), b"text"
    types = {
        "i1": rng.integers(-9, 9, (37, 23), "i1"), "u2be": rng.integers(0, 999, (37, 23)).astype(">u2"),
        "i4": rng.integers(-9, 9, (37, 23), "i4"), "u8": rng.integers(0, 2**63, (37, 23), "u8") * 2,
        "f2": rng.normal(size=(37, 23)).astype("f2"), "f4": rng.normal(size=(37, 23)).astype("f4"),
        "f8be": rng.normal(size=(37, 23)).astype(">f8"), "bool": rng.random((37, 23)) > 0.5,
        "c8": (rng.normal(size=(37, 23)) + 1j).astype("c8"), "c16": rng.normal(size=(37, 23)) + 2j,
        "S7": np.array([b"", b"a", b"seven b"] * 11).astype("S7"),
        "time": np.array(["2020-01-01", "1969-07-20"], "M8[ns]"), "table": table,
        "array": np.arange(24, dtype="i4").reshape(4, 6), "void": np.array([b"ab", b"cd"]).view("V2"),
    }
    filters = {
        "plain": {}, "zlib": dict(compression="gzip", shuffle=True), "zstd": hdf5plugin.Zstd(clevel=5),
        "fletcher32": dict(fletcher32=True), "blosc": hdf5plugin.Blosc(cname="lz4", clevel=4, shuffle=2),
        "bzip2": hdf5plugin.BZip2(), "all": dict(shuffle=True, compression="gzip", compression_opts=9, fletcher32=True),
        "lzf": dict(compression="lzf"), "scale": dict(scaleoffset=0),
    }
    with h5py.File(name, "w", userblock_size=1024) as f:
        for kind, data in types.items():
            data = data.astype(h5py.opaque_dtype(data.dtype)) if kind == "time" else data
            f.create_dataset(f"contiguous/{kind}", data=data)
            f.create_dataset(f"zlib/{kind}", data=data, chunks=tuple(max(1, n // 3) for n in data.shape), compression="gzip", shuffle=True)
        data = np.arange(41 * 50, dtype="i4").reshape(41, 50) // 7
        for name, options in filters.items():
            f.create_dataset(f"filters/{name}", data=data, chunks=(8, 20), **options)
        big = f.create_dataset("big", data=np.arange(3_000_000, dtype="f8").reshape(3000, 1000))
        big.attrs["units"], big.attrs["numbers"], big.attrs["nan"] = "K", [1, 2, 3], np.nan
        sparse = f.create_dataset("sparse", (100, 100), "f4", chunks=(10, 10), fillvalue=-1.5)
        sparse[35:45, 20:30] = 3
        f.create_dataset("unwritten", (30,), "i4", fillvalue=7)
        f.create_dataset("growing", (5,), "i8", maxshape=(None,), chunks=(512,))[:] = range(5)
        f["scalar"] = 2.5
        f["none"] = np.zeros((0, 3), "i4")
        f.create_dataset("names", data=["a", "", "grüße"], dtype=h5py.string_dtype())
        f.create_dataset("enum", data=[0, 2, 1], dtype=h5py.enum_dtype({"no": 0, "yes": 1, "maybe": 2}))
        f.create_dataset("subarrays", (3,), np.dtype(("i2", (2, 2))))[...] = np.arange(12).reshape(3, 2, 2)
        f.create_dataset("ragged", (2,), h5py.vlen_dtype("i4"))
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((6,))
        h5py.h5d.create(f.id, b"compact", h5py.h5t.STD_I16LE, space, compact).write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(6, dtype="i2"))
        x, y = f.create_dataset("x", data=np.arange(3.0)), f.create_dataset("y", data=np.arange(4.0))
        x.make_scale("x"), y.make_scale("y")
        grid = f.create_dataset("grid", data=np.ones((3, 4), "i4"))
        grid.dims[0].attach_scale(x), grid.dims[1].attach_scale(y)


def arrays(refs):
    import fsspec
    import zarr
    from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
    from fsspec.implementations.reference import ReferenceFileSystem

    local = AsyncFileSystemWrapper(fsspec.filesystem("file"), asynchronous=True)
    store = zarr.storage.FsspecStore(ReferenceFileSystem(refs, fs=local, asynchronous=True), read_only=True, path="")
    group = zarr.open_group(store, mode="r")
    # The store does not list groups in groups.
    with open(refs) as file:
        keys = json.load(file)["refs"]
    paths = {key.rpartition("/")[0] for key in keys if key.endswith(("/.zarray", "/zarr.json"))}
    found = {path: group[path] for path in sorted(paths)}
    return {path: array for path, array in found.items() if isinstance(array, zarr.Array)}


def check(refs, name, left_out):
    found = arrays(refs)
    # What h5py reads is read after all of zarr's are, without any library of HDF5 there.
    values = {path: array[...] for path, array in found.items()}
    assert not [module for module in sys.modules if "h5py" in module]
    import h5py
    import hdf5plugin  # noqa: F401

    wanted = {}
    with h5py.File(name) as f:
        f.visititems(lambda path, o: wanted.update({path: o}) if isinstance(o, h5py.Dataset) else None)
        assert set(values) == set(wanted) - set(left_out), (set(wanted) - set(values), set(values) - set(wanted))
        for path, value in values.items():
            dataset, value = wanted[path], np.asarray(value)
            own = dataset.asstr()[()] if h5py.check_string_dtype(dataset.dtype) and dataset.dtype.kind == "O" else dataset[()]
            own = np.asarray(own)
            assert value.shape == own.shape, (path, value.shape, own.shape)
            if value.dtype.names:
                value = np.ascontiguousarray(value[[n for n in value.dtype.names if not n.startswith("_pad")]])
                # Arrays in structures are their bytes.
                assert all(value[n].tobytes() == own[n].tobytes() for n in own.dtype.names), path
            elif own.dtype.kind in "SV":
                assert [bytes(v) for v in np.ravel(value)] == [bytes(v) for v in np.ravel(own)], path
            else:
                assert np.array_equal(value, own, equal_nan=own.dtype.kind in "fc"), path
                assert own.dtype.kind == "O" or value.dtype.newbyteorder("=") == own.dtype.newbyteorder("="), path
        if "big" in found:
            attributes = found["big"].attrs
            assert attributes["units"] == "K" and list(attributes["numbers"]) == [1, 2, 3] and attributes["nan"] == "NaN"
            names = found["grid"].metadata.dimension_names if found["grid"].metadata.zarr_format == 3 else None
            assert list(names or found["grid"].attrs["_ARRAY_DIMENSIONS"]) == ["x", "y"]
    print(len(values))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        check(*sys.argv[2:4], sys.argv[4:])
