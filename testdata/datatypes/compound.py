"""Compounds, arrays, opaque data, sequences, and these in each other."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


for libver in ("earliest", "latest"):
    name = f"compound_{libver}.h5"
    with h5py.File(name, "w", libver=libver) as file:
        point = np.dtype([("x", "<f4"), ("y", ">f8")])
        points = np.zeros(5, dtype=point)
        points["x"], points["y"] = ramp((5,), "f4"), ramp((5,), "f8") / 7
        file["points"] = points
        padded = np.dtype({"names": ["a", "b"], "formats": ["<i2", "<u8"], "offsets": [3, 16], "itemsize": 40})
        values = np.zeros(4, dtype=padded)
        values["a"], values["b"] = ramp((4,), "i2"), ramp((4,), "u8")
        file["padded"] = values
        nested = np.dtype([("id", "i4"), ("where", point), ("history", "<i2", (2, 3)), ("name", "S5"),
                           ("path", point, (2,))])
        values = np.zeros((2, 3), dtype=nested)
        values["id"] = ramp((2, 3))
        values["history"] = ramp((2, 3, 2, 3), "i2")
        values["where"]["y"] = ramp((2, 3), "f8")
        values["path"]["x"] = ramp((2, 3, 2), "f4")
        values["name"] = [[b"a", b"", b"abcde"], [b"xy", b"z", b"q"]]
        file.create_dataset("nested", data=values, chunks=(1, 2), compression="gzip", shuffle=True)
        mixed = np.dtype([("label", h5py.string_dtype()), ("n", "i8"), ("flag", bool)])
        file["mixed"] = np.array([("one", 1, True), ("zwei", -2, False), ("", 3, True)], dtype=mixed)
        file.attrs.create("point", points[1], dtype=point)
        file.attrs.create("table", points)
        array = np.dtype(("<i4", (2, 2)))
        ds = file.create_dataset("arrays", shape=(3,), dtype=array)
        ds[...] = ramp((3, 2, 2))
        opaque = np.array(["2020-01-01", "1969-07-20"], dtype="M8[s]")
        file.create_dataset("opaque", data=opaque.astype(h5py.opaque_dtype(opaque.dtype)))
        sequences = file.create_dataset("sequences", shape=(4,), dtype=h5py.vlen_dtype(np.dtype("<i4")))
        for i, count in enumerate((3, 0, 5)):
            sequences[i] = ramp((count,)) + i
        big = file.create_dataset("big_sequences", shape=(2,), dtype=h5py.vlen_dtype(np.dtype(">f8")))
        big[0], big[1] = ramp((700,), "f8"), ramp((2,), "f8")
    # h5py gives the stored bytes of big-endian sequences as if they were little-endian: it is told what was written.
    written = b"".join(struct.pack("<Q", n) + ramp((n,), "<f8").tobytes() for n in (700, 2))
    more = {"/opaque": {"digest": digest(opaque.astype("i8")), "blocks": []},
            "/big_sequences": {"digest": hashlib.sha256(written).hexdigest()}}
    tell(name, more)
