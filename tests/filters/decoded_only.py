#!/usr/bin/env python3
"""Makes stored chunks behind the filters that are only decoded here, as extract.py does for the others.

    decoded_only.py LIBLZO2 OUT.json

The encoders are those of the filters' makers: LIBLZO2 is the shared library of LZO, whose blocks get what PyTables adds;
VBZ is the plugin in the package vbz_h5py_plugin; fcidecomp is that of hdf5plugin; JPEG is libjpeg-turbo in Pillow, for
images of blocks of one colour, on which all decoders agree. Needs h5py, hdf5plugin, numpy, pillow and vbz_h5py_plugin.
"""
import ctypes
import hashlib
import importlib.util
import io
import json
import os
import struct
import sys
import tempfile
import zlib

import numpy as np


def case(name, number, values, chunk, stored, element=1):
    plain = np.ascontiguousarray(chunk).tobytes()
    return {
        "file": name,
        "element_size": element,
        "chunk_bytes": len(plain),
        "filters": [{"id": number, "flags": 1, "client_data": [int(v) for v in values]}],
        "chunks": [{"mask": 0, "stored": stored.hex(), "sha256": hashlib.sha256(plain).hexdigest()}],
    }


def arrays(rng):
    """Name and content: runs, words again and again, a field, noise."""
    words = [rng.bytes(int(n)) for n in rng.integers(2, 40, 12)]
    yield "runs", b"".join(bytes([i % 5]) * int(n) for i, n in enumerate(rng.integers(1, 400, 14)))
    yield "words", b"".join(words[i] for i in rng.integers(12, size=60))
    yield "far", words[1] + words[2] + bytes(17000) + words[2] + words[0] * 9 + words[1]
    yield "noise", rng.bytes(90)


def lzo(library, rng):
    library = ctypes.CDLL(library)
    for name, plain in arrays(rng):
        for encoder, trailer in (("lzo1x_1_compress", True), ("lzo1x_999_compress", False)):
            to, size, work = ctypes.create_string_buffer(2 * len(plain) + 100), ctypes.c_size_t(2 * len(plain) + 100), ctypes.create_string_buffer(1 << 20)
            assert getattr(library, encoder)(plain, ctypes.c_size_t(len(plain)), to, ctypes.byref(size), work) == 0
            stored = to.raw[: size.value] + (struct.pack("<II", zlib.adler32(plain), len(plain)) if trailer else b"")
            yield case("lzo_%s%s" % (name, "" if trailer else "_bare"), 305, (1, 20, 0), np.frombuffer(plain, "u1"), stored)


def by_libhdf5(name, chunk, **filters):
    import h5py

    memory = io.BytesIO()
    with h5py.File(memory, "w") as f:
        f.create_dataset("data", data=chunk, chunks=chunk.shape, **filters)
    with h5py.File(memory, "r") as f:
        dataset = f["data"]
        assert dataset[...].tobytes() == chunk.tobytes(), name
        number, _, values, _ = dataset.id.get_create_plist().get_filter(0)
        mask, stored = dataset.id.read_direct_chunk((0,) * chunk.ndim)
        assert mask == 0, name
        return case(name, number, values, chunk, stored, chunk.itemsize)


def vbz(rng):
    signal = np.cumsum(rng.normal(size=61) * 9) + 500
    for version in (0, 1):
        for size, dtype in ((1, "i1"), (2, "<i2"), (4, "<u4")):
            for zigzag, level in ((1, 1), (0, 0), (1, 0)):
                values = (signal if zigzag else rng.integers(0, 5, 61) ** 5).astype("i8").astype(dtype)
                name = "vbz_v%d_%s_%d%d" % (version, dtype.strip("<"), zigzag, level)
                yield by_libhdf5(name, values, compression=32020, compression_opts=(version, size, zigzag, level))


def fcidecomp(rng):
    import hdf5plugin

    for name, dtype, shape in (("u1", "u1", (23, 17)), ("u2", "<u2", (20, 17)), ("planes", "u1", (3, 10, 19)), ("flat", "<u2", (30, 33))):
        y = np.arange(int(np.prod(shape))).reshape(shape)
        values = np.full(shape, 7) if name == "flat" else 100 + 30 * np.sin(y / 17) + rng.normal(0, 3, shape)
        yield by_libhdf5("fcidecomp_" + name, values.astype(dtype), **hdf5plugin.FciDecomp())


def jpeg(rng):
    from PIL import Image

    for name, colours in (("grey", 1), ("rgb", 3)):
        blocks = rng.integers(0, 256, (3, 4, 1)).repeat(colours, 2).astype("u1")
        pixels = blocks.repeat(16, 0).repeat(16, 1)
        memory = io.BytesIO()
        Image.fromarray(pixels[..., 0] if colours == 1 else pixels).save(memory, "JPEG", quality=100)
        decoded = np.asarray(Image.open(memory))
        yield case("jpeg_" + name, 32019, (100, 64, 48, colours // 3), decoded, memory.getvalue())


def main():
    rng = np.random.default_rng(17)
    with tempfile.TemporaryDirectory() as plugins:
        package = os.path.dirname(importlib.util.find_spec("vbz_h5py_plugin").origin)
        os.symlink(os.path.join(package, "lib", "libvbz_hdf_plugin_x86_64.so"), os.path.join(plugins, "libvbz_hdf_plugin.so"))
        os.environ["HDF5_PLUGIN_PATH"] = plugins
        cases = [*lzo(sys.argv[1], rng), *vbz(rng), *fcidecomp(rng), *jpeg(rng)]
    with open(sys.argv[2], "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    print(len(cases), "chunks")


if __name__ == "__main__":
    main()
