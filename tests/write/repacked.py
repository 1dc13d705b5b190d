#!/usr/bin/env python3
"""Repacks files to a compatibility level, and lets libhdf5 say whether they hold what they held.

  repacked.py H5 ORACLE CORPUS LEVEL [PART]

H5 is the program, ORACLE the folder with oracle.py and compare.py, CORPUS a folder with ORACLE.jsonl files below it. Only
files whose path contains PART are taken. Needs h5py and hdf5plugin. What the program reports as left out is not looked for.
"""
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

H5, ORACLE, CORPUS, LEVEL = sys.argv[1:5]
PART = sys.argv[5] if len(sys.argv) > 5 else ""
sys.path.insert(0, ORACLE)
sys.argv = sys.argv[:1]
import compare  # noqa: E402

# Of references into another file the oracle looks up addresses in this one, where other objects are now.
KNOWN = {"hdf5/h5dump/trefer_ext2.h5"}
COMPAT = {"earliest": 0, "v18": 1, "v110": 2, "v114": 3, "v200": 4}
compare.SUPER = ()


def documents():
    for folder, _, files in sorted(os.walk(CORPUS)):
        if "ORACLE.jsonl" in files and "bad" not in folder.split(os.sep):
            for line in open(os.path.join(folder, "ORACLE.jsonl"), encoding="utf8", errors="surrogatepass"):
                doc = json.loads(line)
                if PART in os.path.join(folder, doc["file"]):
                    yield folder, doc


def judge(job):
    folder, doc = job
    name = os.path.relpath(os.path.join(folder, doc["file"]), CORPUS)
    if "root_error" in doc or "oracle_failed" in doc or ("open_error" in doc and "opened_as" not in doc):
        return name, "skipped", []
    with tempfile.TemporaryDirectory() as work:
        # What the file names relative to itself is found beside the new one too.
        for other in os.listdir(folder):
            os.symlink(os.path.abspath(os.path.join(folder, other)), os.path.join(work, other))
        new = os.path.join(work, "repacked.h5")
        command = [H5, "repack", "--compat", LEVEL]
        command += ["--driver", doc["driver"]] if "driver" in doc else []
        run = subprocess.run([*command, doc["file"], new], cwd=folder, capture_output=True, timeout=300)
        said = run.stderr.decode(errors="replace")
        if not os.path.exists(new):
            return name, "refused", [said.strip()[:200]]
        left_out = {line.split(": ", 1)[0] for line in said.splitlines()}
        oracle = subprocess.run(
            [sys.executable, os.path.join(ORACLE, "oracle.py"), new], capture_output=True, cwd=work, timeout=600)
        try:
            got = json.loads(oracle.stdout)
        except ValueError:
            return name, "broken", [oracle.stderr.decode(errors="replace")[-300:]]
        wanted = drop(doc)
        for o in wanted.get("objects", []):
            prefix = o["path"].rstrip("/") + "/"
            gone = {l[0] for l in o.get("links") or [] if prefix + l[0] in left_out or (l[1] == "hard" and l[2] in left_out)}
            if gone:
                o["links"] = [l for l in o["links"] if l[0] not in gone]
        differences = compare.compare(wanted, drop(got))
        if left_out:  # references to what is not there are others
            differences = [d for d in differences if not refers(wanted, d)]
        below = tuple(path + "/" for path in left_out)
        differences = [d for d in differences if d.split(":")[0] not in left_out and not d.startswith(below)]
        if differences and name in KNOWN:
            return name, "known", differences
        return name, "same" if not differences else "differs", differences


def refers(doc, difference):
    path = difference.split(".")[0]
    return any(o["path"] == path and "ref" in json.dumps(o.get("type")) for o in doc.get("objects", []))


def drop(doc):
    """What a level does not keep by its nature."""
    if COMPAT[LEVEL] == 0:
        for o in doc.get("objects", []):
            o.pop("link_corder", None)
            o.pop("attr_corder", None)
            for a in o.get("attrs") or []:
                a.pop("corder", None)
                a.pop("cset", None)
            if "links" in o:
                o["links"] = [[x for x in l if not isinstance(x, dict)] for l in o["links"]]
    if COMPAT[LEVEL] < 2:
        for o in doc.get("objects", []):
            o.pop("chunk_opts", None)
    return doc


def main():
    counts = {}
    with multiprocessing.Pool(2) as pool:
        for name, verdict, why in pool.imap(judge, list(documents()), chunksize=4):
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict not in ("same", "skipped", "known"):
                print(f"{verdict} {name}")
                for line in why[:4]:
                    print(f"    {line}")
    print(LEVEL, counts)
    return 0 if set(counts) <= {"same", "skipped", "known"} and counts.get("same") else 1


if __name__ == "__main__":
    sys.exit(main())
