//! Stored chunks that libhdf5 wrote, with the digests of what libhdf5 reads from them.
//!
//! `tests/filters/extract.py` makes the list from HDF5 files (`orders.py` makes some of those), `decoded_only.py` that of filters
//! which are only decoded here.
//! The small ones in `testdata/filters` are always run; `HDFIVE_FILTER_CHUNKS` names another, larger one.

use std::path::PathBuf;

use serde_json::Value;

use super::{ChunkInfo, Known, Output, Pipeline, Registry, Scratch};
use crate::error::ErrorKind;
use crate::format::message::filter_pipeline::{FilterDescription, FilterPipeline};

/// Filters whose vectors only have to give the right message.
const NEVER: [u16; 4] = [32017, 32024, 32028, 32033];

struct Case {
    file: String,
    pipeline: FilterPipeline,
    chunk: ChunkInfo,
    chunks: Vec<(u32, Vec<u8>, String)>,
}

fn unsigned(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn case(value: &Value) -> Case {
    let filters = value["filters"].as_array().unwrap().iter().map(|f| FilterDescription {
        id: u16::try_from(unsigned(&f["id"])).unwrap(),
        stored_name: Vec::new(),
        flags: u16::try_from(unsigned(&f["flags"])).unwrap(),
        client_data: f["client_data"].as_array().unwrap().iter().map(|v| u32::try_from(unsigned(v)).unwrap()).collect(),
        padding: Vec::new(),
    });
    let chunks = value["chunks"].as_array().unwrap().iter().map(|c| {
        let mask = u32::try_from(unsigned(&c["mask"])).unwrap();
        (mask, from_hex(c["stored"].as_str().unwrap()), c["sha256"].as_str().unwrap_or_default().to_owned())
    });
    Case {
        file: value["file"].as_str().unwrap().to_owned(),
        pipeline: FilterPipeline { version: 2, reserved: Vec::new(), filters: filters.collect() },
        chunk: ChunkInfo { bytes: unsigned(&value["chunk_bytes"]), element_size: unsigned(&value["element_size"]) },
        chunks: chunks.collect(),
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().as_chunks::<2>().0;
    digits.iter().map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap()).collect()
}

fn cases() -> Vec<Case> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/filters"));
    let mut lists = vec![folder.join("chunks.json"), folder.join("decoded_only.json")];
    lists.extend(std::env::var_os("HDFIVE_FILTER_CHUNKS").map(PathBuf::from));
    let parse = |path| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap();
    lists
        .into_iter()
        .map(parse)
        .flat_map(|list| list.as_array().unwrap().iter().map(case).collect::<Vec<_>>())
        .collect()
}

/// Needs the codecs that are behind features.
#[cfg(all(feature = "bzip2", feature = "snappy", feature = "zstd"))]
mod decoded {
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::filter::testing::zstd_encodes;
    use crate::filter::{Scatter, Support};

    struct Rows(Vec<u8>);

    impl Scatter for Rows {
        fn put(&mut self, position: usize, bytes: &[u8]) {
            self.0[position..position + bytes.len()].copy_from_slice(bytes);
        }
    }

    fn digest(bytes: &[u8]) -> String {
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    impl Case {
        fn supported(&self) -> bool {
            self.pipeline.filters.iter().all(|filter| Registry::default().decodes(filter.id))
        }

        fn encodes(&self) -> bool {
            let support = |filter: &FilterDescription| Known::find(filter.id).map(|known| known.support);
            self.pipeline.filters.iter().all(|filter| support(filter) == Some(Support::Full))
        }

        fn check(&self) {
            let pipeline = Pipeline::new(&self.pipeline, self.chunk, &Registry::default()).unwrap();
            let mut scratch = Scratch::default();
            for (mask, stored, sha256) in &self.chunks {
                let file = &self.file;
                let mut plain = vec![0x55; self.chunk.bytes];
                pipeline.decode(stored, *mask, &mut scratch, &mut Output::exact(&mut plain)).expect(file);
                assert_eq!(&digest(&plain), sha256, "{file}");
                let mut rows = Rows(vec![0; self.chunk.bytes]);
                let mut output = Output::scattered(&mut rows, self.chunk.bytes);
                pipeline.decode(stored, *mask, &mut scratch, &mut output).expect(file);
                assert!(rows.0 == plain, "{file}, scattered");
                for (from, to) in [(0, 1), (1, 4), (3, 7)] {
                    let range = plain.len() * from / 7..plain.len() * to / 7;
                    let mut part = vec![0x55; range.len()];
                    let mut output = Output::exact(&mut part);
                    pipeline.decode_range(stored, *mask, range.clone(), &mut scratch, &mut output).expect(file);
                    assert!(part == plain[range.clone()], "{file}, bytes {range:?}");
                }
                if self.encodes() {
                    self.check_encoding(&pipeline, &plain);
                }
            }
        }

        fn check_encoding(&self, pipeline: &Pipeline, plain: &[u8]) {
            let mut scratch = Scratch::default();
            let encoded = pipeline.encode(plain, &mut scratch).map(|(stored, mask)| (stored.to_vec(), mask));
            if let Err(error) = &encoded
                && error.kind() == ErrorKind::Unsupported
                && !zstd_encodes()
            {
                return println!("{}: {error}", self.file);
            }
            let (stored, mask) = encoded.expect(&self.file);
            let mut back = vec![0x55; plain.len()];
            pipeline.decode(&stored, mask, &mut scratch, &mut Output::exact(&mut back)).expect(&self.file);
            let lossy = |f: &FilterDescription| f.id == 32013 || f.id == 6 && f.client_data[3] == 1;
            assert!(back == plain || self.pipeline.filters.iter().any(lossy), "{}, encoded here", self.file);
        }
    }

    #[test]
    fn chunks_of_libhdf5_decode_to_what_it_reads() {
        let cases = cases();
        assert!(cases.len() > 100);
        let supported: Vec<&Case> = cases.iter().filter(|case| case.supported()).collect();
        supported.iter().for_each(|case| case.check());
        println!("{} of {} files", supported.len(), cases.len());
    }
}

#[test]
fn filters_that_nobody_decodes_are_named() {
    for case in cases().iter().filter(|case| case.pipeline.filters.iter().any(|f| NEVER.contains(&f.id))) {
        let pipeline = Pipeline::new(&case.pipeline, case.chunk, &Registry::default()).unwrap();
        let mut plain = vec![0; case.chunk.bytes];
        let (_, stored, _) = &case.chunks[0];
        let mut output = Output::exact(&mut plain);
        let error = pipeline.decode(stored, 0, &mut Scratch::default(), &mut output).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let known = Known::find(case.pipeline.filters[0].id).unwrap();
        assert!(error.message().contains(known.name), "{error}");
        assert!(
            pipeline
                .decode(&vec![7; case.chunk.bytes], 1, &mut Scratch::default(), &mut Output::exact(&mut plain))
                .is_ok()
        );
        assert_eq!(plain[0], 7);
    }
}
