"""Attributes: few and many, small and big, compact and dense, ordered."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


for libver in ("earliest", "latest"):
    name = f"attributes_{libver}.h5"
    with h5py.File(name, "w", libver=libver) as file:
        few = file.create_group("few")
        few.attrs["number"] = 5
        few.attrs["float"] = 2.5
        few.attrs["text"] = "wörter"
        few.attrs["array"] = ramp((3, 4), "i2")
        few.attrs["empty"] = h5py.Empty("f4")
        few.attrs["no_elements"] = np.zeros((0,), "i4")
        few.attrs["grüße"] = 1
        few.attrs["flag"] = True
        few.attrs["strings"] = ["a", "bc", ""]
        many = file.create_group("many")
        for i in range(120):
            many.attrs[f"attribute {i:03}"] = ramp((i % 5 + 1,)) + i
        ordered = file.create_group("ordered", track_order=True)
        for i in (3, 1, 2, 9, 8, 7, 6, 5, 4, 0):
            ordered.attrs[f"a{i}"] = i
        removed = file.create_group("removed")
        for i in range(40):
            removed.attrs[f"a{i:02}"] = i
        for i in range(0, 40, 3):
            del removed.attrs[f"a{i:02}"]
        on_data = file.create_dataset("data", data=ramp((4,)))
        on_data.attrs["units"] = np.bytes_(b"m s-1")
        if libver == "latest":
            file.create_group("big").attrs["big"] = ramp((8200,), "i8")
    tell(name)
