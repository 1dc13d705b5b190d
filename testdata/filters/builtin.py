"""The filters that libhdf5 has."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


with h5py.File("builtin.h5", "w", libver="latest") as file:
    numbers, floats = ramp((23, 17)), ramp((23, 17), "f8") / 16
    for level in (0, 1, 6, 9):
        file.create_dataset(f"deflate{level}", data=numbers, chunks=(8, 8), compression="gzip", compression_opts=level)
    for kind in ("i1", "i2", ">i4", "i8", "f4", ">f8"):
        file.create_dataset(f"shuffle_{kind.replace('>', 'be_')}", data=ramp((23, 17), kind) , chunks=(8, 8), shuffle=True,
                            compression="gzip")
        file.create_dataset(f"szip_{kind.replace('>', 'be_')}", data=ramp((23, 17), kind), chunks=(8, 8),
                            compression="szip", compression_opts=("nn" if "f" not in kind else "ec", 16))
    file.create_dataset("fletcher32", data=numbers, chunks=(8, 8), fletcher32=True)
    file.create_dataset("fletcher32_odd", data=ramp((23, 17), "i1"), chunks=(7, 3), fletcher32=True)
    file.create_dataset("lzf", data=numbers, chunks=(8, 8), compression="lzf")
    file.create_dataset("lzf_shuffle", data=floats, chunks=(8, 8), compression="lzf", shuffle=True)
    file.create_dataset("lzf_runs", data=np.zeros((100, 40), "i4"), chunks=(50, 40), compression="lzf")
    file.create_dataset("scale_offset", data=numbers, chunks=(8, 8), scaleoffset=0)
    file.create_dataset("scale_offset_bits", data=numbers % 100, chunks=(8, 8), scaleoffset=9)
    file.create_dataset("scale_offset_big", data=ramp((23, 17), ">i8"), chunks=(8, 8), scaleoffset=0)
    file.create_dataset("scale_offset_unsigned", data=np.abs(ramp((23, 17))).astype("u2"), chunks=(8, 8), scaleoffset=0)
    file.create_dataset("scale_offset_float", data=np.round(floats, 2), chunks=(8, 8), scaleoffset=2)
    file.create_dataset("scale_offset_f4", data=np.round(floats, 1).astype("f4"), chunks=(8, 8), scaleoffset=3)
    for name, kind, precision, offset in (("nbit", h5py.h5t.STD_I32LE, 14, 3), ("nbit_big", h5py.h5t.STD_I32BE, 15, 0)):
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((8, 8))
        call("H5Pset_nbit", dcpl)
        kind = kind.copy()
        kind.set_precision(precision)
        kind.set_offset(offset)
        ds = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((23, 17)), dcpl)
        ds.write(h5py.h5s.ALL, h5py.h5s.ALL, numbers)
    # Filters in the order that nobody uses.
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk((8, 8))
    dcpl.set_fletcher32()
    dcpl.set_deflate(3)
    dcpl.set_shuffle()
    ds = h5py.h5d.create(file.id, b"unusual_order", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((23, 17)), dcpl)
    ds.write(h5py.h5s.ALL, h5py.h5s.ALL, numbers)
# h5py gives these numbers converted; the stored bytes are others.
tell("builtin.h5", {
    "/nbit": {"digest": digest(((numbers & 0x3fff) << 3).astype("u4")), "values": None, "blocks": []},
    "/nbit_big": {"digest": digest((numbers & 0x7fff).astype("u4")), "values": None, "blocks": []},
})

# A filter that has a number and a maker and is decoded nowhere here, beside a dataset without any.
with h5py.File("undecoded.h5", "w") as file:
    file["plain"] = numbers
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk((23, 17))
    dcpl.set_filter(32017, h5py.h5z.FLAG_OPTIONAL, ())
    ds = h5py.h5d.create(file.id, b"sz", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((23, 17)), dcpl)
    ds.write_direct_chunk((0, 0), b"who knows")
