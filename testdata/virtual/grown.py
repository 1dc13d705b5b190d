"""Numbered sources that have grown since the virtual dataset was made of all of them."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *

UNLIMITED = h5py.h5s.UNLIMITED
shapes = [(2, 3), (4, 3), (9, 3)]
with h5py.File("grown_sources.h5", "w", libver="latest") as file:
    for i, shape in enumerate(shapes):
        file[f"part{i}"] = np.arange(100 * i, 100 * i + np.prod(shape), dtype="i4").reshape(shape)
tell("grown_sources.h5")
with h5py.File("grown.h5", "w", libver=("v110", "v110")) as file:
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    target = h5py.h5s.create_simple((6, 3), (UNLIMITED, 3))
    target.select_hyperslab((0, 0), (UNLIMITED, 1), (2, 1), (2, 3))
    dcpl.set_virtual(target, b"grown_sources.h5", b"part%b", h5py.h5s.create_simple((2, 3)))
    h5py.h5d.create(file.id, b"parts", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((6, 3), (UNLIMITED, 3)), dcpl)
tell("grown.h5")
