#!/usr/bin/env python3
"""What the programs that write files of other libraries wrote, as these libraries read it.

  examples.py anndata FILE    needs anndata
  examples.py matlab FILE     needs mat73
  examples.py keras FILE      needs keras
"""
import os
import sys

# A script here has the name of a package.
sys.path.pop(0)

import numpy as np


def anndata(name):
    import anndata

    data = anndata.read_h5ad(name)
    assert data.shape == (100, 40), data
    assert list(data.obs_names[:2]) == ["cell 0", "cell 1"] and data.var_names[39] == "gene 39"
    assert list(data.obs["kind"][:4]) == ["B cell", "T cell", "unknown", "B cell"]
    assert data.obs["depth"].iloc[99] == 49.5
    dense, counts = np.zeros((100, 40), "f4"), iter(np.arange(300) % 11 + 1)
    for cell in range(100):
        for gene in sorted((g + cell) % 40 for g in (0, 7, 20)):
            dense[cell, gene] = next(counts)
    assert np.array_equal(data.X.toarray(), dense)


def matlab(name):
    import mat73

    found = mat73.loadmat(name)
    assert np.array_equal(found["A"], [[1, 2, 3], [4, 5, 6]]) and found["name"] == "Grüße", found
    assert list(np.ravel(found["ok"])) == [True, False, True] and found["s"]["x"] == 0.5
    first, second = found["c"]
    assert first == 7 and second == "two", found["c"]
    with open(name, "rb") as raw:
        assert raw.read(6) == b"MATLAB"


def keras(name):
    os.environ["KERAS_BACKEND"] = "jax"
    import keras

    layers = [keras.layers.Dense(3, name="hidden"), keras.layers.Dense(2, name="out")]
    model = keras.Sequential([keras.Input((4,)), *layers])
    model.load_weights(name)
    for layer, (inputs, outputs) in zip(model.layers, ((4, 3), (3, 2)), strict=True):
        kernel, bias = layer.get_weights()
        assert np.array_equal(kernel, (np.arange(inputs * outputs, dtype="f4") / 10).reshape(inputs, outputs))
        assert np.array_equal(bias, np.arange(outputs, dtype="f4") - 0.5)


if __name__ == "__main__":
    {"anndata": anndata, "matlab": matlab, "keras": keras}[sys.argv[1]](sys.argv[2])
