"""Datasets of one array in all layouts: element n is n * 2654435761 + (n >> 7), modulo 2 ** 32."""

import sys

import h5py
import numpy as np

SHAPE = (61, 53, 47)


def main(path):
    number = np.arange(np.prod(SHAPE), dtype=np.uint64)
    array = ((number * 2654435761 + (number >> 7)) & 0xFFFFFFFF).astype("<u4").reshape(SHAPE)
    chunked = {
        "rows": dict(chunks=(7, 20, 47), compression="gzip", compression_opts=1, shuffle=True),
        "blocks": dict(chunks=(16, 16, 16), compression="gzip", compression_opts=1),
        "thin": dict(chunks=(61, 53, 3), compression="lzf"),
        "single": dict(chunks=SHAPE, compression="gzip", compression_opts=1),
        "pieces": dict(chunks=(1, 53, 47)),
        "plain": dict(chunks=(9, 10, 11)),
        "growing": dict(chunks=(5, 53, 47), maxshape=(None, 53, 47), compression="gzip", compression_opts=1),
        "checked": dict(chunks=(10, 53, 24), maxshape=(None, None, 47), fletcher32=True),
        "contiguous": {},
    }
    for libver in ("earliest", "latest"):
        with h5py.File(f"{path}/{libver}.h5", "w", libver=libver) as file:
            for name, how in chunked.items():
                file.create_dataset(name, data=array, **how)
            sparse = file.create_dataset("sparse", SHAPE, "<u4", chunks=(7, 20, 47), compression="gzip", fillvalue=7)
            sparse[20:30] = array[20:30]
            stacked = h5py.VirtualLayout(SHAPE, "<u4")
            beside = h5py.VirtualLayout(SHAPE, "<u4")
            for part, name in enumerate(("rows", "pieces", "contiguous", "thin")):
                source, rows = h5py.VirtualSource(".", name, SHAPE), slice(part * 16, min(part * 16 + 16, 61))
                stacked[rows] = source[rows]
                columns = slice(part * 12, min(part * 12 + 12, 47))
                beside[:, :, columns] = source[:, :, columns]
            file.create_virtual_dataset("stacked", stacked)
            file.create_virtual_dataset("beside", beside)


main(sys.argv[1])
