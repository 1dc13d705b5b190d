"""Every chunk index: with and without filters, with masks, with unfiltered partial chunks, shrunk and regrown."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


KINDS = {
    "single": dict(shape=(7, 9), chunks=(7, 9)),
    "fixed_array": dict(shape=(23, 19), chunks=(5, 4)),
    "fixed_array_maximum": dict(shape=(23, 19), chunks=(5, 4), maxshape=(60, 45)),
    "extensible_array": dict(shape=(23, 19), chunks=(5, 4), maxshape=(None, 19)),
    "extensible_array_last": dict(shape=(11, 23), chunks=(3, 4), maxshape=(14, None)),
    "extensible_array_middle": dict(shape=(3, 11, 5), chunks=(2, 3, 2), maxshape=(4, None, 9)),
    "btree_v2": dict(shape=(23, 19), chunks=(5, 4), maxshape=(None, None)),
}


def options(filtered):
    return dict(compression="gzip", shuffle=True, fletcher32=True) if filtered else {}


def make(name, libver, kinds):
    with h5py.File(name, "w", libver=libver) as file:
        for kind, filtered in product(kinds, (False, True)):
            about = KINDS[kind]
            path = f"{kind}/{'filtered' if filtered else 'plain'}"
            file.create_dataset(path, data=ramp(about["shape"]), **{k: v for k, v in about.items() if k != "shape"},
                                **options(filtered))
            holes = file.create_dataset(path + "_holes", dtype="i4", fillvalue=-1, **about, **options(filtered))
            holes[tuple(slice(n // 2, n // 2 + 2) for n in about["shape"])] = 5
            if "maxshape" in about and None in about["maxshape"]:
                regrown = file.create_dataset(path + "_regrown", data=ramp(about["shape"]), fillvalue=-2,
                                              **{k: v for k, v in about.items() if k != "shape"}, **options(filtered))
                axis = about["maxshape"].index(None)
                large = list(about["shape"])
                large[axis] = 41
                regrown.resize(large)
                regrown.resize(about["shape"][axis] // 3, axis=axis)
                regrown.resize(about["shape"][axis], axis=axis)
                shrunk = file.create_dataset(path + "_shrunk", data=ramp(about["shape"]),
                                             **{k: v for k, v in about.items() if k != "shape"}, **options(filtered))
                shrunk.resize(about["shape"][axis] // 3, axis=axis)
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((5, 4))
        dcpl.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        space = h5py.h5s.create_simple((23, 19))
        ds = h5py.h5d.create(file.id, b"implicit", h5py.h5t.STD_I32LE, space, dcpl)
        h5py.Dataset(ds)[...] = ramp((23, 19))
        for kind in kinds:
            about = {k: v for k, v in KINDS[kind].items() if k != "shape"}
            if kind != "single":
                masked = file.create_dataset(f"{kind}/masked", data=ramp(KINDS[kind]["shape"]), compression="gzip",
                                             shuffle=True, **about)
                # Two chunks that skip filters: one both, one only gzip.
                chunk = np.ascontiguousarray(ramp(about["chunks"]))
                at = (0,) * len(about["chunks"])
                masked.id.write_direct_chunk(at, chunk.tobytes(), filter_mask=3)
                at = tuple(about["chunks"])
                shuffled = chunk.view("u1").reshape(-1, 4).T.tobytes()
                masked.id.write_direct_chunk(at, shuffled, filter_mask=2)
            if libver == "latest":
                dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                dcpl.set_chunk(about["chunks"])
                dcpl.set_shuffle()
                dcpl.set_deflate(6)
                call("H5Pset_chunk_opts", dcpl, 2)
                limits = tuple(h5py.h5s.UNLIMITED if m is None else m for m in about.get("maxshape", KINDS[kind]["shape"]))
                space = h5py.h5s.create_simple(KINDS[kind]["shape"], limits)
                path = f"{kind}/partial_plain".encode()
                ds = h5py.h5d.create(file.id, path, h5py.h5t.STD_I32LE, space, dcpl)
                h5py.Dataset(ds)[...] = ramp(KINDS[kind]["shape"])
    tell(name)


make("chunks_earliest.h5", "earliest", ["single", "fixed_array_maximum", "extensible_array_last"])
make("chunks_fixed.h5", "latest", [kind for kind in KINDS if kind[:5] in ("singl", "fixed")])
make("chunks_extensible.h5", "latest", [kind for kind in KINDS if kind[:5] == "exten"])
make("chunks_btree_v2.h5", "latest", ["btree_v2"])
