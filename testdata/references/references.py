"""References to objects and regions, old and new."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *



def path(text):
    return struct.pack("<Q", len(text)) + text.encode()


for libver in ("earliest", "latest"):
    name = f"references_{libver}.h5"
    with h5py.File(name, "w", libver=libver) as file:
        target = file.create_dataset("group/target", data=ramp((8, 9)))
        objects = file.create_dataset("objects", shape=(4,), dtype=h5py.ref_dtype)
        objects[0], objects[1], objects[2] = target.ref, file["group"].ref, file.ref
        file.create_dataset("regions", shape=(2,), dtype=h5py.regionref_dtype)
        file["regions"][0] = target.regionref[2:5, 1:4]
        file["regions"][1] = target.regionref[::3, ::2]
        compound = np.dtype([("n", "i4"), ("where", h5py.ref_dtype)])
        file.create_dataset("compound", data=np.array([(5, target.ref)], dtype=compound), dtype=compound)
        file.attrs.create("reference", target.ref, dtype=h5py.ref_dtype)

    def sha(data):
        return hashlib.sha256(data).hexdigest()

    with h5py.File(name) as file:
        told = b"".join(path(file[r].name) if r else path("") for r in file["objects"])
        compound = file["compound"][0]
        numbers = struct.pack("<i", compound["n"]) + path(file[compound["where"]].name)
        regions = b""
        for reference in file["regions"]:
            space = h5py.h5r.get_region(reference, file.id)
            low, high = space.get_select_bounds()
            mask = np.zeros((8, 9), bool)
            flat = np.arange(72).reshape(8, 9)
            start, stride, count, block = space.get_regular_hyperslab()
            axes = [[s + i * st + k for i in range(c) for k in range(b)]
                    for s, st, c, b in zip(start, stride, count, block)]
            mask[np.ix_(*axes)] = True
            indices = flat[mask]
            assert len(indices) == space.get_select_npoints()
            values = [2, len(indices), *low, *high, *indices]
            regions += path(file[reference].name) + b"\x03" + struct.pack(f"<{len(values)}Q", *map(int, values))
        attribute = {"shape": [], "digest": sha(path(file[file.attrs["reference"]].name))}
    tell(name, {"/objects": {"digest": sha(told)}, "/regions": {"digest": sha(regions)},
                "/compound": {"digest": sha(numbers)}, "/": {"attributes": {"reference": attribute}}})
