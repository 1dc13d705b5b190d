"""Arrays of many chunks of one element under every chunk index: element [i, j] is 120 * i + j."""

import sys

import h5py
import numpy as np

SHAPE = (260, 120)
LARGER = (300, 130)


def main(path):
    array = np.arange(np.prod(SHAPE), dtype="<u4").reshape(SHAPE)
    for libver in ("earliest", "latest"):
        with h5py.File(f"{path}/{libver}.h5", "w", libver=libver) as file:
            maxima = {"fixed": None, "rows": (None, 130), "columns": (300, None), "both": (None, None), "larger": LARGER}
            for name, largest in maxima.items():
                for kind, how in {"plain": {}, "checked": {"fletcher32": True}}.items():
                    file.create_dataset(f"{name}_{kind}", data=array, chunks=(1, 1), maxshape=largest, **how)
                sparse = file.create_dataset(f"{name}_sparse", SHAPE, "<u4", chunks=(1, 1), maxshape=largest)
                sparse[100:104] = array[100:104]
                sparse[7, 90:] = array[7, 90:]
            early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            early.set_chunk((1, 1))
            early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            space = h5py.h5s.create_simple(SHAPE, LARGER)
            dataset = h5py.h5d.create(file.id, b"early", h5py.h5t.STD_U32LE, space, early)
            h5py.Dataset(dataset)[...] = array


main(sys.argv[1])
