"""Written and read by PyTables."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *

import tables

with tables.open_file("pytables.h5", "w") as file:
    table = file.create_table("/", "table", chunkshape=(16,), description=np.dtype([("n", "i4"), ("x", "f8"), ("name", "S6"), ("v", "i2", (3,))]),
                              filters=tables.Filters(complevel=5, complib="zlib", shuffle=True))
    row = table.row
    for i in range(50):
        row["n"], row["x"], row["name"], row["v"] = i, i / 8, f"row{i}", [i, -i, 2 * i]
        row.append()
    table.flush()
    file.create_array("/", "array", ramp((4, 6)))
    file.create_carray("/", "carray", obj=ramp((20, 10), "f4"), chunkshape=(6, 4),
                       filters=tables.Filters(complevel=5, complib="blosc"))
    earray = file.create_earray("/deep/group", "earray", tables.Int64Atom(), (0, 3), createparents=True, chunkshape=(4, 3))
    earray.append(ramp((7, 3), "i8"))
    vlarray = file.create_vlarray("/", "vlarray", tables.Int32Atom(), chunkshape=4)
    for n in (2, 0, 5):
        vlarray.append(ramp((n,)))
with tables.open_file("pytables.h5") as file:
    arrays = {path: file.get_node(path)[:] for path in ("/table", "/array", "/carray", "/deep/group/earray")}
    tell_arrays("pytables.h5", "PyTables", arrays, {"/array": {"CLASS": file.get_node("/array").attrs.CLASS}})
