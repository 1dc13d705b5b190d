#!/usr/bin/env bash
# Builds the C references that distributions do not offer with AVX2: C-Blosc with LZ4, and bitshuffle.
#
#   build_c.sh C-BLOSC LZ4 BITSHUFFLE TO
#
# The first three are folders with the sources of those projects, TO takes the shared libraries. The other
# references are shared libraries as they come: libdeflate, liblz4, libzstd, libaec (libsz), liblzf, libhdf5.
set -euo pipefail
blosc=$(realpath "$1") lz4=$(realpath "$2")/lib bitshuffle=$(realpath "$3")
mkdir -p "$4"
to=$(realpath "$4")
cd "$(mktemp -d)"
flags="-O3 -fPIC -DNDEBUG"
cc $flags -c "$lz4"/lz4.c "$lz4"/lz4hc.c
enabled="-DSHUFFLE_SSE2_ENABLED -DSHUFFLE_AVX2_ENABLED -DBLOSC_TESTING -DBLOSC_SHARED_LIBRARY -DHAVE_LZ4 -I$lz4"
for name in blosc blosclz fastcopy shuffle shuffle-generic bitshuffle-generic shuffle-sse2 bitshuffle-sse2; do
  cc $flags $enabled -c "$blosc/blosc/$name.c"
done
cc $flags $enabled -mavx2 -c "$blosc/blosc/shuffle-avx2.c" "$blosc/blosc/bitshuffle-avx2.c"
cc -shared -Wl,-Bsymbolic -o "$to/libblosc_avx2.so" ./*.o -lpthread
rm ./*.o
cc $flags -mavx2 -std=gnu99 -I"$bitshuffle/lz4" -c "$bitshuffle"/src/{bitshuffle,bitshuffle_core,iochain}.c "$bitshuffle/lz4/lz4.c"
cc -shared -Wl,-Bsymbolic -o "$to/libbitshuffle_avx2.so" ./*.o
