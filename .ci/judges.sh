#!/usr/bin/env bash
# What is written here, judged by older and newer libhdf5: 1.10.8 (Debian's tools), 1.12.2, 1.14.2, 1.14.4, 1.14.6 and
# 2.0.0 (in wheels of h5py), each of which also changes the files; and by Keras, mat73, pyfive, h5wasm and
# jsfive.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=target/judges
python="$folder/venv/bin/python"
if [ ! -e "$folder/done" ]; then
  rm -rf "$folder" && mkdir -p "$folder/wheels"
  python3 -m venv "$folder/venv"
  # This NumPy and all of these wheels get on with each other.
  "$folder/venv/bin/pip" install --quiet numpy==1.26.4 hdf5plugin==5.0.0
  for version in 3.9.0 3.11.0 3.12.1 3.15.1 3.16.0; do
    "$folder/venv/bin/pip" download --quiet --no-deps --only-binary :all: --dest "$folder/wheels" "h5py==$version"
    "$python" -m zipfile -e "$folder/wheels/h5py-$version"-*.whl "$folder/h5py/$version"
  done
  python3 -m venv "$folder/readers"
  "$folder/readers/bin/pip" install --quiet keras==3.15.1 jax==0.10.2 scipy==1.17.1 mat73==0.65 h5py==3.16.0 \
    hdf5plugin==7.1.0 pyfive==1.3.0
  mkdir -p "$folder/js"
  (cd "$folder/js" && echo '{"private": true}' > package.json && npm install --silent h5wasm@0.10.3 jsfive@0.4.2)
  touch "$folder/done"
fi
command -v h5diff >/dev/null || {
  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends hdf5-tools >/dev/null
}
cargo build --examples
HDFIVE_JUDGES="$PWD/$folder" cargo test --test it -- write::created write::examples
