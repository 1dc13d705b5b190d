"""What h5py and NumPy say of the datasets of some files: one line of JSON per dataset that holds plain elements.

    python datasets.py FILE...
"""
import hashlib, json, sys
import h5py, hdf5plugin, numpy as np


def digest(array):
    if array.dtype.kind == "O":
        texts = [text.encode() for text in array.ravel()]
        data = b"".join(len(text).to_bytes(8, "little") + text for text in texts)
    else:
        data = np.ascontiguousarray(array).tobytes()
    return [list(array.shape), hashlib.sha256(data).hexdigest()]


def is_plain(dataset):
    if not dataset.shape or dataset.dtype.shape or dataset.size > 1_000_000:
        return False
    if h5py.check_string_dtype(dataset.dtype) and dataset.dtype.kind == "S":
        return dataset.id.get_type().get_strpad() == h5py.h5t.STR_NULLPAD
    return dataset.dtype.kind in "iufbc" or bool(h5py.check_string_dtype(dataset.dtype))


def tell(path, dataset):
    text = dataset.dtype.kind == "O"
    whole = np.asarray(dataset.asstr()[()] if text else dataset[()], dtype=object if text else dataset.dtype)
    never = dataset.id.get_create_plist().get_fill_time() == h5py.h5d.FILL_TIME_NEVER
    fill = np.zeros((), dataset.dtype)[()] if never and not text else dataset.fillvalue
    if text:
        fill = fill.decode() if isinstance(fill, bytes) else fill or ""
    grown = np.full([size + 1 for size in whole.shape], fill, dtype=whole.dtype)
    grown[tuple(slice(0, size) for size in whole.shape)] = whole
    said = {"file": path, "path": dataset.name, "all": digest(whole), "grown": digest(grown)}
    if whole.size:
        last = whole.shape[0] - 1
        said |= {
            "every_second": digest(whole[1::2]),
            "list": digest(whole[[last, 0, last]]),
            "column": digest(whole[..., -1:]),
        }
    print(json.dumps(said))


for path in sys.argv[1:]:
    try:
        with h5py.File(path) as file:
            datasets = []
            file.visititems(lambda _, o: datasets.append(o) if isinstance(o, h5py.Dataset) else None)
            for dataset in datasets:
                try:
                    if is_plain(dataset):
                        tell(path, dataset)
                except Exception as error:
                    print(f"{path}{dataset.name}: {error}", file=sys.stderr)
    except (OSError, RuntimeError) as error:
        print(f"{path}: {error}", file=sys.stderr)
