//! Texts of any length, each kept once and known by a number, so that slabs of text are plain bytes like all others.
//!
//! Number 0 is the empty text: fresh memory is full of empty texts.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

/// Texts by number. Texts are added and never removed; arrays that were copied from each other share them.
#[derive(Debug)]
pub struct Texts(RwLock<Known>);

#[derive(Debug)]
struct Known {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u64>,
}

impl Default for Texts {
    fn default() -> Self {
        let empty: Arc<str> = Arc::from("");
        Texts(RwLock::new(Known { texts: vec![empty.clone()], numbers: HashMap::from([(empty, 0)]) }))
    }
}

impl Texts {
    /// The number of `text`, which is added if it is new.
    pub fn number(&self, text: &str) -> u64 {
        if let Some(&number) = self.0.read().expect("no holder panics").numbers.get(text) {
            return number;
        }
        let mut known = self.0.write().expect("no holder panics");
        let next = known.texts.len() as u64;
        let text: Arc<str> = Arc::from(text);
        let number = *known.numbers.entry(text.clone()).or_insert(next);
        if number == next {
            known.texts.push(text);
        }
        number
    }

    /// The text of `number`; empty if there is none.
    pub fn text(&self, number: u64) -> Arc<str> {
        let known = self.0.read().expect("no holder panics");
        let place = usize::try_from(number).unwrap_or(0);
        known.texts.get(place).unwrap_or(&known.texts[0]).clone()
    }

    /// The bytes that stand for `texts` in a buffer.
    pub fn numbers<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
        texts.into_iter().flat_map(|text| self.number(text).to_ne_bytes()).collect()
    }

    /// The texts that the bytes of a buffer stand for.
    pub fn texts(&self, bytes: &[u8]) -> Vec<Arc<str>> {
        bytes.as_chunks().0.iter().map(|number| self.text(u64::from_ne_bytes(*number))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number_and_the_empty_text_is_0() {
        let texts = Texts::default();
        let bytes = texts.numbers(["ab", "", "c", "ab"]);
        assert_eq!(bytes[8..16], [0; 8]);
        assert_eq!(bytes[..8], bytes[24..]);
        assert_eq!(texts.texts(&bytes).iter().map(|t| &**t).collect::<Vec<_>>(), ["ab", "", "c", "ab"]);
    }
}
