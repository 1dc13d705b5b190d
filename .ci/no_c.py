#!/usr/bin/env python3
"""Fails if a dependency builds or links C, or has a licence that is not on the list.

  no_c.py TARGET [arguments of cargo tree, for example --features cli]
"""
import json
import re
import subprocess
import sys

LICENCES = {
    "MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "0BSD",
    "Unlicense", "CC0-1.0", "Unicode-3.0", "MIT-0", "BSL-1.0", "bzip2-1.0.6",
}
BUILDS_C = {"cc", "cmake", "bindgen", "pkg-config", "nasm-rs", "vcpkg", "autotools", "link-cplusplus", "system-deps"}
DECLARATIONS_ONLY = {"linux-raw-sys", "windows-sys", "web-sys", "js-sys"}
# A guard against two copies; a pure-Rust port that keeps the name of what it replaces.
LINKS_NOTHING = {"rayon-core", "wasm_bindgen"}
PURE_RUST = {"libbz2-rs-sys"}
# Features that are there for C, and what they bring.
WANTED_C = {
    "blosc-src": {
        "blosc-src", "cc", "libz-sys", "link-cplusplus", "lz4-sys", "pkg-config", "snappy_src", "vcpkg", "zstd-sys",
    },
}


def run(*command):
    return subprocess.check_output(command, text=True)


def licensed(expression):
    parts = re.split(r"\s+OR\s+|/", expression or "")
    return any(part and all(p.strip(" ()") in LICENCES for p in part.split(" AND ")) for part in parts)


target, arguments = sys.argv[1], sys.argv[2:]
tree = run("cargo", "tree", "-e", "normal,build", "--target", target, "--prefix", "none", "--no-dedupe", "-f", "{p}", *arguments)
used = {tuple(line.split()[:2]) for line in tree.splitlines() if line.strip()}
packages = json.loads(run("cargo", "metadata", "--format-version", "1", "--all-features"))["packages"]
features = {feature for i, argument in enumerate(arguments) if argument == "--features" for feature in arguments[i + 1].split(",")}
let_pass = set().union(*(WANTED_C.get(feature, ()) for feature in features))
faults, seen = [], 0
for package in sorted(packages, key=lambda p: p["name"]):
    name, version, links = package["name"], package["version"], package["links"]
    if (name, "v" + version) not in used or package["source"] is None:
        continue
    seen += 1
    if name in let_pass:
        continue
    if name in BUILDS_C:
        faults.append(f"{name} {version} builds or finds C")
    if links and links not in LINKS_NOTHING:
        faults.append(f"{name} {version} links {links!r}")
    if name.endswith("-sys") and not links and name not in DECLARATIONS_ONLY | PURE_RUST:
        faults.append(f"{name} {version} is a -sys crate")
    if not licensed(package["license"]):
        faults.append(f"{name} {version} has the licence {package['license']!r}")
verdict = "no C but of " + ", ".join(sorted(features & WANTED_C.keys())) if let_pass else "no C"
print(f"{seen} dependencies on {target}: " + ("; ".join(faults) or f"{verdict}, licences fine"))
sys.exit(bool(faults))
