"""Superblocks of each version, user blocks, widths of addresses, pages, shared messages."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import h5py
import numpy as np

from tell import *


def fill(file):
    file.attrs["title"] = "of the file"
    group = file.create_group("group")
    group.create_dataset("numbers", data=ramp((7, 5)), chunks=(2, 3))
    for i in range(12):
        file.create_dataset(f"small{i:02}", data=ramp((3,), "f8") + i)


def make(name, libver, **options):
    with h5py.File(name, "w", libver=libver, **options) as file:
        fill(file)
    tell(name)


make("superblock_0.h5", ("earliest", "v108"))
make("superblock_2.h5", ("v108", "v108"))
make("superblock_3.h5", ("v110", "v110"))
make("superblock_latest.h5", "latest")
make("superblock_user_block.h5", "earliest", userblock_size=512)
make("superblock_user_block_2048.h5", "latest", userblock_size=2048)
make("superblock_pages.h5", "latest", fs_strategy="page", fs_page_size=512, fs_persist=True)
make("superblock_no_free_space.h5", "latest", fs_strategy="none")


def make_with(name, libver, prepare):
    fcpl, fapl = h5py.h5p.create(h5py.h5p.FILE_CREATE), h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    fapl.set_libver_bounds(*libver)
    prepare(fcpl)
    with h5py.File(h5py.h5f.create(name.encode(), h5py.h5f.ACC_TRUNC, fcpl, fapl)) as file:
        fill(file)
    tell(name)


def share(fcpl):
    call("H5Pset_shared_mesg_nindexes", fcpl, 2)
    call("H5Pset_shared_mesg_index", fcpl, 0, 1 << 1 | 1 << 3, 10)
    call("H5Pset_shared_mesg_index", fcpl, 1, 1 << 5 | 1 << 11 | 1 << 12, 10)


LATEST = (h5py.h5f.LIBVER_LATEST,) * 2
EARLIEST = (h5py.h5f.LIBVER_EARLIEST, h5py.h5f.LIBVER_V18)
make_with("superblock_widths_4.h5", EARLIEST, lambda fcpl: fcpl.set_sizes(4, 4))
make_with("superblock_widths_8_4.h5", LATEST, lambda fcpl: fcpl.set_sizes(8, 4))
make_with("superblock_widths_2.h5", EARLIEST, lambda fcpl: fcpl.set_sizes(4, 8))
make_with("superblock_shared_messages.h5", LATEST, share)
make_with("superblock_k.h5", EARLIEST, lambda fcpl: (call("H5Pset_sym_k", fcpl, 2, 1), call("H5Pset_istore_k", fcpl, 1)))
