"""Every form of string, every convention of h5py, every kind of reference."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *

NOT_TOLD = {"digest": None, "values": None, "blocks": []}


def strings():
    """In each of the forms the same three words; those of fixed size have 8 bytes."""
    more, space = {}, h5py.h5s.create_simple((3,))
    with h5py.File("forms_strings.h5", "w") as file:
        for padding, pad in (("nullterm", 0), ("nullpad", 1), ("spacepad", 2)):
            for charset, cset in (("ascii", 0), ("utf8", 1)):
                words = [b"", b"a b", b"seven c"] if cset == 0 else ["", "grüße", "世界"]
                words = [w if isinstance(w, bytes) else w.encode() for w in words]
                kind = h5py.h5t.C_S1.copy()
                kind.set_size(8)
                kind.set_strpad(pad)
                kind.set_cset(cset)
                name = f"fixed_{padding}_{charset}"
                ds = h5py.h5d.create(file.id, name.encode(), kind, space)
                stored = np.array([w.ljust(8, b" " if pad == 2 else b"\0") for w in words], dtype="S8")
                ds.write(h5py.h5s.ALL, h5py.h5s.ALL, stored, mtype=kind)
                at = h5py.h5a.create(ds, b"same", kind, space)
                at.write(stored, mtype=kind)
                kind = h5py.h5t.C_S1.copy()
                kind.set_size(h5py.h5t.VARIABLE)
                kind.set_strpad(pad)
                kind.set_cset(cset)
                ds = h5py.h5d.create(file.id, f"variable_{padding}_{charset}".encode(), kind, space)
                memory = h5py.h5t.py_create(h5py.string_dtype("ascii" if cset == 0 else "utf-8"))
                ds.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array(words, dtype=object), mtype=memory)
                if pad == 2:
                    # h5py leaves trailing spaces, which are padding here.
                    more["/" + name] = {**NOT_TOLD, "attributes": {"same": {}}}
        file.create_dataset("scalar", data="one word")
        file.create_dataset("latin1", data=np.array([b"gr\xfc\xdfe"], dtype="S5"))
    tell("forms_strings.h5", more)


def conventions():
    with h5py.File("forms_conventions.h5", "w") as file:
        file["bool"] = np.array([[True, False, True], [False, False, True]])
        file.attrs["flag"] = np.bool_(True)
        file["complex64"] = np.array([1 + 2j, -0.5j, np.inf], dtype="c8")
        file["complex128"] = np.array([1 + 2j, -0.5j], dtype=">c16")
        days = np.array(["2020-02-29", "1969-07-20", "NaT"], dtype="M8[D]")
        for times in (days, days.astype("M8[s]"), (days - days[0]).astype("m8[ms]")):
            file[f"time {times.dtype.str[1:]}"] = times.astype(h5py.opaque_dtype(times.dtype))
        file["opaque"] = np.array([b"\x00\x01abc", b"xyz\xff\x00"], dtype="V5")
        file["empty"] = h5py.Empty("f4")
        file.attrs["empty"] = h5py.Empty("S4")
        colours = h5py.enum_dtype({"RED": 0, "GREEN": -1, "BLUE": 77}, basetype="i2")
        file.create_dataset("enum", data=np.array([77, 0, -1], dtype=colours), dtype=colours)
        file["half"] = np.array([1, -2.5, 65504, 6e-8], dtype="<f2")
        sequences = file.create_dataset("sequences", shape=(3,), dtype=h5py.vlen_dtype(np.dtype("<i4")))
        sequences[0], sequences[2] = [3, 1, 2], [7]
        texts = file.create_dataset("lists of texts", shape=(2,), dtype=h5py.vlen_dtype(h5py.string_dtype()))
        texts[0] = np.array(["a", "grüße"], dtype=object)
        station = np.dtype([("Station name", h5py.string_dtype()), ("kind", colours), ("position", "<f4", (3,)),
                            ("open", bool), ("where", [("row", ">i8"), ("signal", "c16")]), ("code", "S4")])
        stations = np.zeros(2, dtype=station)
        stations["Station name"] = ["Grüneck", "Ost"]
        stations["kind"], stations["open"], stations["code"] = [-1, 77], [True, False], [b"gr", b"east"]
        stations["position"] = [[1, 2, 3], [4, 5, 6.5]]
        stations["where"]["row"], stations["where"]["signal"] = [10, -20], [1j, 2.5]
        file.create_dataset("stations", data=stations, chunks=(1,), compression="gzip")
        file.attrs.create("station", stations[0], dtype=station)
    more = {"/opaque": NOT_TOLD, "/stations": NOT_TOLD, "/lists of texts": NOT_TOLD}
    more |= {f"/time {name}": NOT_TOLD for name in ("M8[s]", "m8[ms]", "M8[D]")}
    tell("forms_conventions.h5", more)


def revised(file, target):
    """References of the kinds that came with HDF5 1.12, and that h5py does not have: object, region, points, attribute,
    null."""
    LIB.H5open()
    kind = ctypes.c_int64.in_dll(LIB, "H5T_STD_REF_g").value
    memory = ctypes.create_string_buffer(64 * 5)
    at = ctypes.addressof(memory)

    def make(name, number, *args):
        function = getattr(LIB, name)
        function.restype = ctypes.c_int
        types = [ctypes.c_int64, ctypes.c_char_p] + [type(a) for a in args] + [ctypes.c_int64, ctypes.c_void_p]
        function.argtypes = types
        assert function(file.id.id, target, *args, 0, at + 64 * number) >= 0, name

    make("H5Rcreate_object", 0)
    space = h5py.h5s.create_simple((8, 9))
    space.select_hyperslab((1, 2), (2, 3), (3, 2), (1, 2))
    make("H5Rcreate_region", 1, ctypes.c_int64(space.id))
    space.select_elements(np.array([[0, 0], [7, 8], [3, 4]], dtype="u8"))
    make("H5Rcreate_region", 2, ctypes.c_int64(space.id))
    make("H5Rcreate_attr", 3, ctypes.c_char_p(b"unit"))
    create, write = LIB.H5Dcreate2, LIB.H5Dwrite
    create.restype = ctypes.c_int64
    create.argtypes = [ctypes.c_int64, ctypes.c_char_p] + [ctypes.c_int64] * 5
    write.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    space = h5py.h5s.create_simple((5,))
    ds = create(file.id.id, b"revised", kind, space.id, 0, 0, 0)
    assert ds >= 0 and write(ds, kind, 0, 0, 0, at) >= 0
    LIB.H5Dclose.argtypes = [ctypes.c_int64]
    assert LIB.H5Dclose(ds) >= 0


def references():
    with h5py.File("forms_references.h5", "w") as file:
        target = file.create_dataset("group/target", data=ramp((8, 9)))
        target.attrs["unit"] = "K"
        objects = file.create_dataset("objects", shape=(4,), dtype=h5py.ref_dtype)
        objects[0], objects[1], objects[2] = target.ref, file["group"].ref, file.ref
        regions = file.create_dataset("regions", shape=(6,), dtype=h5py.regionref_dtype)
        regions[0], regions[1] = target.regionref[2:5, 1:4], target.regionref[::3, 1::2]
        mask = np.zeros((8, 9), dtype=bool)
        mask[0, 1] = mask[3, 4:7] = mask[7, 8] = True
        regions[2] = target.regionref[mask]
        regions[3] = target.regionref[...]
        space = target.id.get_space()
        space.select_hyperslab((0, 0), (1, 1), block=(2, 3))
        space.select_hyperslab((1, 2), (1, 1), block=(4, 2), op=h5py.h5s.SELECT_OR)
        regions[4] = h5py.h5r.create(target.id, b".", h5py.h5r.DATASET_REGION, space)
        compound = np.dtype([("n", "i4"), ("where", h5py.ref_dtype)])
        file.create_dataset("compound", data=np.array([(5, target.ref)], dtype=compound), dtype=compound)
        file.attrs.create("reference", target.ref, dtype=h5py.ref_dtype)
        revised(file, b"/group/target")
    with h5py.File("forms_references.h5") as file:
        objects = walk_without(file, "revised")
    write("forms_references", {"file": "forms_references.h5", "by": "h5py", "objects": objects})


def walk_without(file, name):
    """All objects but one, which h5py cannot open, told by its name alone."""
    told = {path: one(file[path]) for path in ("/group", "/group/target", "/objects", "/regions", "/compound")}
    links = {"links": {link: ["hard"] for link in sorted([*(n for n in file if n != name), name])}}
    told["/"] = {"attributes": attributes(file), "kind": "group", **links}
    told["/" + name] = {"kind": "dataset", "shape": [5]}
    return told


strings()
conventions()
references()
