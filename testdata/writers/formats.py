"""Files laid out as MATLAB 7.3, Keras and NeXus lay theirs out."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


def told_but(name, paths):
    """References are not told: their digests are nothing that h5py says."""
    tell(name, {path: {"digest": None, "values": None, "blocks": []} for path in paths})


def matlab():
    # Arrays are stored column by column: h5py sees their dimensions the other way round.
    with h5py.File("formats_matlab.mat", "w", userblock_size=512) as file:
        def put(path, data, kind, **attributes):
            ds = file.create_dataset(path, data=data)
            for key, value in {"MATLAB_class": np.bytes_(kind), **attributes}.items():
                ds.attrs[key] = value
            return ds

        char = {"MATLAB_int_decode": np.int32(2)}
        put("A", np.array([[1.0, 2, 3], [4, 5, 6]]).T, "double")
        put("name", np.array([[ord(c)] for c in "Grüße"], dtype="u2"), "char", **char)
        put("ok", np.array([[1], [0], [1]], dtype="u1"), "logical", MATLAB_int_decode=np.int32(1))
        put("s/x", np.array([[0.5]]), "double")
        file["s"].attrs["MATLAB_class"] = np.bytes_("struct")
        put("#refs#/a", np.array([[7.0]]), "double")
        put("#refs#/b", np.array([[ord(c)] for c in "two"], dtype="u2"), "char", **char)
        cell = file.create_dataset("c", shape=(2, 1), dtype=h5py.ref_dtype)
        cell[0, 0], cell[1, 0] = file["#refs#/a"].ref, file["#refs#/b"].ref
        cell.attrs["MATLAB_class"] = np.bytes_("cell")
    with open("formats_matlab.mat", "r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + bytes([0, 2]) + b"IM")
    told_but("formats_matlab.mat", ["/c"])


def keras():
    with h5py.File("formats_keras.h5", "w") as file:
        file.attrs["backend"] = "tensorflow"
        file.attrs["model_config"] = '{"class_name": "Sequential", "config": {"name": "small"}}'
        weights = file.create_group("model_weights")
        weights.attrs["layer_names"] = np.array([b"dense", b"dropout", b"dense_1"], dtype="S7")
        for layer, shape in (("dense", (4, 3)), ("dropout", None), ("dense_1", (3, 2))):
            group = weights.create_group(layer)
            names = [f"{layer}/kernel:0", f"{layer}/bias:0"] if shape else []
            group.attrs["weight_names"] = np.array([n.encode() for n in names], dtype="S16")
            if shape:
                group[names[0]] = ramp(shape, "f4") / 1000
                group[names[1]] = np.zeros(shape[1], dtype="f4")
    tell("formats_keras.h5")


def nexus():
    with h5py.File("formats_nexus.nxs", "w") as file:
        file.attrs["default"] = "entry"
        entry = file.create_group("entry")
        entry.attrs["NX_class"], entry.attrs["default"] = "NXentry", "data"
        entry["title"] = "a scan"
        data = entry.create_group("data")
        data.attrs["NX_class"], data.attrs["signal"] = "NXdata", "counts"
        data.attrs["axes"] = np.array(["angle", "energy"], dtype=object)
        data["counts"] = ramp((5, 4), "i4") + 3000
        data["counts"].attrs["units"] = "counts"
        data["angle"], data["energy"] = np.linspace(0, 1, 5), np.linspace(8, 9, 4)
        data["angle"].attrs["units"], data["energy"].attrs["units"] = "deg", "keV"
        entry["where"] = h5py.SoftLink("/entry/data/counts")
    tell("formats_nexus.nxs")


matlab()
keras()
nexus()
