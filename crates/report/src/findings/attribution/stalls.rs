//! Response times that show how a resource is taken away, and not how much of it there is.

use crate::numbers::short;
use proofload_model::intervention::CORE_PERIOD;
use proofload_model::settings::setting;

/// Stalls that the 99th percentile must last at least, so that one more or less is at most a tenth of it. Source: ours.
const STALLS: f64 = 10.0;

/// Why the 99th percentile of the untouched point, in ns, shows the stalls of a resource that is lowered by this share rather than the
/// resource; a lower-case fragment, `None` where it does not, or is not known.
pub(super) fn seen_instead(resource: &str, step: f64, response_ns_p99: Option<f64>) -> Option<String> {
    let stall_ns = step * CORE_PERIOD.as_secs_f64() * 1e9;
    let response =
        response_ns_p99.filter(|response| resource == setting::LIMITS_CORES && *response < STALLS * stall_ns)?;
    let ms = |ns: f64| short((ns / 1e4).round() / 100.0);
    Some(format!(
        "says nothing: cores are occupied for {} ms at a stretch, and a 99th percentile of {} ms shows these stalls; it takes {} ms or more",
        ms(stall_ns),
        ms(response),
        ms(STALLS * stall_ns)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_of_few_stalls_is_that_of_the_stalls() {
        let seen = |resource: &str, response| seen_instead(resource, 0.3, response);
        let why = seen("limits.cores", Some(12e6)).unwrap();
        assert!(
            why.contains("for 3 ms at a stretch, and a 99th percentile of 12 ms") && why.ends_with("30 ms or more")
        );
        assert_eq!(seen("limits.cores", Some(31e6)), None);
        assert_eq!(seen("limits.cores", None), None);
        assert_eq!(seen("limits.read_iops", Some(12e6)), None, "requests wait one by one");
    }
}
