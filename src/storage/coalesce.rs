//! Ranges that are wanted, joined to requests: neighbours share one, up to a size, and what lies between them is read too
//! where that is cheaper than another request.
//!
//! ```text
//! wanted    [--a--]  [-b-]          [------c------]      [d]
//! requests  [------------]          [--------------------]
//! ```

use super::{IoProfile, Wanted};
use crate::wire::ByteRange;

/// One request for several ranges.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// From the first byte that is wanted to the last.
    pub(crate) range: ByteRange,
    /// In ascending order, without overlaps.
    pub(crate) wanted: Vec<Wanted<'a>>,
}

impl<'a> Request<'a> {
    /// A request for one range alone.
    pub(crate) fn of(wanted: Wanted<'a>) -> Request<'a> {
        Request { range: wanted.range, wanted: vec![wanted] }
    }
}

/// The requests by which to get what is `wanted`, in ascending order. A range that is larger than a request should be has one
/// of its own.
pub(crate) fn requests<'a>(mut wanted: Vec<Wanted<'a>>, profile: &IoProfile) -> Vec<Request<'a>> {
    let (most, gap) = (profile.largest_request(), profile.largest_gap());
    wanted.sort_by_key(|wanted| wanted.range);
    let mut requests: Vec<Request<'a>> = Vec::new();
    for wanted in wanted {
        let end = |range: &ByteRange| range.addr.0.saturating_add(range.size);
        let joined = requests.last_mut().filter(|last| {
            let between = wanted.range.addr.0.checked_sub(end(&last.range));
            between.is_some_and(|between| between <= gap) && end(&wanted.range) - last.range.addr.0 <= most
        });
        match joined {
            Some(last) => {
                last.range.size = end(&wanted.range) - last.range.addr.0;
                last.wanted.push(wanted);
            }
            None => requests.push(Request::of(wanted)),
        }
    }
    requests
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::storage::Buffer;
    use crate::wire::Addr;

    /// Requests of at most 1000 bytes, gaps of at most 100.
    const PROFILE: IoProfile = IoProfile {
        block: 1,
        read_ahead: 1,
        on_the_spot: false,
        latency: Duration::from_millis(100),
        bandwidth: 10_000,
        connections: 10,
    };

    fn joined(ranges: &[(u64, u64)]) -> Vec<(u64, u64, usize)> {
        let wanted = |(start, size): &(u64, u64)| Wanted {
            range: ByteRange::new(Addr(*start), *size),
            buffer: Buffer::Owned(vec![0; usize::try_from(*size).unwrap()]),
        };
        let requests = requests(ranges.iter().map(wanted).collect(), &PROFILE);
        requests.iter().map(|r| (r.range.addr.0, r.range.size, r.wanted.len())).collect()
    }

    #[test]
    fn neighbours_share_a_request_and_small_gaps_are_read_over() {
        assert_eq!(joined(&[(50, 10), (0, 20), (160, 1)]), [(0, 161, 3)]);
        assert_eq!(joined(&[(0, 20), (121, 10)]), [(0, 20, 1), (121, 10, 1)]);
    }

    #[test]
    fn a_request_has_a_largest_size_and_a_larger_range_one_of_its_own() {
        assert_eq!(joined(&[(0, 600), (600, 400), (1000, 1)]), [(0, 1000, 2), (1000, 1, 1)]);
        assert_eq!(joined(&[(0, 10), (10, 5000), (5010, 10)]), [(0, 10, 1), (10, 5000, 1), (5010, 10, 1)]);
    }

    #[test]
    fn ranges_that_overlap_have_requests_of_their_own() {
        assert_eq!(joined(&[(0, 100), (50, 100), (0, 100)]), [(0, 100, 1), (0, 100, 1), (50, 100, 1)]);
    }
}
