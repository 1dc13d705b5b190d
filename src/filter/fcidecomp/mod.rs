//! Fcidecomp, filter 32018 (EUMETSAT): the chunk is one JPEG-LS image, ITU-T T.87. No client value is needed.
//!
//! ```text
//! ffd8 | segments: marker ff.., size u16, content | scan: bits, where a zero follows each byte ff | … | ffd9
//! ```
//! Numbers are big-endian. Each component of the image has a scan of its own; samples of up to 8 bits are bytes, wider
//! ones little-endian u16.

mod scan;

use self::scan::{Coding, Thresholds};
use super::{Filter, Output, check_claim, ends_early, expansion};
use crate::error::{Error, Result};

/// JPEG-LS describes itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct FciDecomp;

impl Filter for FciDecomp {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let mut segments = Segments { input, at: 0 };
        if segments.marker()? != START {
            return Err(Error::corrupt("no JPEG-LS image: the first marker is another"));
        }
        let mut image = None;
        let mut presets = None;
        loop {
            match segments.marker()? {
                FRAME => image = Some(Image::new(segments.content()?, output)?),
                PRESETS => presets = Some(presets_of(segments.content()?)?),
                SCAN => {
                    let header = segments.content()?;
                    let Some(image) = image.as_mut() else { return Err(Error::corrupt("a scan before the frame")) };
                    let rest = &input[segments.at..];
                    segments.at += image.scan(header, presets, rest, output)?;
                    if image.left == 0 {
                        return Ok(());
                    }
                }
                RESTARTS => return Err(Error::unsupported("restart intervals in a JPEG-LS image")),
                marker @ (APPLICATION..=LAST_APPLICATION | COMMENT) => {
                    if segments.content()?.starts_with(b"mrfx") {
                        return Err(Error::unsupported(format!("a colour transform in segment {marker:#04x}")));
                    }
                }
                marker => return Err(Error::unsupported(format!("marker {marker:#04x} in a JPEG-LS image"))),
            }
        }
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::JPEG_LS)
    }
}

const START: u8 = 0xd8;
const SCAN: u8 = 0xda;
const RESTARTS: u8 = 0xdd;
const APPLICATION: u8 = 0xe0;
const LAST_APPLICATION: u8 = 0xef;
const FRAME: u8 = 0xf7;
const PRESETS: u8 = 0xf8;
const COMMENT: u8 = 0xfe;

/// The segments, taken in order.
struct Segments<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Segments<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let bytes = self.input.get(self.at..).and_then(|rest| rest.get(..len)).ok_or_else(ends_early)?;
        self.at += len;
        Ok(bytes)
    }

    fn marker(&mut self) -> Result<u8> {
        let at = self.at;
        match *self.take(2)? {
            [0xff, marker] => Ok(marker),
            _ => Err(Error::corrupt(format!("no marker at byte {at} of the image"))),
        }
    }

    fn content(&mut self) -> Result<&'a [u8]> {
        let size = number(self.take(2)?);
        self.take(size.checked_sub(2).ok_or_else(|| Error::corrupt(format!("a segment of {size} bytes")))?)
    }
}

fn number(two: &[u8]) -> usize {
    two.iter().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

/// Preset parameters: the largest sample, thresholds, and when statistics are halved. Zeros stand for the usual ones.
#[derive(Clone, Copy)]
struct Presets {
    largest: u16,
    thresholds: [u16; 3],
    reset: u16,
}

fn presets_of(content: &[u8]) -> Result<Presets> {
    let &[kind, ref rest @ ..] = content else { return Err(ends_early()) };
    if kind != 1 {
        return Err(Error::unsupported(format!("preset parameters of kind {kind}, 1 is known")));
    }
    let words = rest.as_chunks::<2>().0;
    let &[largest, a, b, c, reset] = words else {
        return Err(Error::corrupt(format!("{} preset parameters, there are 5", words.len())));
    };
    let thresholds = [a, b, c].map(u16::from_be_bytes);
    Ok(Presets { largest: u16::from_be_bytes(largest), thresholds, reset: u16::from_be_bytes(reset) })
}

/// What the frame says.
struct Image {
    width: usize,
    height: usize,
    /// Bits of a sample.
    precision: u8,
    /// Components that have had no scan yet.
    left: u8,
}

impl Image {
    fn new(content: &[u8], output: &Output<'_>) -> Result<Self> {
        let &[precision, a, b, c, d, components, ..] = content else { return Err(ends_early()) };
        let (height, width) = (number(&[a, b]), number(&[c, d]));
        if !(2..=16).contains(&precision) {
            return Err(Error::corrupt(format!("samples of {precision} bits")));
        }
        if width == 0 || height == 0 || components == 0 {
            return Err(Error::corrupt(format!("an image of {height} lines of {width} in {components} components")));
        }
        let image = Image { width, height, precision, left: components };
        // Three factors below 2¹⁶, 2¹⁶ and 2⁸, and one of 2.
        let claimed = image.plane().checked_mul(usize::from(components));
        check_claim(claimed.unwrap_or(usize::MAX), output)?;
        Ok(image)
    }

    /// Bytes of a component.
    fn plane(&self) -> usize {
        let sample = if self.precision > 8 { 2 } else { 1 };
        self.width.saturating_mul(self.height).saturating_mul(sample)
    }

    /// Decodes the next component from `input`; gives how many bytes its scan has.
    fn scan(
        &mut self,
        header: &[u8],
        presets: Option<Presets>,
        input: &[u8],
        output: &mut Output<'_>,
    ) -> Result<usize> {
        let &[components, .., near, interleave, point] = header else { return Err(ends_early()) };
        if (components, interleave) != (1, 0) {
            let what = format!("interleaving {interleave} of {components} components; each has a scan of its own");
            return Err(Error::unsupported(what));
        }
        if point & 15 != 0 {
            return Err(Error::unsupported(format!("a point transform of {}", point & 15)));
        }
        let largest = (1i32 << self.precision) - 1;
        let largest = match presets.map_or(0, |p| i32::from(p.largest)) {
            0 => largest,
            own if own <= largest => own,
            own => return Err(Error::corrupt(format!("samples of {} bits up to {own}", self.precision))),
        };
        let near = i32::from(near);
        if near > largest / 2 {
            return Err(Error::corrupt(format!("samples up to {largest} may be wrong by {near}")));
        }
        let wanted = presets.map_or([0; 3], |p| p.thresholds).map(i32::from);
        let reset = match presets.map_or(0, |p| i32::from(p.reset)) {
            0 => 64,
            own @ 3.. => own,
            own => return Err(Error::corrupt(format!("statistics are halved after {own} samples"))),
        };
        let coding = Coding { largest, near, thresholds: Thresholds::new(largest, near, wanted)?, reset };
        let Some(to) = output.slice(self.plane())? else {
            return Err(Error::invalid("fcidecomp does not decode to a scattered output"));
        };
        let used = scan::decode(input, &coding, self.width, self.precision > 8, to)?;
        self.left -= 1;
        Ok(used)
    }
}
