#!/usr/bin/env python3
"""Random files that the tests wrote, as h5py sees them. Needs h5py and hdf5plugin.

  trees.py FOLDER     compares every FOLDER/*.h5 with what FOLDER/*.json says was written
"""
import glob
import hashlib
import json
import sys

import h5py
import hdf5plugin  # noqa: F401
import numpy as np


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def same(found, wanted, what):
    if wanted["kind"] == "bytes":
        raw = np.ascontiguousarray(found)
        if raw.dtype.byteorder == ">":
            raw = raw.byteswap()
        assert hashlib.sha256(raw.tobytes()).hexdigest() == wanted["sha256"], f"{what}: {found}"
    elif wanted["kind"] == "texts":
        assert [text(value) for value in np.ravel(found)] == wanted["values"], f"{what}: {found}"
    elif wanted["kind"] == "sequences":
        # A scalar is a sequence itself.
        found = np.ravel(found) if found.dtype == object else [found]
        assert [list(map(int, value)) for value in found] == wanted["values"], f"{what}: {found}"


def check(name):
    with open(name.removesuffix(".h5") + ".json", encoding="utf-8") as wanted, h5py.File(name) as file:
        wanted = json.load(wanted)
        paths = []
        file.visit(lambda path: paths.append(path) and None)
        assert sorted(paths) == sorted(wanted["objects"]), f"{name}: {sorted(paths)}"
        for path, about in wanted["objects"].items():
            found = file[path]
            what = f"{name}: {path}"
            assert isinstance(found, h5py.Dataset if "shape" in about else h5py.Group), what
            if "shape" in about:
                assert list(found.shape) == about["shape"], f"{what}: {found.shape}, wanted {about['shape']}"
                assert list(found.maxshape) == about["max_shape"], f"{what}: {found.maxshape}"
                try:
                    values = found[()]
                except OSError as error:
                    raise AssertionError(f"{what}, filters {found._filters}: {error}") from error
                same(values, about["data"], what)
            assert sorted(found.attrs) == sorted(about["attributes"]), what
            for attribute, value in about["attributes"].items():
                same(found.attrs[attribute], value, f"{what}@{attribute}")


if __name__ == "__main__":
    names = sorted(glob.glob(sys.argv[1] + "/*.h5"))
    for name in names:
        check(name)
    print(len(names))
