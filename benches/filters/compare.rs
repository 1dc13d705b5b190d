//! Measuring two functions in turns.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use crate::{cases, reference};

/// Sizes of chunks.
const SIZES: [usize; 2] = [64 << 10, 12 << 20];

/// The shortest times of two functions that take turns.
fn shortest(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> (Duration, Duration) {
    let (mut best_ours, mut best_theirs) = (Duration::MAX, Duration::MAX);
    let begin = reference::processor_time();
    let mut rounds = 0;
    while rounds < 5 || rounds < 2000 && reference::processor_time() - begin < Duration::from_millis(300) {
        let start = reference::processor_time();
        ours();
        let middle = reference::processor_time();
        theirs();
        best_ours = best_ours.min(middle - start);
        best_theirs = best_theirs.min(reference::processor_time() - middle);
        rounds += 1;
    }
    (best_ours, best_theirs)
}

/// Prints figures as they come, and their medians at the end.
pub(crate) struct Report {
    wanted: Option<String>,
    ratios: BTreeMap<String, Vec<f64>>,
}

impl Report {
    pub(crate) fn wants(&self, filter: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| filter.contains(wanted.as_str()))
    }

    /// Compares two functions that give the same `bytes` plain bytes.
    pub(crate) fn compare(&mut self, filter: &str, set: &str, bytes: usize, ours: impl FnMut(), theirs: impl FnMut()) {
        let (ours, theirs) = shortest(ours, theirs);
        let speed = |time: Duration| u32::try_from(bytes).map_or(0.0, f64::from) / 1e6 / time.as_secs_f64();
        let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
        let size = if bytes >> 20 > 0 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) };
        println!("| {filter} | {set} | {size} | {:.0} | {:.0} | {ratio:.2} |", speed(ours), speed(theirs));
        self.ratios.entry(filter.to_owned()).or_default().push(ratio);
    }

    fn summary(&mut self) {
        println!("\n| filter | median | least | most |\n|---|---:|---:|---:|");
        for (filter, ratios) in &mut self.ratios {
            ratios.sort_by(f64::total_cmp);
            let (low, high) = (ratios[(ratios.len() - 1) / 2], ratios[ratios.len() / 2]);
            let median = f64::midpoint(low, high);
            println!("| {filter} | {median:.2} | {:.2} | {:.2} |", ratios[0], ratios[ratios.len() - 1]);
        }
    }
}

/// Measures everything, or filters that have the argument in their names.
pub(crate) fn run() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let mut report = Report { wanted, ratios: BTreeMap::new() };
    println!("| filter | data | chunk | ours, MB/s | C, MB/s | ratio |\n|---|---|---|---:|---:|---:|");
    for size in SIZES {
        cases::run(&mut report, size);
    }
    report.summary();
    black_box(&report.ratios);
}
