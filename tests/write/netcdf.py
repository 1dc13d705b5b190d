#!/usr/bin/env python3
"""A file that the tests wrote as netCDF-4 has it, as the netCDF library sees it, and as it is after that has appended.
Needs netCDF4 and h5py.

  netcdf.py FILE      checks FILE, appends a time to it, and checks again
"""
import sys

import h5py
import netCDF4
import numpy as np


def check(name, times):
    with netCDF4.Dataset(name) as file:
        assert {name: (len(d), d.isunlimited()) for name, d in file.dimensions.items()} == \
            {"time": (times, True), "station": (3, False)}, file.dimensions
        rain = file["rain"]
        assert rain.dimensions == ("time", "station") and rain.units == "mm" and rain.shape == (times, 3)
        assert np.array_equal(rain[:4].data, np.arange(12).reshape(4, 3))
        assert file["time"].dimensions == ("time",) and list(file["time"][:4]) == [0, 6, 12, 18]
        assert list(file["name"][:]) == ["Kiel", "Köln", "Zug"] and file["name"].dimensions == ("station",)
        assert file.title == "Rain" and list(file.variables) == ["time", "rain", "name"]


if __name__ == "__main__":
    check(sys.argv[1], 4)
    with netCDF4.Dataset(sys.argv[1], "a") as file:
        file["time"][4] = 24
        file["rain"][4] = [7, 8, 9]
        file.createVariable("new", "f4", ("time", "station"))[:] = 1
    with netCDF4.Dataset(sys.argv[1]) as file:
        assert list(file["rain"][4]) == [7, 8, 9] and file["new"].shape == (5, 3)
    with h5py.File(sys.argv[1]) as file:
        assert file["rain"].dims[0][0] == file["time"] and file["rain"].dims[1][0] == file["station"]
        assert h5py.h5ds.is_scale(file["time"].id) and file["station"].attrs["NAME"].startswith(b"This is a netCDF")
