"""Groups of each kind, links of each kind, comments, committed datatypes."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


for libver in ("earliest", "latest"):
    name = f"groups_{libver}.h5"
    with h5py.File(name, "w", libver=libver) as file:
        file.create_group("empty")
        few = file.create_group("few")
        for i in range(5):
            few.create_group(f"g{i}")
        many = file.create_group("many")
        for i in range(60):
            many.create_dataset(f"number {i:03}", data=i)
        file.create_group("ordered", track_order=True)
        for i in (5, 3, 9, 1, 7, 2, 8, 4, 6, 0):
            file["ordered"].create_dataset(f"n{i}", data=i)
        deep = file
        for i in range(30):
            deep = deep.create_group(f"level{i}")
        deep["bottom"] = 7
        links = file.create_group("links")
        links["hard"] = few
        links["soft"] = h5py.SoftLink("/many/number 003")
        links["relative"] = h5py.SoftLink("hard/g1")
        links["dangling"] = h5py.SoftLink("/nowhere")
        links["outside"] = h5py.ExternalLink("groups_other.h5", "/there")
        links["cycle"] = file["/"]
        file["grüße, 世界"] = np.arange(3)
        file["a name of more than eight bytes, and of more than sixty-four, so that heaps must grow for it"] = 1
        file["/"].id.set_comment(b"many", b"many numbers")
        file["a type"] = np.dtype([("x", "<f4"), ("n", "<i2")])
        file.create_dataset("typed", shape=(3,), dtype=file["a type"])
        file["typed"].attrs.create("also", 3, dtype="i8")
        comment = file["/"].id.get_comment(b"many").decode()
    tell(name, {"/many": {"comment": comment}})
with h5py.File("groups_other.h5", "w") as file:
    file["there"] = ramp((4,))
tell("groups_other.h5")
