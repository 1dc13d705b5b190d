//! Filters beside their C references, in the same run: 64 KiB and 12 MiB chunks of float32 and int16, one core.
//!
//! ```text
//! benches/filters/build_c.sh C-BLOSC LZ4 BITSHUFFLE libraries
//! HDFIVE_C_LIBRARIES=libraries cargo bench --bench filters -- [PART OF A NAME]
//! ```
//! Ours and theirs take turns; each figure is the shortest processor time of many. The ratio is theirs over ours, so that more
//! than 1 is faster than C.

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "C functions are called")]
mod cases;
#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod data;
#[cfg(target_os = "linux")]
#[path = "../../tests/support/random.rs"]
mod random;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "shared libraries are loaded")]
mod reference;

fn main() {
    #[cfg(target_os = "linux")]
    compare::run();
    #[cfg(not(target_os = "linux"))]
    eprintln!("the C libraries are looked for on Linux only");
}
