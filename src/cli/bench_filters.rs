//! `h5 bench-filters`: filters tried on a dataset's own data.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hdfive::filter::{ChunkInfo, Output, Pipeline, Registry, Scratch, label};
use hdfive::format::message::datatype::{ByteOrder, Class, Datatype};
use hdfive::format::message::filter_pipeline::{FilterDescription, FilterPipeline};
use hdfive::selection::{Block, Grid};
use hdfive::{Dataset, Result};
use indicatif::{ProgressBar, ProgressStyle};

use crate::filters::Columns;
use crate::ls::{bytes, ratio};
use crate::{Failure, Opening};

/// Try filters on the data of a dataset: size, speed of encoding and of decoding.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  h5 bench-filters weather.h5 /surface/temperature
  h5 bench-filters weather.h5 /surface/temperature --sample 512   up to 512 MiB of it

Speeds are those of one core. All pipelines give back the same values.")]
pub(crate) struct BenchFilters {
    /// The file.
    file: String,
    /// The dataset.
    path: String,
    /// How much of the data to try, in MiB: chunks from all over the dataset.
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    sample: u64,
    #[command(flatten)]
    opening: Opening,
}

/// What is not chunked is cut into pieces of about this many bytes.
const PIECE: u64 = 1 << 20;

/// Decoding is repeated for about this long.
const LONG_ENOUGH: Duration = Duration::from_millis(200);

impl BenchFilters {
    pub(crate) fn run(&self) -> std::result::Result<ExitCode, Failure> {
        let file = self.opening.open(&self.opening.options(), &self.file)?;
        let dataset = file.dataset(&self.path)?;
        let datatype = dataset.datatype();
        if !lies_in_place(datatype) {
            let what = "its values have no fixed size, and are stored where filters do not reach";
            return Err(Failure::Said(format!("{}: {what}", self.path)));
        }
        let pieces = sample(&dataset, self.sample << 20)?;
        let plain: u64 = pieces.iter().map(|piece| piece.len() as u64).sum();
        if plain == 0 {
            return Err(Failure::Said(format!("{}: it has no data", self.path)));
        }
        let candidates = candidates(datatype);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").unwrap_or(ProgressStyle::default_bar());
        let bar = ProgressBar::new(candidates.len() as u64).with_style(style);
        let mut columns =
            Columns::new(["pipeline", "stored", "x smaller", "encode MB/s", "decode MB/s"], &[1, 2, 3, 4]);
        for candidate in &candidates {
            bar.set_message(candidate.label());
            let tried = candidate.try_on(&pieces, size(datatype))?;
            bar.inc(1);
            columns.row([
                candidate.label(),
                bytes(tried.stored),
                ratio(plain, tried.stored),
                speed(plain, tried.encoding),
                speed(plain, tried.decoding),
            ]);
        }
        bar.finish_and_clear();
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}  {dataset}", self.path)?;
        writeln!(out, "tried on {} in {} chunks\n", bytes(plain), pieces.len())?;
        out.write_all(columns.text().as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}

fn size(datatype: &Datatype) -> usize {
    usize::try_from(datatype.size).unwrap_or(usize::MAX)
}

/// Whether elements hold their values, and do not point to them.
fn lies_in_place(datatype: &Datatype) -> bool {
    match &datatype.class {
        Class::VariableLength { .. } | Class::Reference { .. } => false,
        Class::Compound(members) => members.iter().all(|member| lies_in_place(&member.datatype)),
        Class::Array { base, .. } => lies_in_place(base),
        _ => true,
    }
}

/// Chunks from all over the dataset, together at most `most` bytes unless one alone has more.
fn sample(dataset: &Dataset, most: u64) -> Result<Vec<Vec<u8>>> {
    let (shape, element) = (dataset.shape(), u64::from(dataset.datatype().size));
    if shape.is_empty() || dataset.is_empty() {
        return Ok(vec![dataset.read_bytes()?]);
    }
    let chunk = dataset.chunk_shape().map_or_else(|| rows(shape, element), <[u64]>::to_vec);
    let grid = Grid::new(shape, &chunk)?;
    let chunk_bytes = chunk.iter().fold(element, |product, side| product.saturating_mul(*side));
    let count = (most / chunk_bytes.max(1)).clamp(1, grid.len());
    let mut pieces = Vec::new();
    for k in 0..count {
        let number = u128::from(k) * u128::from(grid.len()) / u128::from(count);
        let coordinates = u64::try_from(number).ok().and_then(|number| grid.coordinates(number));
        if let Some(part) = coordinates.and_then(|at| grid.block(&at).intersect(&Block::all(shape))) {
            pieces.push(dataset.select(&part).read_bytes()?);
        }
    }
    Ok(pieces)
}

/// A chunk shape of whole rows, as many as make a piece.
fn rows(shape: &[u64], element: u64) -> Vec<u64> {
    let mut chunk = shape.to_vec();
    let mut left = (PIECE / element.max(1)).max(1);
    for (side, size) in chunk.iter_mut().zip(shape).rev() {
        *side = (*size).min(left).max(1);
        left = (left / *side).max(1);
    }
    chunk
}

/// A pipeline that may suit the data.
struct Candidate {
    /// Ids and client data. Those of filters that want to know the number of elements are made from it.
    filters: Vec<(u16, Vec<u32>)>,
    /// Where the client data have the number of elements.
    count_at: Option<(usize, usize)>,
}

/// What came of it.
struct Tried {
    stored: u64,
    encoding: Duration,
    decoding: Duration,
}

fn candidates(datatype: &Datatype) -> Vec<Candidate> {
    let element = datatype.size;
    let one = |id, values: &[u32]| Candidate { filters: vec![(id, values.to_vec())], count_at: None };
    let shuffled = |id, values: &[u32]| {
        let filters = vec![(2, vec![element]), (id, values.to_vec())];
        Candidate { filters, count_at: None }
    };
    let blosc_size = if element <= 255 { element } else { 1 };
    let blosc = |id, level, shuffle, codec| one(id, &[2, 2, blosc_size, 0, level, shuffle, codec]);
    let mut all = vec![one(1, &[4])];
    all.extend([1, 4, 6, 9].map(|level| shuffled(1, &[level])));
    all.extend([shuffled(32000, &[]), shuffled(32004, &[0])]);
    all.extend([1, 3, 4].map(|level| shuffled(32015, &[level])));
    all.extend([one(32008, &[0, 5, element, 0, 2]), one(32008, &[0, 5, element, 0, 3, 3])]);
    all.extend(
        [(5, 1, 0), (5, 1, 1), (5, 2, 1), (9, 1, 2), (5, 1, 4), (2, 1, 5)].map(|(l, s, c)| blosc(32001, l, s, c)),
    );
    all.extend([(5, 1, 1), (2, 1, 5)].map(|(l, s, c)| blosc(32026, l, s, c)));
    all.push(shuffled(307, &[9]));
    let number = match &datatype.class {
        Class::FixedPoint(number) => Some((number.bits, Some(number.signed))),
        Class::FloatingPoint(number) => Some((number.bits, None)),
        _ => None,
    };
    let Some((bits, signed)) = number.filter(|_| matches!(element, 1 | 2 | 4 | 8)) else { return all };
    let big_endian = bits.order == ByteOrder::BigEndian;
    all.push(one(4, &[if big_endian { 177 } else { 169 }, 16, 8 * element, 256]));
    let whole = bits.offset == 0 && u32::from(bits.precision) == 8 * element;
    if let Some(signed) = signed.filter(|_| whole) {
        let mut values = vec![2, 0, 0, 0, element, u32::from(signed), u32::from(big_endian)];
        values.resize(20, 0);
        all.push(Candidate { filters: vec![(6, values)], count_at: Some((0, 2)) });
    }
    all
}

impl Candidate {
    fn label(&self) -> String {
        self.filters.iter().map(|(id, values)| label(*id, "", values)).collect::<Vec<_>>().join(" + ")
    }

    fn pipeline(&self, bytes: usize, element_size: usize) -> Result<Pipeline> {
        let mut filters: Vec<FilterDescription> = (self.filters.iter())
            .map(|(id, values)| FilterDescription {
                id: *id,
                stored_name: Vec::new(),
                flags: 1,
                client_data: values.clone(),
                padding: Vec::new(),
            })
            .collect();
        if let Some((filter, place)) = self.count_at {
            filters[filter].client_data[place] = u32::try_from(bytes / element_size).unwrap_or(u32::MAX);
        }
        let message = FilterPipeline { version: 2, reserved: Vec::new(), filters };
        Pipeline::new(&message, ChunkInfo { bytes, element_size }, &Registry::default())
    }

    /// Encodes all pieces, and decodes them, again and again if that takes no time.
    fn try_on(&self, pieces: &[Vec<u8>], element_size: usize) -> std::result::Result<Tried, Failure> {
        let (mut scratch, mut encoding, mut stored) = (Scratch::default(), Duration::ZERO, Vec::new());
        for piece in pieces {
            let pipeline = self.pipeline(piece.len(), element_size)?;
            let start = Instant::now();
            let (encoded, mask) = pipeline.encode(piece, &mut scratch)?;
            encoding += start.elapsed();
            stored.push((pipeline, encoded.to_vec(), mask));
        }
        let longest = pieces.iter().map(Vec::len).max().unwrap_or(0);
        let (mut back, mut decoding, mut begin) = (vec![0; longest], Duration::MAX, Instant::now());
        for round in 0.. {
            let mut time = Duration::ZERO;
            for ((pipeline, encoded, mask), piece) in stored.iter().zip(pieces) {
                let to = &mut back[..piece.len()];
                let start = Instant::now();
                pipeline.decode(encoded, *mask, &mut scratch, &mut Output::exact(to))?;
                time += start.elapsed();
                if round == 0 && to != piece {
                    return Err(Failure::Said(format!("{} does not give back the same values", self.label())));
                }
            }
            decoding = decoding.min(time);
            if round == 0 {
                begin = Instant::now();
            } else if begin.elapsed() > LONG_ENOUGH {
                break;
            }
        }
        let stored = stored.iter().map(|(_, encoded, _)| encoded.len() as u64).sum();
        Ok(Tried { stored, encoding, decoding })
    }
}

/// Bytes a second, in millions.
fn speed(bytes: u64, time: Duration) -> String {
    let nanoseconds = time.as_nanos().max(1);
    (u128::from(bytes) * 1000 / nanoseconds).to_string()
}
