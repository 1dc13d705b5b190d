"""A file that was copied while its writer had it open."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *

import shutil

with h5py.File("open_writer.tmp", "w", libver="latest") as file:
    data = file.create_dataset("data", shape=(0, 4), maxshape=(None, 4), chunks=(3, 4), dtype="i4")
    file.swmr_mode = True
    data.resize((10, 4))
    data[...] = ramp((10, 4))
    data.flush()
    shutil.copy("open_writer.tmp", "open_writer.h5")
os.replace("open_writer.tmp", "open_writer.closed")
# The closed file reads the same, and can be read.
os.replace("open_writer.h5", "open_writer.open")
os.replace("open_writer.closed", "open_writer.h5")
tell("open_writer.h5")
os.replace("open_writer.open", "open_writer.h5")
