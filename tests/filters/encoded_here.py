#!/usr/bin/env python3
"""Has libhdf5 read what this crate encodes, and compares the sizes with those of the C encoders.

    encoded_here.py ENCODER [CASES [SEED [FILTER]]]

ENCODER is the built example `encode_chunks`. Each case is a random dataset behind random filters: libhdf5 writes it,
every chunk is encoded here with the same client values, put in place of libhdf5's, and the dataset is read again.
Needs h5py, hdf5plugin and numpy.
"""
import collections
import io
import json
import re
import subprocess
import sys

import h5py
import hdf5plugin
import numpy as np
from h5py import h5p


# How large all that is stored may be beside what the C encoders store at the same levels. Zstandard and blosc with it
# have levels above 4 in C only.
LARGEST = {
    re.compile(r"(shuffle )?deflate \d"): 1.05,
    re.compile(r"(shuffle )?lz4"): 1.10,
    re.compile(r"(shuffle )?zstd [123]"): 1.10,
    re.compile(r"blosc2? [0-4]"): 1.10,
}


def data(rng, dtype, shape):
    """Numbers with some structure: a smooth field, counts, few values, constants or noise."""
    n = int(np.prod(shape))
    kind = rng.integers(6)
    dtype = np.dtype(dtype)
    if dtype.kind in "SV":
        words = [rng.integers(97, 123, dtype.itemsize, "u1").tobytes() for _ in range(7)]
        return np.frombuffer(b"".join(words[i] for i in rng.integers(7, size=n)), dtype).reshape(shape)
    if kind == 0:
        x = np.cumsum(rng.normal(size=n))
    elif kind == 1:
        x = rng.poisson(3, n) + 1000 * (rng.random(n) > 0.99)
    elif kind == 2:
        x = rng.integers(0, 4, n)
    elif kind == 3:
        x = np.full(n, 7)
    elif kind == 4:
        x = np.arange(n) // 5
    else:
        return np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).reshape(shape)
    if dtype.kind == "u":
        x = np.abs(x)
    return x.astype(dtype).reshape(shape)


def szip(dcpl, rng):
    dcpl.set_szip([4, 32][rng.integers(2)], int(rng.choice([2, 4, 8, 10, 16, 30, 32])))


def pipelines(rng):
    """A name, dtypes, and what sets the filters on a property list."""
    numbers = ["<i1", "<u1", "<i2", ">u2", "<i4", ">i4", "<u4", "<i8", "<f4", ">f4", "<f8"]
    every = numbers + ["S3", "S5", "S12", "S16", "S33"]
    level = int(rng.integers(1, 10))
    few = int(rng.integers(1, 4))
    plugin = lambda f: lambda d: d.set_filter(f.filter_id, 1, tuple(f.filter_options))
    shuffle = lambda d: d.set_shuffle()
    deflate = lambda d: d.set_deflate(level)
    fletcher = lambda d: d.set_fletcher32()
    blosc = hdf5plugin.Blosc(["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"][rng.integers(6)], level, int(rng.integers(3)))
    blosc2 = hdf5plugin.Blosc2(["blosclz", "lz4", "lz4hc", "zlib", "zstd"][rng.integers(5)], level, int(rng.integers(3)))
    bitshuffle = hdf5plugin.Bitshuffle(int(rng.choice([0, 8, 64, 1024])), cname=["none", "lz4", "zstd"][rng.integers(3)], clevel=few)
    return {
        "deflate %d" % level: (every, [deflate]),
        "shuffle deflate %d" % level: (every, [shuffle, deflate]),
        "shuffle": (every, [shuffle]),
        "fletcher32": (every, [fletcher]),
        "shuffle deflate fletcher32": (every, [shuffle, deflate, fletcher]),
        "fletcher32 shuffle deflate": (every, [fletcher, shuffle, deflate]),
        "szip": ([t for t in numbers], [lambda d: szip(d, rng)]),
        "nbit": (["<i4", ">u2", "<u1", "<f4"], [lambda d: d.set_filter(5, 1)]),
        "scaleoffset": ([t for t in numbers if t[1] != "f"], [lambda d: d.set_scaleoffset(2, 0)]),
        "lzf": (every, [lambda d: d.set_filter(32000, 1)]),
        "shuffle lzf": (every, [shuffle, lambda d: d.set_filter(32000, 1)]),
        "bzip2 %d" % level: (every, [plugin(hdf5plugin.BZip2(level))]),
        "lz4": (every, [plugin(hdf5plugin.LZ4(int(rng.choice([0, 1000, 70000]))))]),
        "shuffle lz4": (every, [shuffle, plugin(hdf5plugin.LZ4())]),
        "zstd %d" % few: (every, [plugin(hdf5plugin.Zstd(few))]),
        "shuffle zstd %d" % few: (every, [shuffle, plugin(hdf5plugin.Zstd(few))]),
        "zstd 9": (every, [plugin(hdf5plugin.Zstd(9))]),
        "bitshuffle %s" % ["none", "?", "lz4", "zstd"][bitshuffle.filter_options[1] if len(bitshuffle.filter_options) > 1 else 0]: (every, [plugin(bitshuffle)]),
        "blosc %d" % (blosc.filter_options[6]): (every, [plugin(blosc)]),
        "blosc2 %d" % (blosc2.filter_options[6]): (every, [plugin(blosc2)]),
        "zfp reversible": (["<i4", "<i8", "<f4", "<f8"], [plugin(hdf5plugin.Zfp(reversible=True))]),
    }


def case(rng, wanted):
    choices = pipelines(rng)
    names = [n for n in choices if wanted is None or n.startswith(wanted)]
    name = names[rng.integers(len(names))]
    dtypes, setters = choices[name]
    rank = int(rng.integers(1, 4))
    most = [20000, 150, 30][rank - 1]
    chunk = tuple(int(rng.integers(2, most)) for _ in range(rank))
    if rank == 1 and rng.random() < 0.2:
        chunk = (int(rng.integers(20000, 300000)),)
    counts = tuple(int(rng.integers(1, 3)) for _ in range(rank))
    shape = tuple(c * k for c, k in zip(chunk, counts))
    dtype = dtypes[rng.integers(len(dtypes))]
    memory = io.BytesIO()
    values = data(rng, dtype, shape)
    with h5py.File(memory, "w") as f:
        dcpl = h5p.create(h5p.DATASET_CREATE)
        dcpl.set_chunk(chunk)
        for setter in setters:
            setter(dcpl)
        space = h5py.h5s.create_simple(shape)
        d = h5py.h5d.create(f.id, b"d", h5py.h5t.py_create(np.dtype(dtype)), space, dcpl)
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values))
    return name, memory, values, chunk


def requests(memory, values, chunk):
    """One per chunk, and libhdf5's stored sizes."""
    with h5py.File(memory, "r") as f:
        d = f["d"].id
        dcpl = d.get_create_plist()
        filters = []
        for k in range(dcpl.get_nfilters()):
            number, flags, cd, _ = dcpl.get_filter(k)
            filters.append({"id": number, "flags": flags, "client_data": [v & 0xFFFFFFFF for v in cd]})
        for i in range(d.get_num_chunks()):
            info = d.get_chunk_info(i)
            at = info.chunk_offset
            part = values[tuple(slice(a, a + c) for a, c in zip(at, chunk))]
            plain = np.ascontiguousarray(part).tobytes().hex()
            yield at, info.size, {"filters": filters, "element_size": values.itemsize, "plain": plain}


def main():
    encoder = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    wanted = sys.argv[4] if len(sys.argv) > 4 else None
    rng = np.random.default_rng(seed)
    cases = []
    while len(cases) < count:
        try:
            made = case(rng, wanted)
        except (ValueError, RuntimeError, OSError):
            continue  # a combination that libhdf5 does not write
        cases.append((made, list(requests(made[1], made[2], made[3]))))
    lines = "\n".join(json.dumps(r[2]) for _, rows in cases for r in rows) + "\n"
    answers = iter(subprocess.run([encoder], input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout.splitlines())
    bad, sizes = 0, collections.defaultdict(list)
    for (name, memory, values, _), rows in cases:
        ours = theirs = 0
        with h5py.File(memory, "r+") as f:
            for at, stored_there, _ in rows:
                answer = json.loads(next(answers))
                if "error" in answer:
                    bad += 1
                    print("ERROR", name, answer["error"])
                    continue
                stored = bytes.fromhex(answer["stored"])
                f["d"].id.write_direct_chunk(at, stored, answer["mask"])
                ours += len(stored)
                theirs += stored_there
        try:
            with h5py.File(memory, "r") as f:
                same = f["d"][...].tobytes() == values.tobytes()
        except (OSError, RuntimeError) as error:
            same = False
            print(error)
        if not same:
            bad += 1
            print("DIFFERENT", name, values.dtype, values.shape, rows[0][2]["filters"])
        sizes[name].append((ours, theirs))
    for name in sorted(sizes):
        rows = np.array(sizes[name], float)
        ratios = rows[:, 0] / rows[:, 1]
        print("%-28s %4d cases, size to C: all %.3f, median %.3f, worst %.3f" % (name, len(rows), rows[:, 0].sum() / rows[:, 1].sum(), np.median(ratios), ratios.max()))
    for family, most in LARGEST.items():
        rows = np.array([row for name in sizes if family.fullmatch(name) for row in sizes[name]], float)
        if len(rows) > 20:
            ratio = rows[:, 0].sum() / rows[:, 1].sum()
            print("%-40s %4d cases, size to C: %.3f, at most %.2f" % (family.pattern, len(rows), ratio, most))
            bad += ratio > most
    print(count, "cases,", bad, "bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
