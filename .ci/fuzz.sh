#!/usr/bin/env bash
# Fuzzes every target for so many seconds each, going on with the corpus of the run before: fuzz.sh SECONDS [TARGET]...
# Needs a nightly compiler and a C++ compiler for libFuzzer; installs cargo-fuzz where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-300}
shift || true
command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz
targets=("$@")
[ "${#targets[@]}" -gt 0 ] || mapfile -t targets < <(cargo +nightly fuzz list)
for target in "${targets[@]}"; do
  echo "fuzzing $target for $seconds s"
  # Whole files begin with those of the tests.
  case $target in open | read)
    mkdir -p "fuzz/corpus/$target"
    find testdata -name '*.h5' -size -16k | while read -r file; do cp "$file" "fuzz/corpus/$target/${file//\//_}"; done ;;
  esac
  cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -verbosity=0 -print_final_stats=1
done
