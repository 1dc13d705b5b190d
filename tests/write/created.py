#!/usr/bin/env python3
"""Files that the tests created, as h5py sees them. Needs h5py and hdf5plugin.

  created.py check FILE LEVEL   says where FILE does not hold what was written
  created.py edit FILE          changes the file, and prints as JSON what is in it then
"""
import sys

import h5py
import hdf5plugin  # noqa: F401
import numpy as np

from rich import describe


def ramp(rows, columns):
    return (np.arange(rows * columns) % 1009).reshape(rows, columns).astype("i4")


def station(i):
    return dict(id=i * i, name=f"Straße {i}", position=[i, 0.5, -1], kind=-2 if i % 2 == 0 else 300, open=i % 3 == 0,
                seen=list(range(i)))


def same(found, wanted, what):
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, wanted {wanted.shape}"
    assert found.dtype == wanted.dtype, f"{what}: {found.dtype}, wanted {wanted.dtype}"
    assert np.array_equal(found, wanted), f"{what}: {found}, wanted {wanted}"


def texts(dataset, wanted, size=None):
    info = h5py.check_string_dtype(dataset.dtype)
    assert (info.encoding, info.length) == (("utf-8", None) if size is None else ("ascii", size)), dataset.name
    assert list(np.ravel(dataset.asstr()[()])) == wanted, f"{dataset.name}: {dataset[()]}"


def stations(dataset, wanted):
    for row, i in zip(dataset[...], wanted, strict=True):
        one = station(i)
        assert row["station name"].decode() == one["name"] and row["id"] == one["id"] and row["kind"] == one["kind"]
        assert list(row["position"]) == one["position"] and row["open"] == one["open"]
        assert list(row["seen"]) == one["seen"]
    assert h5py.check_enum_dtype(dataset.dtype["kind"]) == {"Ship": -2, "Land": 300}
    assert dataset.dtype["open"] == np.dtype("bool")


def check_values(group):
    same(group["scalar"][()], np.int8(3), "scalar")
    same(group["f32"][()], np.array([1.5, -0.0, np.inf], "f4"), "f32")
    assert np.signbit(group["f32"][1])
    same(group["u64"][()], np.array([2**64 - 1, 0, 1], "u8"), "u64")
    same(group["bool"][()], [True, False, True], "bool")
    same(group["f16"][()], np.array([0.1, 65504], "f2"), "f16")
    same(group["complex"][()], [1 - 2j, 3.5j], "complex")
    texts(group["text"], ["", "a", "grüße"])
    texts(group["one_text"], ["one"])
    for name, padding in ("fixed_text", 1), ("ended_text", 0), ("spaced_text", 2):
        texts(group[name], ["ab", "abcd" if padding == 0 else "abcde", ""] if padding != 2 else ["ab", "abcde", ""], 5)
        assert group[name].id.get_type().get_strpad() == padding
    for found, wanted in zip(group["sequences"][()], ([1, 2, 3], [], [-7]), strict=True):
        same(found, np.array(wanted, "i4"), "sequences")
    for found, wanted in zip(group["texts"][()], (["x"], ["y", "zz"]), strict=True):
        assert [text.decode() for text in found] == wanted
    assert group["arrays"].shape == (2,) and group["arrays"].dtype == np.dtype(("u1", (2,)))
    same(group["arrays"][()], np.array([[1, 2], [3, 4]], "u1"), "arrays")
    assert group["tuples"][()].tolist() == [(1, 2.5), (3, 4.5)] and group["tuples"].dtype.names == ("0", "1")
    stations(group["stations"], range(5))
    same(group["enum"][()], np.array([300, -2], "i2"), "enum")
    same(group["transposed"][()], ramp(4, 6).T, "transposed")
    same(group["none"][()], np.zeros((0, 3, 2), "u1"), "none")
    assert group["empty"].shape is None and group["empty"].dtype == np.dtype("f8")
    same(group["cut"][()], np.array([1, 2, 255], "u1"), "cut")


def check_attributes(group):
    attributes = group.attrs
    assert attributes["number"] == -7 and attributes.get_id("number").dtype == np.dtype("i8")
    assert attributes["text"] == "Maß"
    assert list(attributes["texts"]) == ["a", "bc"]
    same(attributes["matrix"], ramp(2, 3), "matrix")
    assert attributes["row"].tolist() == [0.25] * 3
    assert attributes["struct"].tolist() == (1, b"in a tuple")
    assert isinstance(attributes["nothing"], h5py.Empty)
    assert [attributes[f"many{i}"] for i in range(30)] == list(range(30))
    assert group.id.get_comment(b".") == b"a group with attributes"


def check_layouts(group):
    data = ramp(37, 53)
    parts = np.full((37, 53), -1, "i4")
    parts[:30] = data[:30]
    parts[28:, 5:50:3] = data[28:, 5:50:3]
    for name in group["whole"]:
        same(group["whole"][name][()], data, f"whole/{name}")
        same(group["parts"][name][()], parts, f"parts/{name}")
        same(group["grown"][name][()], data, f"grown/{name}")
        assert group["grown"][name].maxshape == (None, 53)
        assert group["whole"][name].chunks == (10, 20) and group["whole"][name].fillvalue == -1
        filters = group["whole"][name].id.get_create_plist().get_nfilters()
        assert filters == {"none": 0, "shuffle_deflate": 2, "all": 3, "lzf": 2, "zstd": 2}.get(name, 1), name
    assert len(group["whole"]) == 14
    same(group["contiguous"][()], data, "contiguous")
    wanted = np.full((37, 53), 9, "i4")
    wanted[5:20, 7:11] = data[5:20, 7:11]
    wanted[[30, 2, 36], 50] = [1, 2, 3]
    same(group["contiguous_parts"][()], wanted, "contiguous_parts")
    wanted = np.full((37, 5), 4, "i4")
    wanted[:, 2] = 5
    same(group["compact"][()], wanted, "compact")
    assert group["compact"].id.get_create_plist().get_layout() == h5py.h5d.COMPACT
    assert group["never_written"].chunks == (500, 1000) or np.prod(group["never_written"].chunks) * 4 <= 2 << 20
    assert group["never_written"].id.get_num_chunks() == 0 and not group["never_written"][::97].any()
    same(group["both_ways"][()], ramp(5, 7)[:4, :6], "both_ways")
    same(group["raw"][()], np.array([5, 6, 7, 8], "u1"), "raw")


def check_links(file, level):
    group = file["links"]
    assert group.get("soft", getlink=True).path == "/values/f32" and group["soft"] == file["values/f32"]
    assert group["hard"] == file["values/u64"] and h5py.h5o.get_info(group["hard"].id).rc == 2
    if level != "earliest":
        link = group.get("outside", getlink=True)
        assert (link.filename, link.path) == ("elsewhere.h5", "/x")
    assert len(group["many"]) == 100
    assert list(group["many"]) == ([str(i) for i in range(100)] if level != "earliest" else sorted(map(str, range(100))))
    assert group["type"].attrs["why"] == "it is committed"
    assert group["of_type"].id.get_type().committed() and group["of_type"].id.get_type() == group["type"].id
    stations(group["of_type"], (1, 4))
    references = group["references"][()]
    assert file[references[0]] == group["pointed_at"] and file[references[1]] == group and not references[2]


def check(name, level):
    with h5py.File(name) as file:
        check_values(file["values"])
        check_attributes(file["attributes"])
        check_layouts(file["layouts"])
        check_links(file, level)


def edit(name):
    with h5py.File(name, "r+") as file:
        for group in file["values"], file["links/many"], file["attributes"]:
            group["new"] = np.arange(7)
            group.attrs["new"] = "added"
            for i in range(20):
                group.attrs[f"more{i}"] = i
        del file["values/f32"], file["links/many/7"], file["attributes"].attrs["many3"]
        for dataset in file["layouts/grown"].values():
            dataset.resize(60, 0)
            dataset[30:60] = ramp(30, 53) + 1
        for dataset in file["layouts/whole"].values():
            dataset[5:15, 30:] = 77
        file["values/text"][1] = "another text"
        file["values/stations"][2] = file["values/stations"][3]
        file["layouts/never_written"][10, 10] = 3.5
        file["layouts/contiguous"][3] = 0
    describe(name)


if __name__ == "__main__":
    {"check": check, "edit": edit}[sys.argv[1]](*sys.argv[2:])
