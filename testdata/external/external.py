"""Raw data in other files."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


with h5py.File("external.h5", "w") as file:
    file.create_dataset("one", data=ramp((6, 5)), external=[("external_one.raw", 0, h5py.h5f.UNLIMITED)])
    file.create_dataset("pieces", data=ramp((30,), "f8"),
                        external=[("external_a.raw", 8, 80), ("external_b.raw", 0, 80), ("external_a.raw", 88, 80)])
tell("external.h5")
