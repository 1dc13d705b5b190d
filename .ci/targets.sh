# Compilers for other targets: sourced by .ci/full. Debian's compiler carries the source of the standard library, so that
# it can be built for targets that nothing prebuilt exists for.
set -eu
apt_need() { # installs only what is missing
  missing=""
  for package in "$@"; do dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"; done
  [ -z "$missing" ] && return 0
  apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends $missing >/dev/null
}
RUST_LLD="$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld"
xcargo() {
  env PATH="/usr/bin:$PATH" RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc RUSTC_BOOTSTRAP=1 \
    CARGO_TARGET_DIR="${XTARGET:-target/x}" /usr/bin/cargo "$@"
}
STD="-Zbuild-std=std,panic_abort"
apt_need rustc-web cargo-web rust-web-src
mkdir -p target/x

wasm() { # the library as a browser would have it
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$RUST_LLD" \
    xcargo build --release --lib --no-default-features --target wasm32-unknown-unknown $STD
}

wasip1() { # the unit tests with 32-bit addresses and no threads
  apt_need wasi-libc
  printf '%s\n' pthread_join pthread_detach pthread_create pthread_attr_{init,destroy,setstacksize} realpath \
    > target/x/undef.txt # std and a codec name them, and the tests never call them
  CARGO_TARGET_WASM32_WASIP1_LINKER="$RUST_LLD" \
  CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="-C link-self-contained=no -L native=/usr/lib/wasm32-wasi -C link-arg=/usr/lib/wasm32-wasi/crt1-command.o -C link-arg=--allow-undefined-file=$PWD/target/x/undef.txt" \
  WASI_ROOT=/ CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings --stack-size=8000 $PWD/.ci/wasi.mjs" \
    xcargo test --release --lib --no-default-features --target wasm32-wasip1 $STD -- --test-threads=1 "$@"
}

s390x() { # the unit tests on a big-endian machine, emulated
  apt_need qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross
  CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_LINKER=s390x-linux-gnu-gcc \
  CARGO_TARGET_S390X_UNKNOWN_LINUX_GNU_RUNNER="qemu-s390x -L /usr/s390x-linux-gnu" \
    xcargo test --release --lib --target s390x-unknown-linux-gnu $STD -- "$@"
}

musl() { # h5 as a static binary for any Linux; says where it is
  apt_need musl-tools libunwind-19-dev
  shim=target/x/musl-shim
  mkdir -p $shim
  cp /usr/lib/llvm-19/lib/libunwind.a $shim/
  printf '#include <stdarg.h>\n#include <stdio.h>\nint __fprintf_chk(FILE*f,int n,const char*s,...){va_list a;va_start(a,s);int r=vfprintf(f,s,a);va_end(a);return r;}\n' |
    musl-gcc -O2 -c -x c - -o $shim/compat.o && ar r $shim/libunwind.a $shim/compat.o
  CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=musl-gcc \
  CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS="-C link-self-contained=no -C target-feature=+crt-static -C relocation-model=static -L native=$PWD/$shim" \
    xcargo build --release --features cli --bin h5 --target x86_64-unknown-linux-musl $STD
  file target/x/x86_64-unknown-linux-musl/release/h5 | grep -q 'statically linked'
}
