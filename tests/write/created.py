#!/usr/bin/env python3
"""Files that the tests created, as h5py sees them. Needs h5py and hdf5plugin.

  created.py check FILE LEVEL   says where FILE does not hold what was written
  created.py edit FILE          changes the file, and prints as JSON what is in it then
  created.py pages FILE         says whether FILE is one in pages of 4 KiB
  created.py large FILE         says whether FILE has chunks of 8 GiB that nobody wrote
  created.py copy FILE LEVEL TO  has libhdf5 copy all objects to a new file, and checks that
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
    assert len(group["whole"]) in (7, 14)
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


def check_allocated(group, level):
    data = ramp(37, 53)
    early, none = h5py.h5d.ALLOC_TIME_EARLY, np.full((37, 53), -5, "i4")
    same(group["contiguous"][()], none, "contiguous")
    wanted = none.copy()
    wanted[12:18, 7:] = data[12:18, 7:]
    same(group["chunks"][()], wanted, "chunks")
    wanted = none.copy()
    wanted[3] = data[3]
    same(group["filtered"][()], wanted, "filtered")
    wanted = np.full((41, 60), -5, "i4")
    wanted[:37, :53] = data
    wanted[38:, 59] = 1, 2, 3
    same(group["larger"][()], wanted, "larger")
    for name in "contiguous", "chunks", "larger", "filtered":
        assert group[name].id.get_create_plist().get_alloc_time() == early, name
    sizes = [group[name].id.get_storage_size() for name in ("contiguous", "chunks")]
    assert sizes == [37 * 53 * 4, 12 * 800], sizes
    assert group["filtered"].id.get_num_chunks() == 12
    info = group["any"].id.get_create_plist()
    assert info.get_fill_time() == h5py.h5d.FILL_TIME_NEVER and group["any"].id.get_num_chunks() == 0
    info = group["late"].id.get_create_plist()
    assert (info.get_fill_time(), info.get_alloc_time()) == (h5py.h5d.FILL_TIME_ALLOC, h5py.h5d.ALLOC_TIME_LATE)
    same(group["late"][()], np.array([9, 0, 0, 0, 0, 0], "i4"), "late")


def check_elsewhere(group, level):
    same(group["external"][()], np.r_[2:14, 20:28].reshape(5, 4).astype("i4"), "external")
    assert len(group["external"].external) == 2
    if level in ("earliest", "v18"):
        return
    data = ramp(37, 53)
    wanted = np.full((10, 53), -1, "i4")
    wanted[0] = data[36]
    wanted[2:8:2, 3:13] = data[10:19:4][:, [0, 1, 2, 3, 4, 20, 21, 22, 23, 24]]
    wanted[9, [1, 2, 4, 7]] = data[[0, 1, 3, 9], 52]
    same(group["mapped"][()], wanted, "mapped")
    assert len(group["mapped"].virtual_sources()) == 3
    same(group["grows"][()], data[1:, 5:8], "grows")
    assert group["grows"].maxshape == (None, 3)
    same(group["parts"][()], np.array([0, 1, 10, 11, 20, 21], "i4"), "parts")


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


def check(name, level, copied=False):
    with h5py.File(name) as file:
        check_values(file["values"])
        check_attributes(file["attributes"])
        check_layouts(file["layouts"])
        check_allocated(file["allocated"], level)
        check_elsewhere(file["elsewhere"], level)
        if copied:
            # What was one object is two where groups are copied one by one, and references point nowhere.
            stations(file["links/of_type"], (1, 4))
        else:
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
        file["allocated/chunks"][20:30] = 4
        file["allocated/larger"].resize((45, 90))
        file["allocated/larger"][44, 80:] = 6
        file["allocated/any"][:] = 3
    describe(name)


def pages(name):
    with h5py.File(name, page_buf_size=1 << 16) as file:
        assert file.id.get_create_plist().get_file_space_strategy() == (h5py.h5f.FSPACE_STRATEGY_PAGE, False, 1)
        assert file.id.get_create_plist().get_file_space_page_size() == 4096
        same(file["layouts/whole/all"][()], ramp(37, 53), "whole/all")


def large(name):
    with h5py.File(name) as file:
        for dataset in file["filtered"], file["unlimited"]:
            assert (dataset.chunks, dataset.shape) == ((2**33,), (2**34,))
            same(dataset[2**33 - 2 : 2**33 + 2], np.full(4, 6, "u1"), dataset.name)


def copy(name, level, to):
    with h5py.File(name) as file, h5py.File(to, "w") as new:
        for top in file:
            file.copy(top, new)
    check(to, level, copied=True)


if __name__ == "__main__":
    {"check": check, "edit": edit, "copy": copy, "pages": pages, "large": large}[sys.argv[1]](*sys.argv[2:])
