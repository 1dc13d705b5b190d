//! Selections as text, in NumPy's notation: `0, 10:20:2, ..., [4, 0, 4]`.

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::selection::index::{Index, Selection};

impl FromStr for Selection {
    type Err = Error;

    /// The selection that `text` writes as NumPy would have it between brackets: integers, `start:stop:step`, lists in
    /// brackets (of integers, or of `True` and `False`), `...`, `newaxis` or `None`.
    ///
    /// ```
    /// let selection: hdfive::selection::Selection = "-1, 2:9:3, [4, 0, 4]".parse()?;
    /// assert_eq!(selection, hdfive::s![-1, 2..9;3, [4, 0, 4]]);
    /// # Ok::<(), hdfive::Error>(())
    /// ```
    ///
    /// Errors are `Invalid`.
    fn from_str(text: &str) -> Result<Selection> {
        let indices = split(text).into_iter().map(|part| index(part.trim()));
        Ok(Selection::Indices(indices.collect::<Result<_>>()?))
    }
}

/// The parts between commas that are not within brackets; none of nothing.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    // A comma may stand at the end, as after the one index of a tuple.
    if !text[start..].trim().is_empty() {
        parts.push(&text[start..]);
    }
    parts
}

fn index(part: &str) -> Result<Index> {
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| invalid(part));
    match part {
        "..." => return Ok(Index::Ellipsis),
        "newaxis" | "np.newaxis" | "None" => return Ok(Index::NewAxis),
        _ => {}
    }
    if let Some(list) = part.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let words: Vec<&str> = split(list).into_iter().map(str::trim).collect();
        if !words.is_empty() && words.iter().all(|word| matches!(*word, "True" | "False" | "true" | "false")) {
            let values: Vec<bool> = words.iter().map(|word| word.eq_ignore_ascii_case("true")).collect();
            let shape = vec![u64::try_from(values.len()).map_err(|_| invalid(part))?];
            return Ok(Index::Mask { shape, values });
        }
        return Ok(Index::List(words.into_iter().map(number).collect::<Result<_>>()?));
    }
    let ends: Vec<&str> = part.split(':').collect();
    let end = |text: &str| if text.trim().is_empty() { Ok(None) } else { number(text).map(Some) };
    match ends[..] {
        [at] => Ok(Index::At(number(at)?)),
        [start, stop] => Ok(Index::Range { start: end(start)?, stop: end(stop)?, step: 1 }),
        [start, stop, step] => Ok(Index::Range { start: end(start)?, stop: end(stop)?, step: end(step)?.unwrap_or(1) }),
        _ => Err(invalid(part)),
    }
}

fn invalid(part: &str) -> Error {
    Error::invalid(format!("{part:?} is no index: an integer, start:stop:step, [a, b, c], ... or newaxis is"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::s;
    use crate::selection::Index::{Ellipsis, NewAxis};

    #[test]
    fn text_is_read_as_numpy_reads_it() {
        let parse = |text: &str| text.parse::<Selection>().unwrap();
        assert_eq!(parse(""), s![]);
        assert_eq!(parse("3,"), s![3]);
        assert_eq!(parse(":, ::-1, 5:, :-2"), s![.., ..;-1, 5.., ..-2]);
        assert_eq!(parse("..., [1, 2], newaxis"), s![Ellipsis, [1, 2], NewAxis]);
        assert_eq!(parse("[True, False]"), s![[true, false]]);
        for wrong in ["x", "1:2:3:4", "[1, x]", "1 2", "[1"] {
            assert_eq!(wrong.parse::<Selection>().unwrap_err().kind(), crate::ErrorKind::Invalid, "{wrong}");
        }
    }
}
