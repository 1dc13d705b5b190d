"""Written and read by anndata."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *

import warnings

warnings.simplefilter("ignore")
import anndata
import pandas as pd
import scipy.sparse

matrix = scipy.sparse.csr_matrix(np.where(ramp((12, 8)) % 3 == 0, ramp((12, 8)), 0).astype("f4"))
obs = pd.DataFrame({"kind": pd.Categorical(["a", "b", "c"] * 4), "score": np.arange(12) / 2},
                   index=[f"cell {i}" for i in range(12)])
data = anndata.AnnData(matrix, obs=obs, var=pd.DataFrame(index=[f"gene {i}" for i in range(8)]),
                       obsm={"X_pca": ramp((12, 3), "f8")})
data.write_h5ad("anndata_matrix.h5ad", compression="gzip")
read = anndata.read_h5ad("anndata_matrix.h5ad")
tell_arrays("anndata_matrix.h5ad", "anndata", {
    "/X/data": read.X.data, "/X/indices": read.X.indices, "/X/indptr": read.X.indptr,
    "/obsm/X_pca": read.obsm["X_pca"], "/obs/score": read.obs["score"].to_numpy(),
    "/obs/kind/codes": read.obs["kind"].cat.codes.to_numpy(),
    "/obs/kind/categories": read.obs["kind"].cat.categories.to_numpy(),
    "/var/_index": read.var.index.to_numpy(),
})
