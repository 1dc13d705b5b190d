//! JPEG, filter 32019: the chunk is one JPEG image, grey or of three colours, of 8 bits. Client values, of no use here:
//! quality, columns, rows, 0 for grey and 1 for colours.
//!
//! By the crate `jpeg-decoder`. The format leaves open how numbers are rounded: pixels may differ from those of other
//! decoders, by 1 of 255 in grey images and a little more in colours.

use jpeg_decoder::{Decoder, PixelFormat};

use super::{Filter, Output, check_claim, ends_early, expansion};
use crate::error::{Error, Result};

/// JPEG describes itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jpeg;

fn corrupt(error: &jpeg_decoder::Error) -> Error {
    Error::corrupt(error.to_string())
}

impl Filter for Jpeg {
    fn decode(&self, input: &[u8], output: &mut Output<'_>) -> Result<()> {
        let mut decoder = Decoder::new(input);
        decoder.read_info().map_err(|e| corrupt(&e))?;
        let Some(info) = decoder.info() else { return Err(Error::corrupt("an image without a header")) };
        let channels = match info.pixel_format {
            PixelFormat::L8 => 1,
            PixelFormat::RGB24 => 3,
            other => return Err(Error::unsupported(format!("pixels of the format {other:?}, L8 and RGB24 are known"))),
        };
        let plain = usize::from(info.width) * usize::from(info.height) * channels;
        check_claim(plain, output)?;
        if plain > self.decoded_bound(input.len()) {
            // The crate would make up the blocks that are missing.
            return Err(ends_early());
        }
        decoder.set_max_decoding_buffer_size(plain);
        output.write(&decoder.decode().map_err(|e| corrupt(&e))?)
    }

    fn decodes_in_order(&self) -> bool {
        true
    }

    fn decoded_bound(&self, stored: usize) -> usize {
        stored.saturating_mul(expansion::JPEG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_more_than_their_bytes_give_take_no_memory() {
        // The start, and a grey frame of 16,384 lines of as many pixels.
        let stored = [0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0x40, 0, 0x40, 0, 1, 1, 0x11, 0];
        let mut grown = Vec::new();
        let error = Jpeg.decode(&stored, &mut Output::growing(&mut grown, 1 << 30)).unwrap_err();
        assert_eq!(error.message(), ends_early().message());
        assert_eq!(grown.capacity(), 0);
    }
}
