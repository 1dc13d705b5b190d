"""Virtual datasets whose sources, in another file, have elements of other types; strings and sequences."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *

# No enumerations, which h5py reads as their numbers, and no sequences of another byte order, which it mixes up.
SIZE = 5
pair = np.dtype([("a", "<i4"), ("b", ">f8")])
# Name, type of the source, its elements, type of the virtual dataset.
CASES = [
    ("texts", h5py.string_dtype(), ["some", "", "text", "of any", "length"], h5py.string_dtype()),
    ("sequences", h5py.vlen_dtype("<i4"), [np.arange(i) - 2 for i in range(SIZE)], h5py.vlen_dtype("<i4")),
    ("wider_sequences", h5py.vlen_dtype("<i4"), [np.arange(i) - 2 for i in range(SIZE)], h5py.vlen_dtype("<i8")),
    ("longer", "S3", [b"abc", b"a", b"", b"xy", b"zzz"], "S5"),
    ("shorter", "S3", [b"abc", b"a", b"", b"xy", b"zzz"], "S2"),
    ("members", pair, [(i, i / 4) for i in range(SIZE)], np.dtype([("b", "<f4"), ("a", "<i8")])),
    ("arrays", np.dtype(("<i4", (2,))), [[i, -i] for i in range(SIZE)], np.dtype((">i8", (2,)))),
]

with h5py.File("converted_source.h5", "w", libver="latest") as file:
    for name, source, values, _ in CASES:
        dataset = file.create_dataset(name, (SIZE,), dtype=source)
        for i, value in enumerate(values):
            dataset[i] = value
tell("converted_source.h5")

with h5py.File("converted.h5", "w", libver="latest") as file:
    for name, source, _, target in CASES:
        layout = h5py.VirtualLayout(shape=(SIZE + 1,), dtype=target)
        layout[:SIZE] = h5py.VirtualSource("converted_source.h5", name, shape=(SIZE,), dtype=source)
        file.create_virtual_dataset(name, layout)
tell("converted.h5")
