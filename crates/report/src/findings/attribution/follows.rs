//! How far a result follows a resource, in words. May not decide whether it does.

/// Elasticities that count as one for one. Source: ours, as in docs/guides/causes.md.
pub(crate) const ONE_FOR_ONE: (f64, f64) = (0.7, 1.3);

/// Tells whether a result changes by a larger share than the resource, whatever the direction.
pub(crate) fn exceeds_one_for_one(elasticity: f64) -> bool {
    elasticity.abs() > ONE_FOR_ONE.1
}

/// `one for one`, or `more than one for one`, of a result that is known to follow.
pub(crate) fn how_far(elasticity: f64) -> &'static str {
    if exceeds_one_for_one(elasticity) { "more than one for one" } else { "one for one" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_by_more_than_a_third_beyond_is_not_called_one_for_one() {
        for (elasticity, told) in [
            (0.98, "one for one"),
            (1.3, "one for one"),
            (2.17, "more than one for one"),
            (6.72, "more than one for one"),
            (-1.0, "one for one"),
            (-3.31, "more than one for one"),
        ] {
            assert_eq!(how_far(elasticity), told, "{elasticity}");
        }
    }
}
