//! The kinds of studies, the most special first: the first that applies speaks. One line adds one.

use super::topic::Topic;
use super::{cache_tier, choice, curve, drills, offered, replication, search, single, warehouse};
use crate::findings::Findings;

const TOPICS: &[Topic] = &[
    drills::TOPIC,
    replication::TOPIC,
    search::TOPIC,
    cache_tier::TOPIC,
    warehouse::TOPIC,
    offered::TOPIC,
    curve::TOPIC,
    choice::TOPIC,
    single::TOPIC,
];

/// The kind of a study; `None` without a valid point.
pub(super) fn topic(findings: &Findings<'_>) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| (topic.applies)(findings))
}
