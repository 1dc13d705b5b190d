"""Numbers of every size and byte order, enumerations, booleans, complex numbers, bit fields."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


for libver in ("earliest", "latest"):
    name = f"numeric_{libver}.h5"
    with h5py.File(name, "w", libver=libver) as file:
        for order, kind, size in product("<>", "iu", (1, 2, 4, 8)):
            info = np.iinfo(f"{kind}{size}")
            values = [info.min, info.min + 1, 0, 1, 2, 77, info.max - 1, info.max]
            text = "little" if order == "<" else "big"
            data = np.array(values, dtype=f"{order}{kind}{size}")
            file.create_dataset(f"{text}/{kind}{size}", data=data)
            file[text].attrs.create(f"{kind}{size}", data)
        for order, size in product("<>", (2, 4, 8)):
            info = np.finfo(f"f{size}")
            values = [0, -0.0, 1, -2.5, 0.1, info.max, info.min, info.tiny, info.smallest_subnormal]
            text = "little" if order == "<" else "big"
            file.create_dataset(f"{text}/f{size}", data=np.array(values, dtype=f"{order}f{size}"))
            special = np.array([np.inf, -np.inf, np.nan], dtype=f"{order}f{size}")
            file.create_dataset(f"{text}/special_f{size}", data=special)
        for size in (8, 16):
            file.create_dataset(f"c{size}", data=(ramp((6,)) + 1j * ramp((6,))).astype(f"c{size}"))
        file.create_dataset("bool", data=np.array([True, False, True]))
        colours = h5py.enum_dtype({"RED": 0, "GREEN": -1, "BLUE": 77}, basetype="i2")
        file.create_dataset("enum", data=np.array([0, -1, 77, 5], dtype=colours), dtype=colours)
        space = h5py.h5s.create_simple((5,))
        for bits, stored in (("8", h5py.h5t.STD_B8LE), ("16", h5py.h5t.STD_B16BE), ("32", h5py.h5t.STD_B32LE)):
            ds = h5py.h5d.create(file.id, f"bits{bits}".encode(), stored, space)
            ds.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(5, dtype=f"u{int(bits) // 8}") * 3 + 1,
                     mtype={"8": h5py.h5t.NATIVE_B8, "16": h5py.h5t.NATIVE_B16, "32": h5py.h5t.NATIVE_B32}[bits])
        odd = h5py.h5t.STD_I32BE.copy()
        odd.set_precision(17)
        odd.set_offset(5)
        ds = h5py.h5d.create(file.id, b"precision", odd, space)
        ds.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([0, 1, -1, 65535, -65536], dtype="i4"))
    # Bit fields, and numbers of fewer bits than their bytes have, are read as stored.
    more = {f"/bits{b}": {"values": None, "digest": digest((np.arange(5) * 3 + 1).astype(f"u{b // 8}"))} for b in (8, 16, 32)}
    value = np.array([0, 1, -1, 65535, -65536], dtype="i4")
    stored = ((value & 0x1ffff) << 5).astype("<u4")
    more["/precision"] = {"digest": digest(stored), "values": None, "blocks": []}
    tell(name, more)
