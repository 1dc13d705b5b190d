"""Answers questions about datasets, one a line, as h5py reads them; and as NumPy indexes them, where h5py refuses an
index.

    {"file": .., "path": .., "index": [..] or {"points": [..]}, "type": "f32", "rule": "lossless" or "saturating"}

An answer is {"shape": .., "sha256": ..} of the values as the test packs them, or {"error": ..}, or {"skip": why}.
"""
import hashlib
import json
import struct
import sys

import h5py
import hdf5plugin  # noqa: F401 registers filters
import numpy as np

OPEN = {}
TYPES = {"f16": "f2", **{f"{k}{b}": f"{k}{b // 8}" for k in "iu" for b in (8, 16, 32, 64)}, "f32": "f4", "f64": "f8"}
WORDS = {"c64": "c8", "c128": "c16"}


class Wrong(Exception):
    """What hdfive is to answer with an error of this kind."""


class Skip(Exception):
    """Nothing can be said."""


def dataset(name, path):
    if OPEN.get("name") != (name, path):
        OPEN.clear()
        OPEN.update(name=(name, path), dataset=h5py.File(name, "r")[path])
        OPEN["whole"] = OPEN["dataset"][()] if OPEN["dataset"].shape is not None else None
    return OPEN["dataset"], OPEN["whole"]


def positions(index, size):
    """The elements that an index selects along a dimension, and whether it drops the dimension."""
    if "at" in index:
        at = index["at"]
        if not -size <= at < size:
            raise Wrong("OutOfBounds")
        return np.array([at % size]), True
    if "range" in index:
        return np.arange(size)[slice(*index["range"])], False
    if "list" in index:
        found = np.array(index["list"], dtype="i8")
        if found.size and not (-size <= found.min() and found.max() < size):
            raise Wrong("OutOfBounds")
        return np.where(found < 0, found + size, found), False
    if "mask" in index:
        return np.nonzero(np.array(index["mask"], dtype=bool))[0], False
    start, stride, count, block = index["blocks"]
    found = np.array([start + i * stride + k for i in range(count) for k in range(block)], dtype="i8")
    if found.size and found.max() >= size:
        raise Wrong("OutOfBounds")
    return found, False


def outer(array, index):
    """The product of what the indices select."""
    rest = array.ndim - sum(1 for one in index if one not in ("...", "new"))
    if rest < 0:
        raise Wrong("OutOfBounds")
    whole = [{"range": [None, None, None]}] * rest
    at = index.index("...") if "..." in index else len(index)
    index = index[:at] + whole + index[at + 1:]
    shape, axis, result = [], 0, array
    for one in index:
        if one == "new":
            shape.append(1)
            continue
        found, dropped = positions(one, array.shape[axis])
        result = np.take(result, found, axis=axis)
        if not dropped:
            shape.append(len(found))
        axis += 1
    return result.reshape(shape)


def as_h5py(index):
    """The index in h5py's terms; None for one that it has no terms for."""
    out = []
    for one in index:
        if one == "...":
            out.append(Ellipsis)
        elif one == "new" or "blocks" in one:
            return None
        elif "at" in one:
            out.append(one["at"])
        elif "range" in one:
            out.append(slice(*one["range"]))
        elif "list" in one:
            out.append(one["list"])
        else:
            out.append(np.array(one["mask"], dtype=bool))
    return tuple(out)


def select(source, whole, index):
    """What NumPy selects of the whole; checked against h5py where that takes the index."""
    if isinstance(index, dict) and "points" in index:
        points = np.array(index["points"], dtype="i8").reshape(-1, whole.ndim)
        if (points < -np.array(whole.shape)).any() or (points >= np.array(whole.shape)).any():
            raise Wrong("OutOfBounds")
        return whole[tuple(points.T)]
    if isinstance(index, dict):
        mask = np.array(index["full_mask"], dtype=bool).reshape(whole.shape)
        result, wanted = whole[mask], mask
    else:
        result, wanted = outer(whole, index), as_h5py(index)
    if wanted is not None and isinstance(source, h5py.Dataset):
        try:
            own = source[wanted]
        except Exception:
            return result
        # h5py gives a scalar where NumPy gives an array without dimensions.
        own = np.asarray(own) if result.dtype != object or np.ndim(own) else own
        if np.shape(own) != result.shape:
            raise AssertionError(f"h5py gives shape {np.shape(own)}, NumPy {result.shape}")
    return result


def numbers(array, kind):
    """Whether these are numbers of such a kind to hdfive: integers, bit fields, enumerations, floats."""
    return array.dtype.kind in kind and array.dtype.names is None


def exact(array, wanted):
    """The array as another type; an error unless all is kept."""
    with np.errstate(all="ignore"):
        made = array.astype(wanted)
        if wanted.kind == "f":
            kept = made.astype(np.longdouble) == array.astype(np.longdouble)
            kept |= np.isnan(array) if array.dtype.kind == "f" else False
        elif array.dtype.kind == "f":
            info = np.iinfo(wanted)
            inside = (array >= info.min) & (array.astype(np.longdouble) <= np.longdouble(info.max))
            kept = inside & (np.trunc(array) == array)
        else:
            kept = np.array([int(a) == int(b) for a, b in zip(made.flat, array.flat)], dtype=bool)
    if not np.all(kept):
        raise Wrong("WrongType")
    return made


def converted(source, whole, index, array, wanted, rule):
    if array.dtype.kind == "b":
        array = array.astype("u1")
    if rule == "lossless":
        return exact(array, wanted)
    if wanted.kind == "f":
        # libhdf5 rounds ties up where the machine has no instruction for it, and to even elsewhere; NumPy to even.
        with np.errstate(all="ignore"):
            return array.astype(wanted)
    if wanted.kind in "iu" and array.dtype.kind == "f" and np.isnan(array).any():
        raise Skip("libhdf5 makes of NaN what the machine makes of it")
    if wanted.kind in "iu" and source.dtype.kind == "f" and ((-1 < array) & (array < 0)).any():
        raise Skip("libhdf5 makes -2**31 of -0.125 where floats are in the other byte order")
    if source.dtype.kind in "iu" and odd_order(source, wanted):
        raise Skip("libhdf5 only turns bytes round where integers of one size are in the other byte order")
    if source.dtype.kind == "b":
        return array.astype(wanted)
    memory = source.astype(wanted)[()]
    return np.asarray(select(None, np.asarray(memory), index))


def odd_order(source, wanted):
    """Whether libhdf5 takes one integer type for another, which differs in its sign or its bits."""
    tid = source.id.get_type()
    tid = tid.get_super() if tid.get_class() == h5py.h5t.ENUM else tid
    whole = tid.get_precision() == 8 * tid.get_size()
    return source.dtype.byteorder == ">" and source.dtype.itemsize == wanted.itemsize \
        and (source.dtype.kind != wanted.kind or not whole)


def trimmed(tid, text):
    if text is None or text == 0:
        return b""
    if isinstance(text, str):
        text = text.encode()
    if tid.is_variable_str():
        return text.split(b"\0")[0]
    padding = tid.get_strpad()
    if padding == h5py.h5t.STR_NULLTERM:
        return text.split(b"\0")[0]
    return text.rstrip(b"\0" if padding == h5py.h5t.STR_NULLPAD else b" ")


def pack(question):
    source, whole = dataset(question["file"], question["path"])
    wanted, tid = question["type"], source.id.get_type()
    if whole is None:
        raise Skip("a null dataspace has nothing to select")
    if h5py.check_string_dtype(source.dtype) is not None:
        if wanted != "string":
            raise Wrong("WrongType")
        flat = np.empty(source.shape, dtype=object)
        values = np.asarray(whole, dtype=object).reshape(-1)
        for i, text in enumerate(values):
            flat.reshape(-1)[i] = trimmed(tid, text)
        array = select(source, flat, question["index"])
        for text in array.reshape(-1):
            try:
                text.decode()
            except UnicodeDecodeError as e:
                raise Wrong("WrongType") from e
        return array.shape, b"".join(struct.pack("<Q", len(text)) + text for text in array.reshape(-1))
    whole = np.asarray(whole)
    simple = source.dtype.subdtype is None and h5py.check_vlen_dtype(source.dtype) is None
    if tid.get_class() == h5py.h5t.TIME or whole.dtype.kind == "O" and simple:
        raise Skip("h5py has no type for these elements")
    array = select(source, whole, question["index"]) if simple else whole
    if wanted == "bool":
        if tid.get_class() == h5py.h5t.FLOAT or simple and tid.get_class() == h5py.h5t.ENUM and array.dtype.kind != "b":
            raise Wrong("WrongType")
        if simple and numbers(array, "iub"):
            if array.dtype.kind != "b" and ((array != 0) & (array != 1)).any():
                if question["rule"] == "lossless":
                    raise Wrong("WrongType")
            return array.shape, (array != 0).astype("u1").tobytes()
        raise Wrong("WrongType")
    if wanted in TYPES and simple and numbers(array, "iufb"):
        made = converted(source, whole, question["index"], array, np.dtype("<" + TYPES[wanted]), question["rule"])
        if made.dtype.kind == "f":
            made = np.where(np.isnan(made), np.array(np.nan, made.dtype), made).astype(made.dtype)
        return array.shape, made.tobytes()
    names = source.dtype.names
    if names in (("real", "imag"), ("re", "im"), ("r", "i")) and source.dtype[0] == source.dtype[1] \
            and source.dtype[0].kind in "iuf" and source.dtype[0].itemsize <= 8:
        # Complex numbers as MATLAB and others keep them.
        array = array[names[0]].astype("f8") + 1j * array[names[1]].astype("f8")
    if wanted in WORDS and numbers(array, "c"):
        if source.dtype.itemsize > 16 and tid.get_super().get_precision() != 80:
            raise Skip("h5py takes quadruple precision for the machine's long double")
        to = np.dtype("<" + WORDS[wanted])
        part = np.dtype(f"<f{to.itemsize // 2}")
        parts = np.stack([array.real, array.imag], axis=-1)
        made = exact(parts, part) if question["rule"] == "lossless" else parts.astype(part)
        return array.shape, np.where(np.isnan(made), np.array(np.nan, part), made).astype(part).tobytes()
    raise Wrong("WrongType")


def answer(question):
    try:
        shape, packed = pack(question)
        return {"shape": list(shape), "sha256": hashlib.sha256(packed).hexdigest(), "bytes": len(packed)}
    except Wrong as wrong:
        return {"error": str(wrong)}
    except Skip as skip:
        return {"skip": str(skip)}
    except AssertionError as error:
        return {"differ": str(error)}
    except Exception as error:
        return {"skip": f"{type(error).__name__}: {error}"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
