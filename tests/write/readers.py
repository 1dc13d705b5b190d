#!/usr/bin/env python3
"""Readers that have nothing to do with h5py, beside it: each has to find the same numbers in a file.

  readers.py pyfive FILE       reads HDF5 in Python alone
  readers.py tables FILE       PyTables, with a libhdf5 of its own
  readers.py js FILE FOLDER    h5wasm and jsfive, where npm has installed them; needs node
"""
import json
import pathlib
import subprocess
import sys

import h5py
import hdf5plugin  # noqa: F401
import numpy as np

# Pyfive decodes no n-bit and no scale-offset, and bears neither chunks that nobody wrote nor external links; h5wasm has no
# half precision. Elements of "any" that nobody wrote may have any value. What libhdf5 2.0 alone reads is not for 1.14.
LEFT_OUT = {"pyfive": ("nbit", "scale_offset", "late", "any", "links"), "tables": ("any", "elsewhere"), "js": ("any", "elsewhere", "f16")}


def numbers(name, reader):
    with h5py.File(name) as file:
        found = {}

        def visit(path, o):
            is_array = isinstance(o, h5py.Dataset) and o.shape and o.dtype.kind in "iuf" and not o.external
            if is_array and o.size and not any(part in path for part in LEFT_OUT[reader]):
                found[path] = o[()]

        file.visititems(visit)
    assert len(found) > 20, found.keys()
    return found


def pyfive(name):
    import pyfive

    file = pyfive.File(name)
    for path, wanted in numbers(name, "pyfive").items():
        assert np.array_equal(file[path][()], wanted), path


def tables(name):
    import tables

    file = tables.open_file(name)
    for path, wanted in numbers(name, "tables").items():
        assert np.array_equal(file.get_node(f"/{path}").read(), wanted), path


def is_for_jsfive(path):
    return path.startswith("layouts/whole/") and not path.endswith(("nbit", "scale_offset"))


def js(name, folder):
    script = pathlib.Path(__file__).with_name("readers.mjs")
    wanted = numbers(name, "js")
    for reader in "h5wasm", "jsfive":
        paths = [path for path in wanted if reader == "h5wasm" or is_for_jsfive(path)]
        command = ["node", script, reader, folder, name, *paths]
        said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for path in paths:
            found = np.array([float(number) for number in said[path]["values"]])
            assert said[path]["shape"] == list(wanted[path].shape), f"{reader}: {path}"
            assert np.array_equal(found, wanted[path].ravel().astype("f8")), f"{reader}: {path}"


if __name__ == "__main__":
    {"pyfive": pyfive, "tables": tables, "js": js}[sys.argv[1]](*sys.argv[2:])
