//! Any bytes are opened and walked, links and attributes listed, or end in an error.
#![no_main]

use hdfive::inspect::Tree;
use hdfive::{File, Object};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, _seed: u32| {
    hdfive_fuzz::mutate(data, size, max_size)
});

fuzz_target!(|data: &[u8]| {
    let Ok(file) = File::from_bytes(data.to_vec()) else { return };
    let Ok(tree) = Tree::walk(&file) else { return };
    for object in tree.objects.iter().filter_map(|found| found.object.as_ref().ok()) {
        let _ = object.attributes();
        if let Object::Dataset(dataset) = object {
            let _ = (dataset.manifest(), dataset.filters(), dataset.fill_value());
        }
    }
});
