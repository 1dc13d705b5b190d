"""Files that want to harm their reader: cycles, counts that nothing justifies, names of files that are none of theirs.

Each is a good file of libhdf5 with a few bytes changed. No library can be asked what is right here, so there are no
expectations; the tests say what must happen."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import FOLDER, ramp


def patch(name, change):
    with open(name, "rb") as file:
        data = bytearray(file.read())
    change(data)
    with open(name, "wb") as file:
        file.write(data)


def address(name, path):
    with h5py.File(name) as file:
        return h5py.h5o.get_info(file[path].id).addr


def messages(data, header):
    """The messages of the first block of a version 1 header: type, position of the data, size."""
    count, size = struct.unpack_from("<H", data, header + 2)[0], struct.unpack_from("<I", data, header + 8)[0]
    at, end, out = header + 16, header + 16 + size, []
    while at < end:
        kind, length = struct.unpack_from("<HH", data, at)
        out.append((kind, at + 8, length))
        at += 8 + length
    return out


# A continuation block that continues in itself.
with h5py.File("header_cycle.h5", "w") as file:
    data = file.create_dataset("data", data=ramp((4,)))
    for i in range(20):
        data.attrs[f"attribute {i}"] = i
header = address("header_cycle.h5", "data")


def continue_in_itself(data):
    at = next(at for kind, at, _ in messages(data, header) if kind == 0x10)
    block, size = struct.unpack_from("<QQ", data, at)
    rest = size - 24
    # One continuation message, and one of nothing.
    struct.pack_into("<HHB3x", data, block, 0x10, 16, 0)
    struct.pack_into("<QQ", data, block + 8, block, size)
    struct.pack_into("<HHB3x", data, block + 24, 0, rest - 8, 0)


patch("header_cycle.h5", continue_in_itself)


def nodes(data, kind):
    """Version 1 B-tree nodes of a kind: position, level, entries."""
    at, out = 0, []
    while (at := data.find(b"TREE", at)) >= 0:
        if data[at + 4] == kind:
            out.append((at, data[at + 5], struct.unpack_from("<H", data, at + 6)[0]))
        at += 4
    return out


# A tree of chunks with its root among its leaves.
with h5py.File("chunk_tree_cycle.h5", "w") as file:
    file.create_dataset("data", data=ramp((300,), "i1"), chunks=(1,))


def root_below_itself(data):
    root = max(nodes(data, 1), key=lambda node: node[1])
    assert root[1] > 0
    # Size, mask, offsets of two dimensions, then the child.
    struct.pack_into("<Q", data, root[0] + 24 + 24, root[0])


patch("chunk_tree_cycle.h5", root_below_itself)

# The same in the tree of a group.
with h5py.File("group_tree_cycle.h5", "w") as file:
    for i in range(400):
        file[f"link {i:03}"] = h5py.SoftLink("/")


def group_below_itself(data):
    root = max(nodes(data, 0), key=lambda node: node[1])
    assert root[1] > 0
    struct.pack_into("<Q", data, root[0] + 24 + 8, root[0])


patch("group_tree_cycle.h5", group_below_itself)

# Nodes of 32 equal children each, on six levels: 32 ** 6 leaves in a file of a few KB.
with h5py.File("tree_of_equal_children.h5", "w") as file:
    file.create_dataset("data", data=ramp((40,), "i1"), chunks=(1,))


def multiply(data):
    at, level, count = max(nodes(data, 1), key=lambda node: node[1])
    assert level == 0
    size = 24 + 64 * 8 + 65 * 24
    leaf = bytes(data[at:at + size])
    child = len(data)
    data += leaf
    for level in range(1, 7):
        node = bytearray(leaf)
        node[5] = level
        for i in range(count):
            struct.pack_into("<Q", node, 24 + 24 + i * 32, child)
        child = len(data)
        if level == 6:
            data[at:at + size] = node
        else:
            data += node
    struct.pack_into("<Q", data, 40, len(data))


patch("tree_of_equal_children.h5", multiply)

# 2 ** 60 elements, none of them stored.
with h5py.File("many_elements.h5", "w") as file:
    file.create_dataset("contiguous", shape=(1 << 60,), dtype="i1")
    file.create_dataset("chunked", shape=(1 << 30, 1 << 30), dtype="i1", chunks=(64, 64))
    file.create_dataset("large_chunks", shape=(1 << 40,), dtype="i1", chunks=(1 << 31,), compression="gzip")
    file.create_dataset("wide", shape=(1 << 60,), dtype="f8")

# A datatype of 2000 levels.
kind = h5py.h5t.STD_I32LE
for _ in range(2000):
    kind = h5py.h5t.vlen_create(kind)
with h5py.File("deep_datatype.h5", "w") as file:
    h5py.h5d.create(file.id, b"data", kind, h5py.h5s.create_simple((1,)))

# Links that lead to themselves.
with h5py.File("link_cycle.h5", "w") as file:
    file["a"] = h5py.SoftLink("/b")
    file["b"] = h5py.SoftLink("/a")
    file["itself"] = h5py.SoftLink("itself")
    file["longer"] = h5py.SoftLink("longer/and/longer")
    file["outside"] = h5py.ExternalLink("link_cycle.h5", "outside")

# Virtual datasets of which the source is virtual, and so on without end.
with h5py.File("virtual_cycle.h5", "w", libver="latest") as file:
    layout = h5py.VirtualLayout(shape=(4,), dtype="i4")
    layout[:] = h5py.VirtualSource(".", "itself", shape=(4,))
    file.create_virtual_dataset("itself", layout)
    for name, other in (("a", "b"), ("b", "a")):
        layout = h5py.VirtualLayout(shape=(4,), dtype="i4")
        layout[:] = h5py.VirtualSource("virtual_cycle.h5", other, shape=(4,))
        file.create_virtual_dataset(name, layout)
    limit = h5py.h5s.UNLIMITED
    layout = h5py.VirtualLayout(shape=(4,), maxshape=(None,), dtype="i4")
    layout[0:limit] = h5py.VirtualSource(".", "unlimited", shape=(4,), maxshape=(None,))[0:limit]
    file.create_virtual_dataset("unlimited", layout)

# Names of files outside the folder.
with h5py.File("leaving.h5", "w", libver="latest") as file:
    for name, other in (("up", "../outside.h5"), ("sly", "sly.h5")):
        file[f"link_{name}"] = h5py.ExternalLink(other, "/data")
        layout = h5py.VirtualLayout(shape=(4,), dtype="i4")
        layout[:] = h5py.VirtualSource(other, "data", shape=(4,))
        file.create_virtual_dataset(f"virtual_{name}", layout)
        raw = other.replace(".h5", ".raw")
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_external(raw.encode(), 0, 16)
        space = h5py.h5s.create_simple((4,))
        h5py.h5d.create(file.id, f"raw_{name}".encode(), h5py.h5t.STD_I32LE, space, dcpl)
with h5py.File("outside.h5", "w") as file:
    file["data"] = np.array([1, 2, 3, 4], "<i4")
