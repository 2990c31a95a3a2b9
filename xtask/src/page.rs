//! Shows eight hours of a study in one tab of a browser, and tells what the tab takes of memory after each.
//!
//! The work is done by the test `live_page` of the program; this chore only asks for more of it.

use crate::program::{cargo, number_or, succeeds};

/// Seconds between two looks.
const HOUR: u32 = 3_600;

/// Runs the test with as many hours as an argument says, eight without.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let hours: u32 = number_or(arguments.first(), 8, "hours")?;
    succeeds(
        cargo()
            .args(["test", "--workspace", "--features", "mongodb-driver,fixtures,ublk", "--test", "live_page"])
            .args(["hours", "--", "--nocapture"])
            .env("PROOFLOAD_PAGE_EVERY", HOUR.to_string())
            .env("PROOFLOAD_PAGE_LOOKS", hours.to_string()),
        "the page takes ever more; the output above says of what",
    )
}
