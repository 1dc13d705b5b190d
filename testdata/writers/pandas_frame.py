"""Written and read by pandas."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *

import pandas as pd

frame = pd.DataFrame({"a": np.arange(6, dtype="i8"), "b": np.arange(6) / 4, "c": np.arange(6)[::-1].astype("i8")})
frame.to_hdf("pandas_frame.h5", key="fixed", format="fixed")
series = pd.Series(np.arange(5) * 1.5)
series.to_hdf("pandas_frame.h5", key="series", format="fixed")
read = pd.read_hdf("pandas_frame.h5", "fixed")
tell_arrays("pandas_frame.h5", "pandas", {
    "/fixed/axis1": read.index.to_numpy(),
    "/fixed/block0_values": read[["b"]].to_numpy(),
    "/fixed/block1_values": read[["a", "c"]].to_numpy(),
    "/series/values": pd.read_hdf("pandas_frame.h5", "series").to_numpy(),
})
