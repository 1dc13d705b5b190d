"""Virtual datasets: of other files, of the same, interleaved, unlimited, numbered, with sources that are missing."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


for i in range(3):
    with h5py.File(f"virtual_source{i}.h5", "w", libver="latest") as file:
        file.create_dataset("data", data=ramp((4, 5)) + 10000 * i)
        file.create_dataset("growing", data=ramp((3 + i, 4)) + 10000 * i, maxshape=(None, 4), chunks=(2, 2))
    tell(f"virtual_source{i}.h5")

with h5py.File("virtual.h5", "w", libver="latest") as file:
    stack = h5py.VirtualLayout(shape=(3, 4, 5), dtype="i4")
    interleaved = h5py.VirtualLayout(shape=(12, 5), dtype="i4")
    for i in range(3):
        source = h5py.VirtualSource(f"virtual_source{i}.h5", "data", shape=(4, 5))
        stack[i] = source
        interleaved[i::3] = source
    file.create_virtual_dataset("stack", stack, fillvalue=-1)
    file.create_virtual_dataset("interleaved", interleaved)
    partial = h5py.VirtualLayout(shape=(6, 6), dtype="i4")
    partial[1:3, 2:5] = h5py.VirtualSource("virtual_source1.h5", "data", shape=(4, 5))[1:3, 0:3]
    partial[5, 0:4] = h5py.VirtualSource("virtual_nowhere.h5", "data", shape=(4, 5))[0, 0:4]
    file.create_virtual_dataset("partial", partial, fillvalue=-9)
    file["here"] = ramp((10,))
    same = h5py.VirtualLayout(shape=(5,), dtype="i4")
    same[:] = h5py.VirtualSource(file["here"])[0:10:2]
    file.create_virtual_dataset("same_file", same)
    wider = h5py.VirtualLayout(shape=(10,), dtype="f8")
    wider[:] = h5py.VirtualSource(".", "here", shape=(10,))
    file.create_virtual_dataset("other_numbers", wider)
    unlimited = h5py.VirtualLayout(shape=(4, 4), maxshape=(None, 4), dtype="i4")
    source = h5py.VirtualSource("virtual_source1.h5", "growing", shape=(4, 4), maxshape=(None, 4))
    unlimited[0:h5py.h5s.UNLIMITED, :] = source[0:h5py.h5s.UNLIMITED, :]
    file.create_virtual_dataset("unlimited", unlimited, fillvalue=-3)
    # Numbered sources.
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_fill_value(np.array(-4, "i4"))
    target = h5py.h5s.create_simple((12, 5), (h5py.h5s.UNLIMITED, 5))
    target.select_hyperslab((0, 0), (h5py.h5s.UNLIMITED, 1), (4, 1), (4, 5))
    dcpl.set_virtual(target, b"virtual_source%b.h5", b"data", h5py.h5s.create_simple((4, 5)))
    space = h5py.h5s.create_simple((12, 5), (h5py.h5s.UNLIMITED, 5))
    h5py.h5d.create(file.id, b"numbered", h5py.h5t.STD_I32LE, space, dcpl)
tell("virtual.h5")
