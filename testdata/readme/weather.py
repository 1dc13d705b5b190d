"""The example of the README: a small file of weather, much as netCDF-4 has it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


with h5py.File("weather.h5", "w", libver=("earliest", "v110")) as file:
    file.attrs["title"] = "A week of weather"
    file.attrs["institution"] = "nobody"
    surface = file.create_group("surface")
    time = file.create_dataset("time", data=np.arange(28, dtype="i4") * 6)
    time.attrs["units"] = "hours since 2024-01-01"
    lat = file.create_dataset("lat", data=np.linspace(45, 55, 11, dtype="f4"))
    lat.attrs["units"] = "degrees_north"
    lon = file.create_dataset("lon", data=np.linspace(5, 15, 16, dtype="f4"))
    lon.attrs["units"] = "degrees_east"
    t, y, x = np.meshgrid(np.arange(28), np.arange(11), np.arange(16), indexing="ij")
    field = 280 + 6 * np.sin(t * np.pi / 2) - 0.4 * y + 0.1 * x
    temperature = surface.create_dataset("temperature", data=np.round(field, 1).astype("f4"), chunks=(4, 11, 16),
                                         maxshape=(None, 11, 16), shuffle=True, compression="gzip", fillvalue=-999)
    temperature.attrs["units"] = "K"
    temperature.attrs["long_name"] = "air temperature at 2 m"
    temperature.attrs["valid_range"] = np.array([180, 330], "f4")
    for axis, scale in enumerate((time, lat, lon)):
        scale.make_scale(scale.name.strip("/"))
        temperature.dims[axis].attach_scale(scale)
    rain = surface.create_dataset("rain", shape=(28, 11, 16), dtype="i2", chunks=(7, 11, 16), compression="gzip", fillvalue=0)
    rain[8:12] = ramp((4, 11, 16), "i2") % 40
    rain.attrs["scale_factor"] = 0.1
    stations = file.create_group("stations")
    names = ["Brocken", "Zugspitze", "Hohenpeißenberg", "Helgoland", "Łódź"]
    stations.create_dataset("name", data=names, dtype=h5py.string_dtype())
    table = np.dtype([("latitude", "f4"), ("longitude", "f4"), ("height", "i2"), ("code", "S4")])
    rows = [(51.8, 10.6, 1134, b"BROC"), (47.4, 11.0, 2956, b"ZUGS"), (47.8, 11.0, 977, b"HOHP"),
            (54.2, 7.9, 4, b"HELG"), (51.7, 19.4, 184, b"LODZ")]
    stations.create_dataset("place", data=np.array(rows, dtype=table))
    stations["highest"] = h5py.SoftLink("/stations/place")
tell("weather.h5")
