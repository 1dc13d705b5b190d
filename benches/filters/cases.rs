//! One function per filter: what is stored, how it is decoded here, how the C library does it.

use std::ffi::{c_int, c_uint, c_void};
use std::hint::black_box;

use hdfive::filter::{ChunkInfo, Output, Registry, Scatter, SharedFilter};
use hdfive::format::message::filter_pipeline::FilterDescription;

use crate::compare::Report;
use crate::data::{self, Set};
use crate::reference::{FilterClass, Library, Szip};

type Sizes = unsafe extern "C" fn(*const u8, *mut u8, c_int, c_int) -> c_int;

fn filter(id: u16, client_data: &[u32], element_size: usize, bytes: usize) -> SharedFilter {
    let client_data = client_data.to_vec();
    let description = FilterDescription { id, stored_name: Vec::new(), flags: 0, client_data, padding: Vec::new() };
    Registry::default().configure(&description, ChunkInfo { bytes, element_size }).expect("a filter of this crate")
}

fn small(value: usize) -> c_int {
    c_int::try_from(value).expect("a chunk")
}

fn client(value: usize) -> u32 {
    u32::try_from(value).expect("a chunk")
}

fn encoded(filter: &SharedFilter, plain: &[u8]) -> Vec<u8> {
    let mut stored = Vec::new();
    filter.encode(plain, &mut stored).expect("it encodes");
    stored
}

/// Decodes on both sides, checks both, and compares.
fn decoding(
    report: &mut Report,
    name: &str,
    set: &Set,
    filter: &SharedFilter,
    stored: &[u8],
    mut theirs: impl FnMut(&[u8], &mut [u8]),
) {
    let len = set.bytes.len();
    let (mut to, mut to_theirs) = (vec![0; len], vec![0; len]);
    let decode = |to: &mut [u8]| filter.decode(stored, &mut Output::exact(to)).expect("it decodes");
    decode(&mut to);
    theirs(stored, &mut to_theirs);
    assert!(to == to_theirs, "{name}, {}", set.name);
    report.compare(name, set.name, len, || decode(black_box(&mut to)), || theirs(stored, black_box(&mut to_theirs)));
}

/// Compares one filter with chunks of one size.
type Case = fn(&mut Report, &str, usize);

pub(crate) fn run(report: &mut Report, size: usize) {
    let cases: [(&str, Case); 14] = [
        ("deflate", deflate),
        ("zstd", zstd),
        ("lz4", lz4),
        ("lzf", lzf),
        ("blosc lz4", blosc),
        ("bitshuffle lz4", bitshuffle),
        ("unshuffle", unshuffle),
        ("shuffle", shuffle),
        ("bit-unshuffle", bit_unshuffle),
        ("unshuffle and place", place),
        ("fletcher32", fletcher32),
        ("szip", szip),
        ("nbit", nbit),
        ("scaleoffset", scale_offset),
    ];
    for (name, case) in cases {
        if report.wants(name) {
            case(report, name, size);
        }
    }
}

fn deflate(report: &mut Report, name: &str, size: usize) {
    type Decompress = unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut u8, usize, *mut usize) -> c_int;
    type Compress = unsafe extern "C" fn(*mut u8, *mut u64, *const u8, u64, c_int) -> c_int;
    let (Some(fast), Some(zlib)) = (Library::find(&["libdeflate.so.0"]), Library::find(&["libz.so.1"])) else { return };
    let (decompress, compress): (Decompress, Compress) =
        (fast.get("libdeflate_zlib_decompress"), zlib.get("compress2"));
    let make: unsafe extern "C" fn() -> *mut c_void = fast.get("libdeflate_alloc_decompressor");
    // SAFETY: it takes nothing.
    let state = unsafe { make() };
    for set in data::all(size) {
        for level in [4, 6] {
            let mut stored = vec![0; size + size / 2];
            let mut len = stored.len() as u64;
            // SAFETY: the lengths are those of the slices.
            unsafe { compress(stored.as_mut_ptr(), &mut len, set.bytes.as_ptr(), size as u64, level) };
            stored.truncate(usize::try_from(len).expect("a chunk"));
            decoding(report, name, &set, &filter(1, &[6], set.element, size), &stored, |stored, to| {
                // SAFETY: the lengths are those of the slices; without a place for the size, it has to be exact.
                let code = unsafe {
                    decompress(state, stored.as_ptr(), stored.len(), to.as_mut_ptr(), to.len(), std::ptr::null_mut())
                };
                assert_eq!(code, 0);
            });
        }
    }
}

fn zstd(report: &mut Report, name: &str, size: usize) {
    type Compress = unsafe extern "C" fn(*mut u8, usize, *const u8, usize, c_int) -> usize;
    type Decompress = unsafe extern "C" fn(*mut c_void, *mut u8, usize, *const u8, usize) -> usize;
    let Some(library) = Library::find(&["libzstd.so.1"]) else { return };
    let (compress, decompress): (Compress, Decompress) =
        (library.get("ZSTD_compress"), library.get("ZSTD_decompressDCtx"));
    let make: unsafe extern "C" fn() -> *mut c_void = library.get("ZSTD_createDCtx");
    // SAFETY: it takes nothing.
    let state = unsafe { make() };
    for set in data::all(size) {
        let mut stored = vec![0; size + size / 2];
        // SAFETY: the lengths are those of the slices.
        let len = unsafe { compress(stored.as_mut_ptr(), stored.len(), set.bytes.as_ptr(), size, 3) };
        stored.truncate(len);
        decoding(report, name, &set, &filter(32015, &[3], set.element, size), &stored, |stored, to| {
            // SAFETY: the lengths are those of the slices.
            let len = unsafe { decompress(state, to.as_mut_ptr(), to.len(), stored.as_ptr(), stored.len()) };
            assert_eq!(len, to.len());
        });
    }
}

fn lz4(report: &mut Report, name: &str, size: usize) {
    let Some(library) = Library::find(&["liblz4.so.1"]) else { return };
    let (compress, decompress): (Sizes, Sizes) =
        (library.get("LZ4_compress_default"), library.get("LZ4_decompress_safe"));
    for set in data::all(size) {
        let mut stored = vec![0; 16 + size + size / 2];
        let room = small(stored.len() - 16);
        // SAFETY: the lengths are those of the slices.
        let len = unsafe { compress(set.bytes.as_ptr(), stored[16..].as_mut_ptr(), small(size), room) };
        stored.truncate(16 + usize::try_from(len).expect("a size"));
        stored[..8].copy_from_slice(&(size as u64).to_be_bytes());
        stored[8..12].copy_from_slice(&client(size).to_be_bytes());
        stored[12..16].copy_from_slice(&len.to_be_bytes());
        decoding(report, name, &set, &filter(32004, &[], set.element, size), &stored, |stored, to| {
            let block = &stored[16..];
            // SAFETY: the lengths are those of the slices.
            let len = unsafe { decompress(block.as_ptr(), to.as_mut_ptr(), small(block.len()), small(to.len())) };
            assert_eq!(len, small(to.len()));
        });
    }
}

fn lzf(report: &mut Report, name: &str, size: usize) {
    type Lzf = unsafe extern "C" fn(*const u8, c_uint, *mut u8, c_uint) -> c_uint;
    let Some(library) = Library::find(&["liblzf.so.1"]) else { return };
    let (compress, decompress): (Lzf, Lzf) = (library.get("lzf_compress"), library.get("lzf_decompress"));
    for set in data::all(size) {
        let mut stored = vec![0; size];
        // SAFETY: the lengths are those of the slices.
        let len = unsafe { compress(set.bytes.as_ptr(), client(size), stored.as_mut_ptr(), client(size)) };
        if len == 0 {
            continue;
        }
        stored.truncate(usize::try_from(len).expect("a size"));
        decoding(report, name, &set, &filter(32000, &[], set.element, size), &stored, |stored, to| {
            // SAFETY: the lengths are those of the slices.
            let len = unsafe { decompress(stored.as_ptr(), client(stored.len()), to.as_mut_ptr(), client(to.len())) };
            assert_eq!(len, client(to.len()));
        });
    }
}

fn blosc(report: &mut Report, name: &str, size: usize) {
    type Compress =
        unsafe extern "C" fn(c_int, c_int, usize, usize, *const u8, *mut u8, usize, *const u8, usize, c_int) -> c_int;
    type Decompress = unsafe extern "C" fn(*const u8, *mut u8, usize, c_int) -> c_int;
    let Some(library) = Library::find(&["libblosc_avx2.so"]) else { return };
    let (compress, decompress): (Compress, Decompress) =
        (library.get("blosc_compress_ctx"), library.get("blosc_decompress_ctx"));
    for set in data::raw(size) {
        for (shuffle, kind) in [(1, "bytes"), (2, "bits")] {
            let mut stored = vec![0; size + size / 2];
            let (room, codec) = (stored.len(), c"lz4".as_ptr().cast());
            // SAFETY: the lengths are those of the slices, and the name of the codec ends with a zero.
            let len = unsafe {
                compress(5, shuffle, set.element, size, set.bytes.as_ptr(), stored.as_mut_ptr(), room, codec, 0, 1)
            };
            stored.truncate(usize::try_from(len).expect("a size"));
            let client_data = [2, 2, client(set.element), client(size), 5, shuffle.cast_unsigned(), 1];
            let filter = filter(32001, &client_data, set.element, size);
            decoding(report, &format!("{name}, {kind}"), &set, &filter, &stored, |stored, to| {
                // SAFETY: the length is that of the slice.
                let len = unsafe { decompress(stored.as_ptr(), to.as_mut_ptr(), to.len(), 1) };
                assert_eq!(len, small(to.len()));
            });
        }
    }
}

fn bitshuffle(report: &mut Report, name: &str, size: usize) {
    type Code = unsafe extern "C" fn(*const u8, *mut u8, usize, usize, usize) -> i64;
    let Some(library) = Library::find(&["libbitshuffle_avx2.so"]) else { return };
    let (compress, decompress): (Code, Code) = (library.get("bshuf_compress_lz4"), library.get("bshuf_decompress_lz4"));
    for set in data::raw(size) {
        let block = (8192 / set.element / 8 * 8).max(128);
        let count = size / set.element;
        let mut stored = vec![0; 12 + size + size / 2];
        // SAFETY: the room is beyond what the library may write.
        let len = unsafe { compress(set.bytes.as_ptr(), stored[12..].as_mut_ptr(), count, set.element, block) };
        stored.truncate(12 + usize::try_from(len).expect("a size"));
        stored[..8].copy_from_slice(&(size as u64).to_be_bytes());
        stored[8..12].copy_from_slice(&client(block * set.element).to_be_bytes());
        let filter = filter(32008, &[0, 5, client(set.element), 0, 2], set.element, size);
        decoding(report, name, &set, &filter, &stored, |stored, to| {
            // SAFETY: the library wrote the stream itself, for as many elements.
            let len = unsafe { decompress(stored[12..].as_ptr(), to.as_mut_ptr(), count, set.element, block) };
            assert!(len > 0);
        });
    }
}

type Shuffle = unsafe extern "C" fn(usize, usize, *const u8, *mut u8);

/// Element sizes: those that have loops of their own in C, and others.
const ELEMENTS: [usize; 7] = [2, 4, 8, 16, 3, 12, 33];

fn of_size(element: usize, size: usize) -> (Set, &'static str) {
    let bytes = data::raw(size).swap_remove(1).bytes;
    let name = ["2 bytes", "4 bytes", "8 bytes", "16 bytes", "3 bytes", "12 bytes", "33 bytes"];
    let at = ELEMENTS.iter().position(|&e| e == element).unwrap_or(0);
    let whole = size / element * element;
    (Set { name: name[at], element, bytes: bytes[..whole].to_vec() }, name[at])
}

fn group(name: &str, element: usize) -> String {
    format!("{name}, {}", if element.is_power_of_two() { "2, 4, 8, 16" } else { "odd sizes" })
}

fn unshuffle(report: &mut Report, name: &str, size: usize) {
    let Some(library) = Library::find(&["libblosc_avx2.so"]) else { return };
    let theirs: Shuffle = library.get("blosc_internal_unshuffle");
    for element in ELEMENTS {
        let (set, _) = of_size(element, size);
        let filter = filter(2, &[client(element)], element, set.bytes.len());
        let stored = encoded(&filter, &set.bytes);
        decoding(report, &group(name, element), &set, &filter, &stored, |stored, to| {
            // SAFETY: both slices have the length that is passed.
            unsafe { theirs(element, stored.len(), stored.as_ptr(), to.as_mut_ptr()) };
        });
    }
}

fn shuffle(report: &mut Report, name: &str, size: usize) {
    let Some(library) = Library::find(&["libblosc_avx2.so"]) else { return };
    let theirs: Shuffle = library.get("blosc_internal_shuffle");
    for element in ELEMENTS {
        let (set, label) = of_size(element, size);
        let filter = filter(2, &[client(element)], element, set.bytes.len());
        let (mut stored, mut other) = (Vec::new(), vec![0; set.bytes.len()]);
        report.compare(
            &group(name, element),
            label,
            set.bytes.len(),
            || {
                stored.clear();
                filter.encode(&set.bytes, black_box(&mut stored)).expect("it encodes");
            },
            // SAFETY: both slices have the length that is passed.
            || unsafe { theirs(element, set.bytes.len(), set.bytes.as_ptr(), black_box(&mut other).as_mut_ptr()) },
        );
        assert!(stored == other);
    }
}

fn bit_unshuffle(report: &mut Report, name: &str, size: usize) {
    type Code = unsafe extern "C" fn(*const u8, *mut u8, usize, usize, usize) -> i64;
    let Some(library) = Library::find(&["libbitshuffle_avx2.so"]) else { return };
    let theirs: Code = library.get("bshuf_bitunshuffle");
    for element in [1, 2, 4, 8] {
        let name_of = ["", "1 byte", "2 bytes", "", "4 bytes", "", "", "", "8 bytes"][element];
        let bytes = data::raw(size).swap_remove(1).bytes;
        let set = Set { name: name_of, element, bytes };
        let block = (8192 / element / 8 * 8).max(128);
        let filter = filter(32008, &[0, 5, client(element), 0, 0], element, size);
        let stored = encoded(&filter, &set.bytes);
        decoding(report, name, &set, &filter, &stored, |stored, to| {
            // SAFETY: both slices have the length that is passed.
            unsafe { theirs(stored.as_ptr(), to.as_mut_ptr(), size / element, element, block) };
        });
    }
}

/// Rows of a wider array.
struct Rows<'a> {
    to: &'a mut [u8],
    row: usize,
    stride: usize,
    /// Whether rows are written past the cache, as this crate does for long rows of a large array.
    past: bool,
}

/// Copies `bytes` to `to`, which is as long, past the cache.
#[cfg(target_arch = "x86_64")]
fn copy_past(bytes: &[u8], to: &mut [u8]) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
    if to.as_ptr().align_offset(16) != 0 || !bytes.len().is_multiple_of(16) {
        return to.copy_from_slice(bytes);
    }
    for at in (0..bytes.len()).step_by(16) {
        // SAFETY: these are 16 bytes of both; `to` is aligned to 16.
        unsafe { _mm_stream_si128(to.as_mut_ptr().add(at).cast(), _mm_loadu_si128(bytes.as_ptr().add(at).cast())) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn copy_past(bytes: &[u8], to: &mut [u8]) {
    to.copy_from_slice(bytes);
}

impl Scatter for Rows<'_> {
    fn put(&mut self, mut position: usize, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let within = position % self.row;
            let len = (self.row - within).min(bytes.len());
            let at = position / self.row * self.stride + within;
            let place = &mut self.to[at..at + len];
            if self.past {
                copy_past(&bytes[..len], place)
            } else {
                place.copy_from_slice(&bytes[..len])
            }
            (position, bytes) = (position + len, &bytes[len..]);
        }
    }
}

/// Unshuffling into the rows of an array four times as wide, beside C's unshuffle and then a copy of the rows.
fn place(report: &mut Report, name: &str, size: usize) {
    let Some(library) = Library::find(&["libblosc_avx2.so"]) else { return };
    let theirs: Shuffle = library.get("blosc_internal_unshuffle");
    for (element, row) in [2, 4, 8].into_iter().flat_map(|element| [(element, 1024), (element, 4096)]) {
        let (set, label) = of_size(element, size);
        let filter = filter(2, &[client(element)], element, size);
        let stored = encoded(&filter, &set.bytes);
        let stride = 4 * row;
        let (mut one, mut other) = (vec![0; size / row * stride], vec![0; size / row * stride]);
        let past = one.len() >= 16 << 20 && row >= 4096;
        let mut between = vec![0; size];
        report.compare(
            &format!("{name}, rows of {} KiB", row >> 10),
            label,
            size,
            || {
                let mut rows = Rows { to: &mut one, row, stride, past };
                filter.decode(&stored, &mut Output::scattered(&mut rows, size)).expect("it decodes");
            },
            || {
                // SAFETY: both slices have the length that is passed.
                unsafe { theirs(element, size, stored.as_ptr(), between.as_mut_ptr()) };
                Rows { to: &mut other, row, stride, past: false }.put(0, &between);
            },
        );
        assert!(one == other);
    }
}

fn fletcher32(report: &mut Report, name: &str, size: usize) {
    let Some(library) = Library::find(&["libhdf5.so", "libhdf5_serial.so.103", "libhdf5_serial.so.310"]) else {
        return;
    };
    let theirs: unsafe extern "C" fn(*const u8, usize) -> u32 = library.get("H5_checksum_fletcher32");
    for set in data::raw(size) {
        let filter = filter(3, &[], set.element, size);
        let stored = encoded(&filter, &set.bytes);
        decoding(report, name, &set, &filter, &stored, |stored, to| {
            // SAFETY: the length is that of the slice.
            let sum = unsafe { theirs(stored.as_ptr(), stored.len() - 4) };
            assert_eq!(sum.to_le_bytes(), stored[stored.len() - 4..]);
            to.copy_from_slice(&stored[..stored.len() - 4]);
        });
    }
}

fn szip(report: &mut Report, name: &str, size: usize) {
    type Decompress = unsafe extern "C" fn(*mut u8, *mut usize, *const u8, usize, *const Szip) -> c_int;
    let Some(library) = Library::find(&["libsz.so", "libsz.so.2"]) else { return };
    let decompress: Decompress = library.get("SZ_BufftoBuffDecompress");
    for set in data::raw(size) {
        for mask in [141, 169] {
            let bits = client(8 * set.element);
            let filter = filter(4, &[mask, 16, bits, 256], set.element, size);
            let stored = encoded(&filter, &set.bytes);
            let parameters = Szip {
                options_mask: mask.cast_signed(),
                bits_per_pixel: bits.cast_signed(),
                pixels_per_block: 16,
                pixels_per_scanline: 256,
            };
            decoding(report, name, &set, &filter, &stored, |stored, to| {
                let (mut len, coded) = (to.len(), &stored[4..]);
                // SAFETY: the lengths are those of the slices.
                let code = unsafe { decompress(to.as_mut_ptr(), &mut len, coded.as_ptr(), coded.len(), &parameters) };
                assert_eq!((code, len), (0, to.len()));
            });
        }
    }
}

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// A filter of libhdf5's own, beside ours.
fn built_in(report: &mut Report, name: &str, symbol: &str, set: &Set, id: u16, client_data: &[u32]) {
    let Some(library) = Library::find(&["libhdf5.so", "libhdf5_serial.so.103", "libhdf5_serial.so.310"]) else {
        return;
    };
    let open: unsafe extern "C" fn() -> c_int = library.get("H5open");
    let class: *const FilterClass = library.get(symbol);
    // SAFETY: the symbol is a description of a filter, which the library never changes; opening it takes nothing.
    let theirs = unsafe {
        open();
        (*class).filter
    }
    .expect("a filter has a function");
    let filter = filter(id, client_data, set.element, set.bytes.len());
    let stored = encoded(&filter, &set.bytes);
    decoding(report, name, set, &filter, &stored, |stored, to| {
        // SAFETY: the function takes memory of malloc's, and gives back memory of the same kind with its size.
        unsafe {
            let mut buffer = malloc(stored.len());
            std::ptr::copy_nonoverlapping(stored.as_ptr(), buffer.cast(), stored.len());
            let mut size = stored.len();
            let len = theirs(0x100, client_data.len(), client_data.as_ptr(), stored.len(), &mut size, &mut buffer);
            assert_eq!(len, to.len());
            std::ptr::copy_nonoverlapping(buffer.cast(), to.as_mut_ptr(), len);
            free(buffer);
        }
    });
}

fn nbit(report: &mut Report, name: &str, size: usize) {
    let sets = data::raw(size);
    let element = |set: &Set| client(set.element);
    let count = |set: &Set| client(set.bytes.len() / set.element);
    // The floats keep their upper 20 bits, the counts their lower 12.
    built_in(report, name, "H5Z_NBIT", &sets[0], 5, &[8, 0, count(&sets[0]), 1, element(&sets[0]), 0, 20, 12]);
    built_in(report, name, "H5Z_NBIT", &sets[2], 5, &[8, 0, count(&sets[2]), 1, element(&sets[2]), 0, 12, 0]);
}

fn scale_offset(report: &mut Report, name: &str, size: usize) {
    let sets = data::raw(size);
    let mut of = |set: &Set, head: [u32; 6]| {
        let [kind, factor, class, sign, order, filled] = head;
        let (count, element) = (client(set.bytes.len() / set.element), client(set.element));
        let mut values = vec![kind, factor, count, class, element, sign, order, filled];
        values.resize(20, 0);
        built_in(report, name, "H5Z_SCALEOFFSET", set, 6, &values);
    };
    of(&sets[0], [0, 2, 1, 1, 0, 0]);
    of(&sets[2], [2, 0, 0, 1, 0, 0]);
}
