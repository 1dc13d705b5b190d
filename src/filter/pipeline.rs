//! The filters of a dataset, run over its chunks.
//!
//! Decoding undoes the filters last to first, but for those whose bit is set in the chunk's mask. What flows between
//! two filters goes through two buffers that take turns; the last filter to be undone writes to the destination.
//! Before any of that, the sizes are bounded from the plain side: each filter's output has to fit in what the filters
//! before it can have made of one chunk.

use std::borrow::Cow;
use std::ops::Range;

use super::{Bound, ChunkInfo, Output, Registry, SharedFilter, registry};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::format::message::filter_pipeline::FilterPipeline;

/// Larger chunks grow with what is decoded of them, so that a claim alone takes no memory.
pub(crate) const AT_ONCE: usize = 32 << 20;
/// Filters that a mask has bits for.
const MOST: usize = 32;

/// The filters of a dataset, configured for its chunks. Shared by all threads.
///
/// A filter that cannot be made is no error until a chunk needs it.
#[derive(Clone, Debug)]
pub struct Pipeline {
    chunk: ChunkInfo,
    stages: Vec<Stage>,
}

#[derive(Clone, Debug)]
struct Stage {
    name: Cow<'static, str>,
    optional: bool,
    filter: Result<SharedFilter, Missing>,
}

#[derive(Clone, Debug)]
struct Missing {
    kind: ErrorKind,
    message: String,
}

/// Two buffers for what flows between filters. One per thread, to be used again for the next chunk.
#[derive(Debug, Default)]
pub struct Scratch {
    from: Buffer,
    to: Buffer,
}

/// A vector that keeps its length, so that it is not filled with zeros again and again.
#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    used: usize,
}

impl Buffer {
    fn used(&self) -> &[u8] {
        &self.bytes[..self.used]
    }
}

impl Pipeline {
    /// Configures the filters of `message` for chunks of one size.
    pub fn new(message: &FilterPipeline, chunk: ChunkInfo, registry: &Registry) -> Result<Self> {
        if message.filters.len() > MOST {
            return Err(Error::corrupt(format!("{} filters, a mask has bits for {MOST}", message.filters.len())));
        }
        let stages = message.filters.iter().map(|description| Stage {
            name: registry::name(description),
            optional: description.flags & 1 != 0,
            filter: registry
                .configure(description, chunk)
                .map_err(|e| Missing { kind: e.kind(), message: e.message().to_owned() }),
        });
        Ok(Pipeline { chunk, stages: stages.collect() })
    }

    /// The size of a whole chunk and of an element.
    pub fn chunk(&self) -> ChunkInfo {
        self.chunk
    }

    /// Whether chunks are stored as they are.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Fails if there is a filter that cannot be undone, before any chunk is read.
    pub fn check(&self) -> Result<()> {
        self.stages.iter().try_for_each(|stage| stage.filter().map(drop))
    }

    /// Decodes a stored chunk. `output` has to expect exactly one chunk.
    ///
    /// Errors name the filter. `Corrupt` if the stored bytes are not what the filters write, or give more or fewer
    /// bytes than a chunk has; `Unsupported` if a filter is missing that the mask does not skip.
    pub fn decode(&self, stored: &[u8], mask: u32, scratch: &mut Scratch, output: &mut Output<'_>) -> Result<()> {
        if output.expected() != Some(self.chunk.bytes) {
            return Err(Error::invalid(format!("an output for something else than {} bytes", self.chunk.bytes)));
        }
        self.check_claim(stored.len(), mask)?;
        let (outer, innermost) = self.undo_outer(stored, mask, scratch)?;
        let input = if outer { scratch.from.used() } else { stored };
        let Some(stage) = innermost else { return self.check_size(input).and_then(|()| output.write(input)) };
        let filter = stage.filter()?;
        if output.takes_slices() || filter.decodes_in_order() {
            return filter.decode(input, output).and_then(|()| output.finish().map(drop)).map_err(|e| stage.at(e));
        }
        let bound = Bound::Exactly(self.chunk.bytes);
        let result = stage.decode_to(&mut scratch.to, bound, if outer { scratch.from.used() } else { stored });
        result.and_then(|()| output.write(scratch.to.used()))
    }

    /// Decodes a stored chunk into `chunk`, which then has its bytes alone. Memory is taken for what the stored bytes can
    /// give, whatever the chunk is said to be. Errors are those of [`decode`](Self::decode).
    pub fn decode_whole(&self, stored: &[u8], mask: u32, scratch: &mut Scratch, chunk: &mut Vec<u8>) -> Result<()> {
        self.check_claim(stored.len(), mask)?;
        if self.chunk.bytes <= AT_ONCE {
            if chunk.len() != self.chunk.bytes {
                chunk.clear();
                chunk.resize(self.chunk.bytes, 0);
            }
            return self.decode(stored, mask, scratch, &mut Output::exact(chunk));
        }
        chunk.clear();
        let (outer, innermost) = self.undo_outer(stored, mask, scratch)?;
        let input = if outer { scratch.from.used() } else { stored };
        match innermost {
            Some(stage) => stage.grow(chunk, Bound::Exactly(self.chunk.bytes), input),
            None => self.check_size(input).map(|()| chunk.extend_from_slice(input)),
        }
    }

    /// Fails if so many stored bytes cannot give a whole chunk.
    fn check_claim(&self, stored: usize, mask: u32) -> Result<()> {
        let applied = self.applied(mask);
        let mut most = stored;
        for stage in applied.iter().rev() {
            most = stage.filter()?.decoded_bound(most);
        }
        // Without a filter the size is checked where the bytes are taken.
        if self.chunk.bytes <= most || applied.is_empty() {
            return Ok(());
        }
        let what = format!("{stored} stored bytes give {most} at most, a chunk has {}", self.chunk.bytes);
        Err(Error::corrupt(what))
    }

    /// Decodes bytes `range` of a stored chunk. `output` has to expect exactly as many. Filters in front of the
    /// innermost one are undone as a whole; that one decodes only the blocks it must, where its format has blocks.
    pub fn decode_range(
        &self,
        stored: &[u8],
        mask: u32,
        range: Range<usize>,
        scratch: &mut Scratch,
        output: &mut Output<'_>,
    ) -> Result<()> {
        if range.end > self.chunk.bytes || output.expected() != Some(range.len()) {
            return Err(Error::invalid(format!("range {range:?} of a chunk of {} bytes", self.chunk.bytes)));
        }
        self.check_claim(stored.len(), mask)?;
        let (outer, innermost) = self.undo_outer(stored, mask, scratch)?;
        let Scratch { from, to } = scratch;
        let input = if outer { from.used() } else { stored };
        let Some(stage) = innermost else {
            return self.check_size(input).and_then(|()| output.write(&input[range]));
        };
        let filter = stage.filter()?;
        let done = filter.decode_range(input, self.chunk.bytes, range.clone(), output);
        if done.map_err(|e| stage.at(e))? {
            return output.finish().map(drop).map_err(|e| stage.at(e));
        }
        stage.decode_to(to, Bound::Exactly(self.chunk.bytes), input)?;
        output.write(&to.used()[range])
    }

    /// Undoes all filters but the one that wrote first. Says whether the result is in `scratch.from` (otherwise it is
    /// what is stored), and which filter is left.
    fn undo_outer(&self, stored: &[u8], mask: u32, scratch: &mut Scratch) -> Result<(bool, Option<&Stage>)> {
        let applied = self.applied(mask);
        let Some((innermost, outer)) = applied.split_first() else { return Ok((false, None)) };
        let mut bounds = Vec::with_capacity(outer.len());
        let mut bound = Bound::Exactly(self.chunk.bytes);
        for stage in applied.iter().take(outer.len()) {
            bound = bound.then(stage.filter()?.as_ref());
            bounds.push(bound);
        }
        let mut moved = false;
        for (stage, &bound) in outer.iter().zip(&bounds).rev() {
            let Scratch { from, to } = &mut *scratch;
            stage.decode_to(to, bound, if moved { from.used() } else { stored })?;
            std::mem::swap(from, to);
            moved = true;
        }
        Ok((moved, Some(innermost)))
    }

    /// The filters that a chunk went through.
    fn applied(&self, mask: u32) -> Vec<&Stage> {
        self.stages.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 0).map(|(_, stage)| stage).collect()
    }

    fn check_size(&self, stored: &[u8]) -> Result<()> {
        if stored.len() == self.chunk.bytes {
            return Ok(());
        }
        let what = format!("{} bytes are stored without a filter, a chunk has {}", stored.len(), self.chunk.bytes);
        Err(Error::corrupt(what))
    }

    /// Encodes one chunk; gives the bytes to store and the mask of filters that were skipped.
    ///
    /// An optional filter that gives up or fails is skipped; a mandatory one that fails, or gives up, is an error.
    pub fn encode<'s>(&self, chunk: &[u8], scratch: &'s mut Scratch) -> Result<(&'s [u8], u32)> {
        if chunk.len() != self.chunk.bytes {
            return Err(Error::invalid(format!("{} bytes for a chunk of {}", chunk.len(), self.chunk.bytes)));
        }
        let Scratch { from, to } = scratch;
        from.bytes.clear();
        from.bytes.extend_from_slice(chunk);
        let mut mask = 0;
        for (i, stage) in self.stages.iter().enumerate() {
            to.bytes.clear();
            let encoded = stage.filter().and_then(|f| f.encode(&from.bytes, &mut to.bytes).map_err(|e| stage.at(e)));
            match encoded {
                Ok(true) => std::mem::swap(from, to),
                _ if stage.optional => mask |= 1 << i,
                Ok(false) => {
                    return Err(stage.at(Error::invalid("the chunk does not shrink, and the filter is not optional")));
                }
                Err(error) => return Err(error),
            }
        }
        from.used = from.bytes.len();
        Ok((from.used(), mask))
    }
}

impl Stage {
    fn filter(&self) -> Result<&SharedFilter> {
        self.filter.as_ref().map_err(|missing| self.at(Error::new(missing.kind, missing.message.clone())))
    }

    fn at(&self, error: Error) -> Error {
        error.at(Place::Filter(self.name.clone()))
    }

    /// Decodes `input` into `to`, within `bound`.
    fn decode_to(&self, to: &mut Buffer, bound: Bound, input: &[u8]) -> Result<()> {
        to.used = 0;
        match bound {
            Bound::Exactly(len) if len <= AT_ONCE => {
                if to.bytes.len() < len {
                    to.bytes.resize(len, 0);
                }
                let mut output = Output::exact(&mut to.bytes[..len]);
                let result = self.filter()?.decode(input, &mut output).and_then(|()| output.finish());
                to.used = result.map_err(|e| self.at(e))?;
            }
            bound => {
                to.bytes.clear();
                self.grow(&mut to.bytes, bound, input)?;
                to.used = to.bytes.len();
            }
        }
        Ok(())
    }

    /// Decodes `input` into `to`, which is empty and grows up to `bound`, or to what the input can give.
    fn grow(&self, to: &mut Vec<u8>, bound: Bound, input: &[u8]) -> Result<()> {
        let filter = self.filter()?;
        let mut output = Output::growing(to, bound.bytes().min(filter.decoded_bound(input.len())));
        let result = filter.decode(input, &mut output).and_then(|()| output.finish());
        match (bound, result.map_err(|e| self.at(e))?) {
            (Bound::Exactly(len), given) if given != len => {
                Err(self.at(Error::corrupt(format!("gives {given} bytes, {len} are expected"))))
            }
            _ => Ok(()),
        }
    }
}
