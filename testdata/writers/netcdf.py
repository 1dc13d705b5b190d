"""Written and read by netCDF4."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *

import netCDF4

with netCDF4.Dataset("netcdf.nc", "w") as nc:
    nc.title = "of netCDF4"
    nc.createDimension("time", None)
    nc.createDimension("x", 7)
    time = nc.createVariable("time", "f8", ("time",))
    time.units = "days since 2000-01-01"
    time[:] = np.arange(5) / 4
    x = nc.createVariable("x", "i4", ("x",))
    x[:] = np.arange(7)
    data = nc.createVariable("data", "f4", ("time", "x"), zlib=True, shuffle=True, fletcher32=True, chunksizes=(2, 7),
                             fill_value=-1)
    data.valid_min = np.int16(3)
    data[:] = ramp((5, 7), "f4")
    group = nc.createGroup("group")
    text = group.createVariable("text", str, ("x",))
    for i in range(7):
        text[i] = "ä" * i
    big = group.createVariable("big", ">i8", ("time", "x"), endian="big")
    big[:] = ramp((5, 7), "i8")
    codes = group.createVariable("chars", "S1", ("x",))
    codes[:] = np.array(list("abcdefg"), "S1")
with netCDF4.Dataset("netcdf.nc") as nc:
    nc.set_auto_mask(False)
    group = nc["group"]
    tell_arrays("netcdf.nc", "netCDF4", {
        "/time": nc["time"][:], "/x": nc["x"][:], "/data": nc["data"][:], "/group/text": group["text"][:],
        "/group/big": group["big"][:], "/group/chars": group["chars"][:],
    }, {"/": {"title": nc.title}, "/time": {"units": nc["time"].units}, "/data": {"valid_min": [nc["data"].valid_min]}})
