"""Compact, contiguous and chunked data, empty ones, and what was never written."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


for libver in ("earliest", "latest"):
    name = f"layouts_{libver}.h5"
    with h5py.File(name, "w", libver=libver) as file:
        def low(path, shape, dtype, prepare, data=None, maxshape=None):
            dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            prepare(dcpl)
            space = h5py.h5s.create_simple(shape, maxshape)
            ds = h5py.h5d.create(file.id, path.encode(), h5py.h5t.py_create(np.dtype(dtype)), space, dcpl)
            if data is not None:
                h5py.Dataset(ds)[...] = data
            return h5py.Dataset(ds)

        low("compact", (5, 7), "i4", lambda p: p.set_layout(h5py.h5d.COMPACT), ramp((5, 7)))
        low("compact_unwritten", (5,), "i4", lambda p: p.set_layout(h5py.h5d.COMPACT))
        file["contiguous"] = ramp((5, 7, 3), "f8")
        file["scalar"] = 3.25
        file["null"] = h5py.Empty("f4")
        file.create_dataset("no_elements", shape=(0, 3), dtype="i4")
        file.create_dataset("no_elements_yet", shape=(0, 3), maxshape=(None, 3), dtype="i4")
        file.create_dataset("unwritten", shape=(4, 4), dtype="i4")
        file.create_dataset("unwritten_fill", shape=(4, 4), dtype="i4", fillvalue=-7)
        file.create_dataset("unwritten_chunks", shape=(9, 4), dtype=">f8", fillvalue=1.5, chunks=(4, 3))
        file.create_dataset("few_chunks", shape=(20, 20), dtype="i2", fillvalue=9, chunks=(4, 4), compression="gzip")
        file["few_chunks"][5:7, 3:12] = ramp((2, 9), "i2")
        file.create_dataset("larger_maximum", data=ramp((5, 6)), maxshape=(17, 29), chunks=(2, 3))
        file.create_dataset("chunk_larger_than_shape", data=ramp((3, 2)), maxshape=(10, 10), chunks=(10, 10))
        early = lambda p: (p.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY), p.set_fill_value(np.array(5, "i4")))
        low("early", (6,), "i4", early)
        low("early_never_filled", (6,), "i4", lambda p: (early(p), p.set_fill_time(h5py.h5d.FILL_TIME_NEVER)), ramp((6,)))
        fill = np.array((1, 2.5), dtype=[("a", "i4"), ("b", "f8")])
        file.create_dataset("compound_fill", shape=(6,), dtype=fill.dtype, chunks=(4,), fillvalue=fill)
        for rank in range(1, 7):
            file.create_dataset(f"rank{rank}", data=ramp((3,) * rank, "i2"), chunks=(2,) * rank)
    tell(name)
