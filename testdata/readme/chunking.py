"""The arrays of the guide to chunking: a square in tiles, a column in stretches."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *

with h5py.File("chunking.h5", "w") as file:
    file.create_dataset("square", data=np.arange(144, dtype="i4").reshape(12, 12), chunks=(4, 4), compression="gzip")
    file.create_dataset("column", data=np.arange(100, dtype="f8").reshape(100, 1) / 4, chunks=(10, 1),
                        maxshape=(None, 1), shuffle=True, compression="gzip")
tell("chunking.h5")
