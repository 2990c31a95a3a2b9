//! A series in one line of blocks.

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last `width` values, scaled to the largest of them; a missing value is a gap.
pub(super) fn sparkline(values: &[f64], width: usize) -> String {
    let tail = &values[values.len().saturating_sub(width)..];
    let largest = tail.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    tail.iter().map(|value| block(*value, largest)).collect()
}

fn block(value: f64, largest: f64) -> char {
    if !value.is_finite() {
        return ' ';
    }
    let level = if largest > 0.0 { (value / largest * 7.0).round() } else { 0.0 };
    BLOCKS[(level as usize).min(7)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_becomes_blocks_with_gaps() {
        assert_eq!(sparkline(&[9.0, 0.0, 7.0, f64::NAN, 14.0], 4), "▁▅ █");
        assert_eq!(sparkline(&[], 4), "");
    }
}
