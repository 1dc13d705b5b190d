"""Strings of every kind."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


for libver in ("earliest", "latest"):
    name = f"strings_{libver}.h5"
    with h5py.File(name, "w", libver=libver) as file:
        words = ["", "a", "grüße", "世界", "exactly 16 bytes", "two\nlines", " spaces "]
        file.create_dataset("variable/utf8", data=words, dtype=h5py.string_dtype())
        ascii_words = [b"", b"a", b"plain", b" spaces "]
        file.create_dataset("variable/ascii", data=ascii_words, dtype=h5py.string_dtype("ascii"))
        file.create_dataset("variable/chunked", data=np.array(words * 9, dtype=object).reshape(9, 7), chunks=(2, 3),
                            dtype=h5py.string_dtype(), compression="gzip", maxshape=(None, 7))
        file.create_dataset("variable/unwritten", shape=(4,), dtype=h5py.string_dtype())
        file.create_dataset("variable/scalar", data="one word")
        file.create_dataset("variable/long", data="ab" * 30000)
        space = h5py.h5s.create_simple((3,))
        for number, padding in enumerate(("nullterm", "nullpad", "spacepad")):
            kind = h5py.h5t.C_S1.copy()
            kind.set_size(6)
            kind.set_strpad(number)
            ds = h5py.h5d.create(file.id, f"fixed_{padding}".encode(), kind, space)
            stored = {0: [b"abc", b"", b"abcde"], 1: [b"abc", b"", b"abcdef"], 2: [b"abc", b" b", b"abcdef"]}[number]
            data = np.array([s.ljust(6, b" " if number == 2 else b"\0") for s in stored], dtype="S6")
            ds.write(h5py.h5s.ALL, h5py.h5s.ALL, data, mtype=kind)
        fixed = h5py.string_dtype("utf-8", 8)
        file.create_dataset("fixed_utf8", data=np.array(["grüße".encode(), b"x", "世界".encode()], dtype=fixed), dtype=fixed)
        file.attrs["variable"] = "wörter"
        file.attrs["list"] = np.array(words, dtype=object)
        file.attrs.create("fixed", np.bytes_(b"fixed text"))
    # h5py leaves trailing spaces, which are padding here.
    more = {"/fixed_spacepad": {"digest": digest(np.array([b"abc", b" b", b"abcdef"])),
                                "values": ["abc", " b", "abcdef"], "blocks": []}}
    tell(name, more)
