//! Change points in a window of dependent samples: segments at another level than the rest.
//! Finds and sizes them; whether one voids a point is decided in `validity`.

use super::autocorrelation::long_run_of_first_order;
use super::distribution::mean;

/// More bins than this are grouped first.
const MOST_BINS: usize = 240;
/// Changes beyond this number are not listed.
const MOST_CHANGES: usize = 8;

/// A segment whose level differs from the rest of the stretch in which it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// First sample of the segment.
    pub from: usize,
    /// Sample after its last; the end of the window for a step.
    pub to: usize,
    /// (level inside − level outside) ÷ mean of the whole window.
    pub relative: f64,
    /// The difference in standard errors.
    pub z: f64,
}

/// Changes of at least `magnitude` (a share of the mean) in segments of at least `shortest` samples,
/// ordered by time.
///
/// Circular binary segmentation: the segment whose mean differs most from the rest is tested, with a
/// standard error that counts the dependence of the residuals; then the pieces are searched again. The
/// bars for z, 4.6 + 60/n and 5.5 + 500/n, both raised where the lag-one correlation is above 0.5, are set
/// by simulation (stationary first-order noise, lag-one correlation 0 to 0.8, 30 to 240 bins: about 1 %
/// of windows pass them by chance). Source of the search: Olshen and others, Biostatistics 5 (2004).
pub fn changes(values: &[f64], shortest: usize, magnitude: f64) -> Vec<Change> {
    let group = values.len().div_ceil(MOST_BINS).max(1);
    let bins: Vec<f64> = values.chunks_exact(group).map(mean).collect();
    let centre = mean(values);
    if centre <= 0.0 || !centre.is_finite() {
        return Vec::new();
    }
    let search = Search { shortest: shortest.div_ceil(group).max(2), threshold: magnitude * centre };
    let mut found = Vec::new();
    search.pieces(&bins, 0, &mut found);
    let mut changes: Vec<Change> = found
        .into_iter()
        .map(|segment| Change {
            from: segment.from * group,
            to: if segment.to == bins.len() { values.len() } else { segment.to * group },
            relative: segment.difference / centre,
            z: segment.z,
        })
        .collect();
    changes.sort_by_key(|change| change.from);
    changes
}

struct Search {
    shortest: usize,
    threshold: f64,
}

#[derive(Clone, Copy)]
struct Segment {
    from: usize,
    to: usize,
    difference: f64,
    z: f64,
}

impl Search {
    /// Searches one piece that begins at bin `offset`, then the parts it falls into.
    fn pieces(&self, bins: &[f64], offset: usize, found: &mut Vec<Segment>) {
        if found.len() >= MOST_CHANGES {
            return;
        }
        let Some(segment) = self.strongest(bins).and_then(|best| self.tested(bins, best)) else {
            return;
        };
        let (from, to) = (segment.from, segment.to);
        found.push(Segment { from: from + offset, to: to + offset, ..segment });
        self.pieces(&bins[..from], offset, found);
        self.pieces(&bins[from..to], offset + from, found);
        self.pieces(&bins[to..], offset + to, found);
    }

    /// The segment that explains most of the variance, not yet tested (its `z` is 0). Of the two ways to
    /// describe a step, the one whose segment runs to the end.
    fn strongest(&self, bins: &[f64]) -> Option<Segment> {
        let n = bins.len();
        let mut sums = vec![0.0];
        sums.extend(bins.iter().scan(0.0, |sum, bin| {
            *sum += bin;
            Some(*sum)
        }));
        let mut best = None;
        let mut most = 0.0;
        for from in (0..n).filter(|&from| from == 0 || from >= self.shortest) {
            for to in from + self.shortest..=n {
                let (inside, outside) = ((to - from) as f64, (n - (to - from)) as f64);
                if outside < self.shortest as f64 || (to < n && n - to < self.shortest) {
                    continue;
                }
                let sum = sums[to] - sums[from];
                let difference = sum / inside - (sums[n] - sum) / outside;
                let gain = difference * difference * inside * outside;
                if gain > most {
                    most = gain;
                    best = Some(Segment { from, to, difference, z: 0.0 });
                }
            }
        }
        best.map(|segment| match segment.from {
            0 => Segment { from: segment.to, to: n, difference: -segment.difference, z: 0.0 },
            _ => segment,
        })
    }

    /// The segment with its z if it is significant and large enough. The noise is taken around the two
    /// levels of this segment, and again around a finer cutting, so that a second change does not hide
    /// the first; the finer cutting flatters the noise and has the higher bar.
    fn tested(&self, bins: &[f64], segment: Segment) -> Option<Segment> {
        let n = bins.len() as f64;
        let inside = (segment.to - segment.from) as f64;
        let places = 1.0 / inside + 1.0 / (n - inside);
        let mut cuts = vec![0, segment.from, segment.to, bins.len()];
        cuts.dedup();
        let coarse = Noise::of(&residuals(bins, &cuts), places);
        self.refine(bins, &mut cuts);
        self.refine(bins, &mut cuts);
        let fine = Noise::of(&residuals(bins, &cuts), places);
        let size = segment.difference.abs();
        let significant = size >= coarse.error * (4.6 + 60.0 / n + coarse.memory)
            || size >= fine.error * (5.5 + 500.0 / n + fine.memory);
        let z = segment.difference / coarse.error;
        (significant && size >= self.threshold).then_some(Segment { z, ..segment })
    }

    /// Adds the edges of the segment that explains most of what the cuts leave.
    fn refine(&self, bins: &[f64], cuts: &mut Vec<usize>) {
        let gain = |piece: &[usize]| {
            let segment = self.strongest(&bins[piece[0]..piece[1]])?;
            let (inside, all) = ((segment.to - segment.from) as f64, (piece[1] - piece[0]) as f64);
            let gain = segment.difference.powi(2) * inside * (all - inside) / all;
            Some((gain, segment.from + piece[0], segment.to + piece[0]))
        };
        let best = cuts.windows(2).filter_map(gain).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, from, to)) = best {
            cuts.extend([from, to]);
            cuts.sort_unstable();
            cuts.dedup();
        }
    }
}

/// Bins minus the mean of the piece they are in.
fn residuals(bins: &[f64], cuts: &[usize]) -> Vec<f64> {
    cuts.windows(2)
        .flat_map(|piece| {
            let level = mean(&bins[piece[0]..piece[1]]);
            bins[piece[0]..piece[1]].iter().map(move |y| y - level)
        })
        .collect()
}

/// The noise against which a difference is held.
struct Noise {
    /// Standard error of the difference; tiny, never zero.
    error: f64,
    /// What is added to the bar because long memory is underestimated around fitted levels.
    memory: f64,
}

impl Noise {
    /// Noise of a difference of two means whose reciprocal sizes sum to `places`.
    fn of(residuals: &[f64], places: f64) -> Self {
        let noise = long_run_of_first_order(residuals, 2);
        Self {
            error: (noise.variance * places).sqrt().max(f64::MIN_POSITIVE),
            memory: 5.0 * (noise.autocorrelation - 0.5).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;

    #[test]
    fn segments_are_found_where_they_are() {
        let noise = autoregressive(1, 300, 0.5);
        let values: Vec<f64> = (0..300)
            .map(|t| if (100..130).contains(&t) { 70.0 } else if t < 220 { 100.0 } else { 120.0 } + noise[t])
            .collect();
        let found = changes(&values, 5, 0.05);
        let edges: Vec<(usize, usize)> = found.iter().map(|change| (change.from, change.to)).collect();
        assert_eq!(edges, [(100, 130), (220, 300)]);
        assert!(found[0].relative < -0.25 && found[1].relative > 0.15, "{found:?}");
    }

    #[test]
    fn small_changes_and_noise_are_left_alone() {
        let noise = autoregressive(2, 300, 0.5);
        let small: Vec<f64> = (0..300).map(|t| if t < 150 { 100.0 } else { 103.0 } + 0.1 * noise[t]).collect();
        assert!(changes(&small, 5, 0.05).is_empty());
        assert!(!changes(&small, 5, 0.02).is_empty());
        assert!(changes(&[5.0; 100], 5, 0.02).is_empty());
        assert!(changes(&[5.0; 3], 5, 0.02).is_empty());
    }
}
