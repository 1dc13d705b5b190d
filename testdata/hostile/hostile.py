"""Files that want to harm their reader: cycles, counts that nothing justifies, names of files that are none of theirs.

Each is a good file of libhdf5 with a few bytes changed. No library can be asked what is right here, so there are no
expectations; the tests say what must happen."""
import bz2
import os
import struct
import sys
import zlib

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


def message(data, header, kind):
    """Position and size of the first message of a type."""
    return next((at, size) for found, at, size in messages(data, header) if found == kind)


def datasets(name, shape=(3, 5), dtype="<i4", names=("data",), **options):
    """A file with datasets of the oldest forms, which have no checksums, and the addresses of their headers."""
    with h5py.File(name, "w", libver=("earliest", "v108")) as file:
        for path in names:
            file.create_dataset(path, data=np.zeros(shape, dtype), track_times=False, **options)
    return {path: address(name, path) for path in names}


# A continuation block of no bytes.
with h5py.File("header_of_nothing.h5", "w") as file:
    data = file.create_dataset("data", data=ramp((4,)))
    for i in range(20):
        data.attrs[f"attribute {i}"] = i
header = address("header_of_nothing.h5", "data")
patch("header_of_nothing.h5", lambda data: struct.pack_into("<Q", data, message(data, header, 0x10)[0] + 8, 0))

# A dataspace of two dimensions in a message that ends before them.
header = datasets("short_message.h5")["data"]


def shorten(data):
    at, size = message(data, header, 1)
    struct.pack_into("<H", data, at - 6, 8)
    struct.pack_into("<HHB3x", data, at + 8, 0, size - 16, 0)


patch("short_message.h5", shorten)

# A datatype that is shared with the object's own header; and two that are shared with each other.
headers = datasets("shared_with_itself.h5", names=("itself", "a", "b"))


def share(data):
    for path, other in (("itself", "itself"), ("a", "b"), ("b", "a")):
        at, _ = message(data, headers[path], 3)
        data[at - 4] |= 2
        struct.pack_into("<BBQ", data, at, 3, 2, headers[other])


patch("shared_with_itself.h5", share)

# Dimensions of an array of which the product has 64 bits and the element few; a member far outside its compound.
with h5py.File("datatype_arithmetic.h5", "w") as file:
    file.create_dataset("array", shape=(3,), dtype=np.dtype(("<i4", (2, 5))))[...] = np.zeros((3, 2, 5), "<i4")
    file.create_dataset("compound", data=np.zeros(3, [("one", "<i4"), ("two", "<i4")]))
headers = {path: address("datatype_arithmetic.h5", path) for path in ("array", "compound")}


def stretch(data):
    at, _ = message(data, headers["array"], 3)
    struct.pack_into("<II", data, at + 12, 1 << 31, 1 << 31)
    at, _ = message(data, headers["compound"], 3)
    offset = data.index(b"two\0", at) + 8
    struct.pack_into("<I", data, offset, 0xfffffff0)


patch("datatype_arithmetic.h5", stretch)

# 2 ** 32 times 2 ** 32 elements of 4 bytes: 0, for who counts in 64 bits.
header = datasets("dataspace_product.h5")["data"]


def multiply_to_zero(data):
    at, _ = message(data, header, 1)
    struct.pack_into("<QQQQ", data, at + 8, *[1 << 32] * 4)


patch("dataspace_product.h5", multiply_to_zero)

# Chunks of no elements, of more dimensions than the dataset, and of more bytes than there are.
headers = datasets("chunk_layouts.h5", names=("nothing", "rank", "vast"), chunks=(2, 3), compression="gzip")


def bend(data):
    at, _ = message(data, headers["nothing"], 8)
    assert data[at:at + 3] == bytes([3, 2, 3])
    struct.pack_into("<I", data, at + 11, 0)
    data[message(data, headers["rank"], 8)[0] + 2] = 4
    at, _ = message(data, headers["vast"], 8)
    struct.pack_into("<II", data, at + 11, 0xffffffff, 0xffffffff)


patch("chunk_layouts.h5", bend)

# Trees of chunks: a level that is not, siblings that are the node itself, keys in no order.
headers = datasets("tree_order.h5", shape=(8,), names=("level", "sibling", "order"), chunks=(1,), dtype="<i2")


def disorder(data):
    level, sibling, order = (struct.unpack_from("<Q", data, message(data, headers[path], 8)[0] + 3)[0]
                             for path in ("level", "sibling", "order"))
    assert all(data[at:at + 4] == b"TREE" for at in (level, sibling, order))
    data[level + 5] = 200
    struct.pack_into("<QQ", data, sibling + 8, sibling, sibling)
    # The third chunk is a second first one.
    struct.pack_into("<Q", data, order + 24 + 2 * 32 + 8, 0)


patch("tree_order.h5", disorder)

# A name outside its heap; texts outside theirs, by number and by length.
with h5py.File("heap_offsets.h5", "w") as file:
    for path in ("index", "length", "address"):
        file.create_dataset(f"texts/{path}", data=[b"one text", b"another"], dtype=h5py.string_dtype())
    file["names/short"] = h5py.SoftLink("/")
offsets = {}
with h5py.File("heap_offsets.h5") as file:
    offsets = {path: file[f"texts/{path}"].id.get_offset() for path in ("index", "length", "address")}


def lose(data):
    struct.pack_into("<I", data, offsets["index"] + 12, 9999)
    struct.pack_into("<I", data, offsets["length"], 0xffffffff)
    struct.pack_into("<Q", data, offsets["address"] + 4, len(data) - 8)
    # The last symbol-table node is that of the group made last.
    node = data.rindex(b"SNOD")
    struct.pack_into("<Q", data, node + 8, 1 << 40)


patch("heap_offsets.h5", lose)

# A free-space manager that makes no sense. Readers have no business with it.
fcpl = h5py.h5p.create(h5py.h5p.FILE_CREATE)
fcpl.set_file_space_strategy(h5py.h5f.FSPACE_STRATEGY_FSM_AGGR, True, 1)
with h5py.File(h5py.h5f.create(b"free_space.h5", h5py.h5f.ACC_TRUNC, fcpl=fcpl)) as file:
    for i in range(5):
        file[f"data {i}"] = ramp((100 + i,))
    del file["data 1"], file["data 3"]


def overwrite_managers(data):
    at, found = -1, 0
    while (at := data.find(b"FSHD", at + 1)) >= 0:
        data[at + 5:at + 80] = b"\xff" * 75
        found += 1
    assert found


patch("free_space.h5", overwrite_managers)

# Pipelines with more client values, longer names and more filters than their message has bytes for; a chunk that is
# stored in more bytes than the file has.
headers = datasets("filter_lengths.h5", names=("values", "name", "filters", "stored"), chunks=(3, 5), compression="gzip")


def lengthen(data):
    # Version, number of filters, 6 reserved; of a filter id, length of the name, flags, number of values.
    struct.pack_into("<H", data, message(data, headers["values"], 11)[0] + 14, 0xffff)
    struct.pack_into("<H", data, message(data, headers["name"], 11)[0] + 10, 0xfff8)
    data[message(data, headers["filters"], 11)[0] + 1] = 255
    tree = struct.unpack_from("<Q", data, message(data, headers["stored"], 8)[0] + 3)[0]
    struct.pack_into("<I", data, tree + 24, 0xffffffff)


patch("filter_lengths.h5", lengthen)

# 1000 texts that are the same 60 KB of the file; an element of 4 GB.
with h5py.File("conversion_buffers.h5", "w") as file:
    texts = file.create_dataset("texts", shape=(1000,), dtype=h5py.string_dtype())
    texts[0] = b"t" * 60_000
    start = texts.id.get_offset()
    file.create_dataset("vast", data=np.zeros(3, "S8"))
header = address("conversion_buffers.h5", "vast")


def repeat(data):
    data[start:start + 1000 * 16] = data[start:start + 16] * 1000
    struct.pack_into("<I", data, message(data, header, 3)[0] + 4, 0xfffffff0)


patch("conversion_buffers.h5", repeat)

# 1000 links of which each has the same name of 60 KB.
with h5py.File("name_flood.h5", "w") as file:
    file["l" * 60_000] = h5py.SoftLink("/")
    for i in range(1000):
        file[f"m{i:04}"] = h5py.SoftLink("/")


def rename(data):
    nodes, at = [], -1
    while (at := data.find(b"SNOD", at + 1)) >= 0:
        nodes.append((at, struct.unpack_from("<H", data, at + 6)[0]))
    heap = data.index(b"HEAP")
    segment = struct.unpack_from("<Q", data, heap + 24)[0]
    long = data.index(b"l" * 60_000) - segment
    for at, count in nodes:
        for i in range(count):
            struct.pack_into("<Q", data, at + 8 + 40 * i, long)


patch("name_flood.h5", rename)

# 300 groups that have the same 96 KB of their headers in common.
with h5py.File("common_messages.h5", "w") as file:
    for i in range(300):
        file.create_group(f"{i:04}")
with h5py.File("common_messages.h5") as file:
    headers = [h5py.h5o.get_info(group.id).addr for group in file.values()]


def have_in_common(data):
    at, size = message(data, headers[0], 0x11)
    table = bytes(data[at - 8:at + size])
    block = table + struct.pack("<HHB3x", 0x0d, 0, 0) * 12_000
    for header in headers:
        at, size = message(data, header, 0x11)
        struct.pack_into("<HHB3x", data, at - 8, 0x10, 16, 0)
        struct.pack_into("<QQ", data, at, len(data), len(block))
    data += block
    struct.pack_into("<Q", data, 40, len(data))


patch("common_messages.h5", have_in_common)

# Chunks of 1 GiB that are stored in some bytes: behind filters that cannot make so much of these, and behind one that could.
with h5py.File("claimed_chunks.h5", "w") as file:
    for name, shuffled, number, stored in [("deflate", False, 1, zlib.compress(b"1234")),
                                           ("shuffled", True, 1, zlib.compress(b"1234")),
                                           ("bzip2", False, 307, bz2.compress(b"1234"))]:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk((1 << 28,))
        if shuffled:
            properties.set_shuffle()
        properties.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (6,))
        space = h5py.h5s.create_simple((1 << 28,))
        dataset = h5py.h5d.create(file.id, name.encode(), h5py.h5t.STD_I32LE, space, properties)
        dataset.write_direct_chunk((0,), stored)
