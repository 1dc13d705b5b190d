//! The C libraries that the filters are held against, found when the bench runs.
//!
//! `HDFIVE_C_LIBRARIES` is a folder that is looked into before the system's. What is not found is left out, and said.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::time::Duration;

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
}

/// The time that this thread has had a processor, which does not grow while other programs run.
pub(crate) fn processor_time() -> Duration {
    const THREAD: c_int = 3;
    let mut time = [0; 2];
    // SAFETY: seconds and nanoseconds are two words on 64-bit Linux.
    unsafe { clock_gettime(THREAD, &mut time) };
    let [seconds, nanoseconds] = time.map(i64::unsigned_abs);
    Duration::from_secs(seconds) + Duration::from_nanos(nanoseconds)
}

const NOW: c_int = 2;

/// A shared library that stays loaded.
pub(crate) struct Library(*mut c_void);

impl Library {
    /// The library of one of these file names.
    pub(crate) fn find(names: &[&str]) -> Option<Library> {
        let folder = std::env::var_os("HDFIVE_C_LIBRARIES").map(PathBuf::from);
        let places = folder.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        for place in places.chain(names.iter().map(PathBuf::from)) {
            let name = CString::new(place.to_str()?).ok()?;
            // SAFETY: the name ends with a zero; loading runs the library's own start, which these libraries allow.
            let library = unsafe { dlopen(name.as_ptr(), NOW) };
            if !library.is_null() {
                return Some(Library(library));
            }
        }
        eprintln!("not found, and left out: {}", names[0]);
        None
    }

    /// The function or variable `name`, which has to be of type `T`, a pointer.
    pub(crate) fn get<T: Copy>(&self, name: &str) -> T {
        assert_eq!(size_of::<T>(), size_of::<*mut c_void>());
        let symbol = CString::new(name).expect("a name without zeros");
        // SAFETY: the library is loaded, and the name ends with a zero.
        let found = unsafe { dlsym(self.0, symbol.as_ptr()) };
        assert!(!found.is_null(), "the library has no {name}");
        // SAFETY: the sizes are the same, and the caller names the type that the library's header declares.
        unsafe { std::mem::transmute_copy(&found) }
    }
}

/// A filter as libhdf5 describes it.
#[repr(C)]
pub(crate) struct FilterClass {
    version: c_int,
    id: c_int,
    encoder_present: u32,
    decoder_present: u32,
    name: *const c_char,
    can_apply: *const c_void,
    set_local: *const c_void,
    pub(crate) filter:
        Option<unsafe extern "C" fn(u32, usize, *const u32, usize, *mut usize, *mut *mut c_void) -> usize>,
}

/// What libsz takes its parameters in.
#[repr(C)]
pub(crate) struct Szip {
    pub(crate) options_mask: c_int,
    pub(crate) bits_per_pixel: c_int,
    pub(crate) pixels_per_block: c_int,
    pub(crate) pixels_per_scanline: c_int,
}
