#!/usr/bin/env python3
"""Makes files whose filters stand in orders that libhdf5 allows and nobody means: n-bit and scale-offset after a compressor.

    orders.py FOLDER

These two take the chunk's numbers of elements for granted, so that libhdf5 reads memory behind what the compressor gave
and stores it. Each file is written and read in a process of its own, as libhdf5 may fall over; what it does not read back
is deleted. `extract.py` takes the chunks out. Needs h5py and numpy.
"""
import multiprocessing
import os
import sys

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5z

STEPS = {
    "deflate": lambda dcpl: dcpl.set_deflate(4),
    "lzf": lambda dcpl: dcpl.set_filter(h5z.FILTER_LZF, h5z.FLAG_OPTIONAL),
    "shuffle": lambda dcpl: dcpl.set_shuffle(),
    "nbit": lambda dcpl: dcpl.set_filter(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL),
    "scaleoffset": lambda dcpl: dcpl.set_scaleoffset(h5z.SO_INT, 0),
    "fletcher32": lambda dcpl: dcpl.set_fletcher32(),
}
ORDERS = ["lzf nbit", "deflate nbit", "deflate scaleoffset", "shuffle deflate scaleoffset", "deflate scaleoffset fletcher32",
          "scaleoffset deflate", "deflate scaleoffset deflate", "lzf scaleoffset"]
SHAPES = {"<i4": 1000, ">i4": 1000, "<i2": 999, "i1": 1001}


def make(path, order, kind):
    numbers = (np.arange(SHAPES[kind]) // 11).astype(kind)
    dcpl = h5p.create(h5p.DATASET_CREATE)
    dcpl.set_chunk(numbers.shape)
    for step in order.split():
        STEPS[step](dcpl)
    with h5py.File(path, "w") as f:
        kind = h5py.h5t.py_create(numbers.dtype)
        h5d.create(f.id, b"data", kind, h5s.create_simple(numbers.shape), dcpl=dcpl).write(h5s.ALL, h5s.ALL, numbers)
    with h5py.File(path) as f:
        assert (f["data"][...] == numbers).all()


def main():
    for order in ORDERS:
        for kind in SHAPES:
            path = os.path.join(sys.argv[1], f"order_{order.replace(' ', '_')}_{kind[-2:]}{'_big' * (kind[0] == '>')}.h5")
            process = multiprocessing.Process(target=make, args=(path, order, kind))
            process.start()
            process.join()
            print(path, "is read back" if process.exitcode == 0 else "is not")
            if process.exitcode:
                os.remove(path)


if __name__ == "__main__":
    main()
