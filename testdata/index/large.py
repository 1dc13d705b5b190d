"""Indexes that are large: fixed arrays in pages, extensible arrays with secondary blocks and pages, deep trees."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


def make(name, libver, kinds, count, filtered):
    options = dict(compression="gzip") if filtered else {}
    with h5py.File(name, "w", libver=libver) as file:
        data = (np.arange(count) % 120).astype("i1")
        for kind in kinds:
            if kind == "tree":
                file.create_dataset("tree", data=data[:count // 20 * 20].reshape(-1, 20), chunks=(1, 1),
                                    maxshape=(None, None), **options)
                continue
            about = dict(chunks=(1,), maxshape=(None,) if kind == "extensible" else None, **options)
            file.create_dataset(kind, data=data, **about)
            # A fixed array is stored whole, an extensible one only where there are chunks.
            times = 2 if kind == "fixed" else 20
            sparse = file.create_dataset(f"{kind}_sparse", shape=(count * times,), dtype="i1", fillvalue=3, **about)
            sparse[count * (times - 1):count * (times - 1) + 40] = 7
    tell(name)


# Every chunk is one byte, so that the index is what is large.
make("large_latest.h5", "latest", ["fixed", "extensible"], 1100, False)
make("large_tree.h5", "latest", ["tree"], 1100, False)
make("large_fixed_filtered.h5", "latest", ["fixed"], 1030, True)
make("large_extensible_filtered.h5", "latest", ["extensible"], 700, True)
make("large_tree_filtered.h5", "latest", ["tree"], 700, True)
make("large_earliest.h5", "earliest", ["fixed"], 400, False)
