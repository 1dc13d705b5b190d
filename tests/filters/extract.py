#!/usr/bin/env python3
"""Takes the stored chunks out of one-filter HDF5 files, with what libhdf5 decodes them to.

    extract.py FOLDER OUT.json [LARGEST]

FOLDER holds files with one dataset `data` each (and filters.json, which is not needed here).
OUT.json lists, per file, the filters, the chunk size, the element size, and per chunk the filter
mask, the stored bytes (hex) and the SHA-256 of the decoded chunk: whole, edges included, in the
file's own datatype. LARGEST keeps one chunk per file, the smallest, if it has at most that many
stored bytes. Needs h5py, hdf5plugin and numpy.
"""
import hashlib
import io
import json
import os
import sys

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np
from h5py import h5s

IDENTITY = {32022, 32023, 32032}


def decoded(path, stored, mask):
    """The whole chunk as libhdf5 decodes it, or None if it cannot.

    The chunk takes the place of the first one in a copy of the file, where it lies wholly inside the dataset.
    """
    try:
        memory = io.BytesIO(open(path, "rb").read())
        with h5py.File(memory, "r+") as f:
            dataset = f["data"].id
            dcpl, kind, rank = dataset.get_create_plist(), dataset.get_type(), dataset.rank
            chunk = dcpl.get_chunk()
            if {dcpl.get_filter(k)[0] for k in range(dcpl.get_nfilters())} <= IDENTITY:
                return stored
            if any(c > n for c, n in zip(chunk, dataset.shape)):
                return None
            dataset.write_direct_chunk((0,) * rank, stored, mask)
        with h5py.File(memory, "r") as f:
            dataset = f["data"].id
            plain = np.zeros(chunk, "V%d" % kind.get_size())
            place = dataset.get_space()
            place.select_hyperslab((0,) * rank, chunk)
            dataset.read(h5s.create_simple(chunk), place, plain, mtype=kind)
            return plain.tobytes()
    except (OSError, RuntimeError, ValueError, TypeError):
        return None


def case(path, largest):
    with h5py.File(path, "r") as f:
        dataset = f["data"].id
        dcpl = dataset.get_create_plist()
        filters = []
        for k in range(dcpl.get_nfilters()):
            number, flags, values, name = dcpl.get_filter(k)
            filters.append({"id": number, "flags": flags, "client_data": [v & 0xFFFFFFFF for v in values]})
        size, chunk = dataset.get_type().get_size(), dcpl.get_chunk()
        chunks = []
        for i in range(dataset.get_num_chunks()):
            mask, stored = dataset.read_direct_chunk(dataset.get_chunk_info(i).chunk_offset)
            chunks.append((mask, stored))
        if largest is not None:
            chunks = [min(chunks, key=lambda c: len(c[1]))]
            if len(chunks[0][1]) > largest:
                return None
        rows = []
        for mask, stored in chunks:
            plain = decoded(path, stored, mask)
            digest = hashlib.sha256(plain).hexdigest() if plain is not None else None
            rows.append({"mask": mask, "stored": stored.hex(), "sha256": digest})
    return {
        "file": os.path.basename(path),
        "element_size": size,
        "chunk_bytes": size * int(np.prod(chunk)),
        "filters": filters,
        "chunks": rows,
    }


def main():
    folder, out = sys.argv[1], sys.argv[2]
    largest = int(sys.argv[3]) if len(sys.argv) > 3 else None
    names = sorted(n for n in os.listdir(folder) if n.endswith(".h5"))
    cases = [c for c in (case(os.path.join(folder, n), largest) for n in names) if c]
    with open(out, "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    missing = [c["file"] for c in cases if any(r["sha256"] is None for r in c["chunks"])]
    print(len(cases), "files,", sum(len(c["chunks"]) for c in cases), "chunks; not decoded here:", missing)


if __name__ == "__main__":
    main()
