"""Files of several pieces: family and split."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


def fill(file):
    file.attrs["title"] = "in pieces"
    file.create_dataset("whole", data=ramp((40, 50)))
    file.create_dataset("chunked", data=ramp((40, 50), "f4"), chunks=(7, 9), compression="gzip")
    for i in range(12):
        file.create_dataset(f"group/small{i:02}", data=ramp((3,), "f8") + i)


with h5py.File("pieces_family_%05d.h5", "w", driver="family", memb_size=10000) as file:
    fill(file)
tell("pieces_family_%05d.h5", driver="family", memb_size=10000)

with h5py.File("pieces_split", "w", driver="split") as file:
    fill(file)
tell("pieces_split", driver="split")
