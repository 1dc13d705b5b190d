"""Filters of hdf5plugin that are decoded here."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *

import hdf5plugin

with h5py.File("plugins.h5", "w", libver="latest") as file:
    filters = {
        "blosc_lz": hdf5plugin.Blosc(cname="blosclz"), "blosc_lz4": hdf5plugin.Blosc(cname="lz4", shuffle=2),
        "blosc_zlib": hdf5plugin.Blosc(cname="zlib"), "blosc_zstd": hdf5plugin.Blosc(cname="zstd"),
        "blosc2": hdf5plugin.Blosc2(cname="zstd"), "lz4": hdf5plugin.LZ4(), "zstd": hdf5plugin.Zstd(),
        "bitshuffle": hdf5plugin.Bitshuffle(cname="none"), "bitshuffle_lz4": hdf5plugin.Bitshuffle(cname="lz4"),
        "bitshuffle_zstd": hdf5plugin.Bitshuffle(cname="zstd"), "bzip2": hdf5plugin.BZip2(),
    }
    for name, filter in filters.items():
        for kind in ("i2", "f8"):
            file.create_dataset(f"{name}_{kind}", data=ramp((23, 17), kind), chunks=(9, 8), **filter)
tell("plugins.h5")
