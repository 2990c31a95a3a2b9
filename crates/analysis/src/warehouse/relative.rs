//! Throughput relative to a named reference: refused where the two did not do the same work.

use std::fmt;

/// A result with what decides whether another can be set beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparableResult {
    /// `rows`, `columns`, or the engine's kind.
    pub layout: String,
    /// Scale factor, as the study writes it.
    pub scale_factor: String,
    /// Generator of the data with its version.
    pub generator: String,
    /// Which queries ran, and how often each of them in a round.
    pub queries: String,
    /// Queries per hour per TB.
    pub queries_per_hour_per_tb: f64,
}

/// A reference: a result with the name of the record that it stands in.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Name of the record or the publication.
    pub name: String,
    /// Its result.
    pub rated: ComparableResult,
}

/// Two results that no ratio connects, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlike {
    text: String,
}

impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Unlike {}

/// Percentage of the reference's queries per hour per TB. Reconstructed: P5 prints it against the reference's result of
/// the same layout, whose figures it leaves out. Errors: another layout, scale factor, generator or queries, or a
/// reference of nothing.
pub fn relative_percent(own: &ComparableResult, baseline: &Baseline) -> Result<f64, Unlike> {
    let theirs = &baseline.rated;
    let pairs = [
        ("layout", &own.layout, &theirs.layout),
        ("scale factor", &own.scale_factor, &theirs.scale_factor),
        ("generator", &own.generator, &theirs.generator),
        ("queries", &own.queries, &theirs.queries),
    ];
    let differs = |(what, own, theirs): &(&str, &String, &String)| {
        (own != theirs).then(|| format!("{what} {own:?} against {theirs:?}"))
    };
    let mut faults: Vec<String> = pairs.iter().filter_map(differs).collect();
    if theirs.queries_per_hour_per_tb <= 0.0 || theirs.queries_per_hour_per_tb.is_nan() {
        faults.push("it has no queries per hour".to_owned());
    }
    if faults.is_empty() {
        return Ok(100.0 * own.queries_per_hour_per_tb / theirs.queries_per_hour_per_tb);
    }
    let text = format!(
        "no ratio to the reference {}: {}; compare with a record of the same workload",
        baseline.name,
        faults.join(", ")
    );
    Err(Unlike { text })
}
