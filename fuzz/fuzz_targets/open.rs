//! Any bytes are opened, walked and read, or end in an error.
#![no_main]

use hdfive::inspect::Tree;
use hdfive::{File, Object};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(file) = File::from_bytes(data.to_vec()) else { return };
    let Ok(tree) = Tree::walk(&file) else { return };
    for found in &tree.objects {
        let Ok(object) = &found.object else { continue };
        let _ = object.attributes();
        if let Object::Dataset(dataset) = object
            && dataset.len().saturating_mul(dataset.datatype().size.into()) <= 1 << 20
        {
            let _ = dataset.read_raw();
        }
    }
});
