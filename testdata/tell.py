"""What the scripts that make test files share: where files go, and expectations. README.md says what these mean."""
import ctypes
import glob
import hashlib
import itertools
import json
import os
import struct
import sys

import h5py
import numpy as np

SCRIPT = os.path.abspath(sys.argv[0])
FOLDER = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.dirname(SCRIPT)
os.chdir(FOLDER)


def libhdf5():
    """The library inside h5py, for the few calls that h5py does not have."""
    libs = glob.glob(os.path.join(os.path.dirname(h5py.__file__) + ".libs", "libhdf5-*"))
    libs += glob.glob(os.path.join(os.path.dirname(h5py.__file__), ".dylibs", "libhdf5.*"))
    lib = ctypes.CDLL(libs[0])
    for name in ("H5Pset_nbit", "H5Pset_chunk_opts", "H5Pset_sym_k", "H5Pset_istore_k",
                 "H5Pset_shared_mesg_nindexes", "H5Pset_shared_mesg_index", "H5Pset_char_encoding"):
        getattr(lib, name).argtypes = [ctypes.c_int64] + [ctypes.c_uint] * 3
    return lib


LIB = libhdf5()


def call(name, plist, *args):
    function = getattr(LIB, name)
    function.argtypes = [ctypes.c_int64] + [ctypes.c_uint] * len(args)
    assert function(plist.id, *args) >= 0, name


def packed(value, dtype):
    """One element, as the digest has it."""
    text = h5py.check_string_dtype(dtype)
    if text is not None:
        if isinstance(value, str):
            value = value.encode()
        value = value if value is not None and value != 0 else b""
        return struct.pack("<Q", len(value)) + value
    base = h5py.check_vlen_dtype(dtype)
    if base is not None:
        value = [] if value is None else value
        return struct.pack("<Q", len(value)) + b"".join(packed(v, base) for v in value)
    if h5py.check_ref_dtype(dtype) is not None:
        raise TypeError("references are told by the script")
    if dtype.subdtype is not None:
        base, _ = dtype.subdtype
        return b"".join(packed(v, base) for v in np.asarray(value, dtype=base).reshape(-1))
    if dtype.names is not None:
        return b"".join(packed(value[name], dtype[name]) for name in dtype.names)
    if dtype.kind == "V":
        return value.tobytes() if hasattr(value, "tobytes") else bytes(value)
    return np.asarray(value).astype(dtype.newbyteorder("<")).tobytes()


def digest(array, dtype=None):
    dtype = array.dtype if dtype is None else dtype
    flat = np.asarray(array).reshape(-1)
    simple = dtype.kind in "iufcb" and h5py.check_vlen_dtype(dtype) is None
    if simple:
        data = np.ascontiguousarray(flat).astype(dtype.newbyteorder("<")).tobytes()
    else:
        data = b"".join(packed(v, dtype) for v in flat)
    return hashlib.sha256(data).hexdigest()


def plain(array, dtype=None):
    """The values as JSON has them, or None for what it has not."""
    dtype = array.dtype if dtype is None else dtype
    if h5py.check_string_dtype(dtype) is not None:
        try:
            return [v.decode() if isinstance(v, bytes) else (v or "") for v in np.asarray(array).reshape(-1)[:64]]
        except UnicodeDecodeError:
            return None
    if dtype.kind in "iu" and h5py.check_enum_dtype(dtype) is None:
        return [int(v) for v in np.asarray(array).reshape(-1)[:64]]
    if dtype.kind == "f" and dtype.itemsize in (4, 8):
        values = [float(v) for v in np.asarray(array).reshape(-1)[:64]]
        return values if all(np.isfinite(values)) else None
    return None


def content(read, shape, dtype):
    """Digest and values of something that is read as a whole."""
    if shape is None:
        return {"digest": hashlib.sha256(b"").hexdigest()}
    try:
        out = {"digest": digest(read, dtype)}
    except TypeError:
        return {}
    values = plain(read, dtype)
    if values is not None:
        out["values"] = values
    return out


def attribute(attrs, name):
    at = attrs.get_id(name)
    dtype = at.dtype
    if at.get_space().get_simple_extent_type() == h5py.h5s.NULL:
        return {"shape": None, **content(None, None, dtype)}
    if h5py.check_vlen_dtype(dtype) is not None and at.shape == ():
        # h5py gives the sequence itself.
        value = np.empty((), dtype=object)
        value[()] = attrs[name]
    elif dtype.subdtype is not None:
        base, inner = dtype.subdtype
        return {"shape": list(at.shape), **content(np.asarray(attrs[name]), at.shape, base)}
    else:
        value = np.empty(at.shape, dtype=dtype)
        if value.size:
            at.read(value)
    out = {"shape": list(at.shape), **content(value, at.shape, dtype)}
    return out


def attributes(obj):
    return {name: attribute(obj.attrs, name) for name in obj.attrs}


def blocks(dataset):
    """Two parts of the dataset: a box inside, and its last elements."""
    if not dataset.shape or dataset.size < 4:
        return []
    inner = [(n // 3, max(1, n // 2)) for n in dataset.shape]
    last = [(max(0, n - 3), min(3, n)) for n in dataset.shape]
    out = []
    for box in (inner, last):
        part = dataset[tuple(slice(start, start + count) for start, count in box)]
        try:
            told = digest(part, dataset.dtype.subdtype[0] if dataset.dtype.subdtype else dataset.dtype)
        except TypeError:
            continue
        out.append({"start": [s for s, _ in box], "count": [c for _, c in box], "digest": told})
    return out


def one(obj):
    out = {"attributes": attributes(obj)}
    if isinstance(obj, h5py.Dataset):
        out["kind"] = "dataset"
        out["shape"] = None if obj.shape is None else list(obj.shape)
        if obj.shape is not None:
            out["maxshape"] = list(obj.maxshape)
            out["chunks"] = list(obj.chunks) if obj.chunks else None
        dtype = obj.dtype.subdtype[0] if obj.dtype.subdtype else obj.dtype
        read = None if obj.shape is None else obj[()]
        if obj.shape == () and h5py.check_vlen_dtype(dtype) is not None:
            value = np.empty((), dtype=object)
            value[()] = read
            read = value
        elif read is not None:
            read = np.asarray(read, dtype=object) if isinstance(read, (bytes, str)) else np.asarray(read)
        out.update(content(read, obj.shape, dtype))
        if obj.dtype.subdtype:
            out.pop("values", None)
        parts = blocks(obj) if obj.shape is not None else []
        if parts:
            out["blocks"] = parts
    elif isinstance(obj, h5py.Datatype):
        out["kind"] = "named_type"
    else:
        out["kind"] = "group"
        links = {}
        for name in obj:
            link = obj.get(name, getlink=True)
            if isinstance(link, h5py.SoftLink):
                links[name] = ["soft", link.path]
            elif isinstance(link, h5py.ExternalLink):
                links[name] = ["external", link.filename, link.path]
            else:
                links[name] = ["hard"]
        out["links"] = links
    return out


def walk(file):
    """Every object once, breadth first, by the first path that leads to it."""
    seen, queue, out = set(), [("/", file["/"])], {}
    while queue:
        path, obj = queue.pop(0)
        token = h5py.h5o.get_info(obj.id).addr
        if token in seen:
            continue
        seen.add(token)
        out[path] = one(obj)
        if isinstance(obj, h5py.Group):
            for name in sorted(obj, key=lambda n: n.encode()):
                if isinstance(obj.get(name, getlink=True), h5py.HardLink):
                    queue.append((path.rstrip("/") + "/" + name, obj[name]))
    return out


def write(stem, told):
    with open(stem + ".expect.json", "w", encoding="utf8") as out:
        text = lambda value: json.dumps(value, sort_keys=True, ensure_ascii=False)
        objects = told.pop("objects")
        head = text(told).rstrip("}")
        lines = ",\n".join(f"{text(path)}: {text(keys)}" for path, keys in sorted(objects.items()))
        out.write(f"{head}, \"objects\": {{\n{lines}\n}}}}\n")


def tell(name, more=None, driver=None, **opening):
    """Writes the expectation of a file as h5py reads it; `more` adds to objects by path."""
    with h5py.File(name, "r", **({"driver": driver} if driver else {}), **opening) as file:
        objects = walk(file)
    for path, keys in (more or {}).items():
        objects[path].update(keys)
    told = {"file": name, "by": "h5py", "objects": objects}
    if driver:
        told["driver"] = driver
    stem = name.replace("%05d", "00000").rsplit(".", 1)[0]
    write(stem, told)


def tell_arrays(name, by, arrays, attrs=None):
    """Writes the expectation of a file as another library reads it: arrays by path, attributes by path and name."""
    objects = {}
    for path, array in arrays.items():
        array = np.asarray(array)
        if array.dtype.kind in "UO":
            array = np.array([str(v) for v in array.reshape(-1)], dtype=object).reshape(array.shape)
            dtype = h5py.string_dtype()
        else:
            dtype = array.dtype
        objects[path] = {"shape": list(array.shape), **content(array, array.shape, dtype), "kind": "dataset"}
    for path, values in (attrs or {}).items():
        into = objects.setdefault(path, {}).setdefault("attributes", {})
        for key, value in values.items():
            value = np.asarray(value)
            if value.dtype.kind in "UO":
                into[key] = {"values": [str(v) for v in value.reshape(-1)]}
            else:
                into[key] = {"values": plain(value)}
    write(name.rsplit(".", 1)[0], {"file": name, "by": by, "objects": objects})


def ramp(shape, dtype="i4"):
    """Numbers that are all different, or nearly, and compress a little."""
    count = int(np.prod(shape))
    return ((np.arange(count, dtype="i8") * 7919) % 10007 - 3000).reshape(shape).astype(dtype)


def product(*lists):
    return itertools.product(*lists)
