//! Drills at length: scripted outages on real sockets, losses planted on real servers, what is wrong planted on scripted ones, histories without a
//! loss, and kills while a drill goes on.
//!
//! The work is done by tests of the crates, which do a sample of it in `make test`; this chore only asks for more. It may not judge.

use crate::program::cargo;

/// One kind of work: its word, how often it is done unless told otherwise, the variable that tells the tests, and their arguments.
struct LongTest {
    word: &'static str,
    times: u32,
    variable: &'static str,
    /// Tests that each do as much as the variable says.
    shared_by: u32,
    /// Arguments by which cargo finds the tests.
    found_by: &'static [&'static str],
    /// Part of the names of the tests; nothing: all.
    named: &'static str,
}

/// Where the tests of the prober are; they want an optimised build.
const OF_LOAD: &[&str] = &["--release", "--package", "proofload-load", "--lib"];

const LONG_TESTS: &[LongTest] = &[
    LongTest {
        word: "outages",
        times: 1000,
        variable: "PROOFLOAD_OUTAGES",
        shared_by: 1,
        found_by: OF_LOAD,
        named: "scripted_outages_on_real_sockets",
    },
    LongTest {
        word: "losses",
        times: 200,
        variable: "PROOFLOAD_PLANTED_LOSSES",
        shared_by: 1,
        found_by: &["--package", "proofload-testbed", "--test", "losses"],
        named: "",
    },
    LongTest {
        word: "planted",
        times: 200,
        variable: "PROOFLOAD_PLANTED",
        shared_by: 1,
        found_by: OF_LOAD,
        named: "planted_losses_holes_phantoms_doubles_and_second_primaries",
    },
    LongTest {
        word: "lossless",
        times: 1000,
        variable: "PROOFLOAD_LOSSLESS",
        shared_by: 1,
        found_by: OF_LOAD,
        named: "lossless_drills_are_never_called_lossy",
    },
    LongTest {
        word: "kills",
        times: 100,
        variable: "PROOFLOAD_KILLS",
        shared_by: 2,
        found_by: &["--package", "proofload", "--test", "kill"],
        named: "in_a_drill",
    },
];

/// Does all kinds of work, or those that are named as `WORD` or `WORD=TIMES`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let asked = asked(arguments)?;
    let failed: Vec<&str> =
        asked.iter().filter(|(work, times)| !does(work, *times)).map(|(work, _)| work.word).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}; the output above says what", failed.join(", "))) }
}

fn asked(arguments: &[String]) -> Result<Vec<(&'static LongTest, u32)>, String> {
    if arguments.is_empty() {
        return Ok(LONG_TESTS.iter().map(|work| (work, work.times)).collect());
    }
    let one = |text: &String| {
        let (word, times) = text.split_once('=').map_or((text.as_str(), None), |(word, times)| (word, Some(times)));
        let words: Vec<&str> = LONG_TESTS.iter().map(|work| work.word).collect();
        let work = LONG_TESTS.iter().find(|work| work.word == word);
        let work = work.ok_or_else(|| format!("there is no work {word:?}; there are: {}", words.join(", ")))?;
        let times = times.map_or(Ok(work.times), str::parse);
        Ok((work, times.map_err(|_| format!("{text:?} has no number of times"))?))
    };
    arguments.iter().map(one).collect()
}

fn does(work: &LongTest, times: u32) -> bool {
    let mut test = cargo();
    test.arg("test").args(work.found_by).args(["--", "--nocapture", work.named]);
    let status = test.env(work.variable, times.div_ceil(work.shared_by).to_string()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_chosen_by_its_word_and_how_often() {
        let told = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            asked(&words).map(|list| list.iter().map(|(work, times)| (work.word, *times)).collect::<Vec<_>>())
        };
        assert_eq!(told(&["losses=3", "kills"]), Ok(vec![("losses", 3), ("kills", 100)]));
        assert_eq!(told(&[]).unwrap().len(), LONG_TESTS.len());
        assert!(told(&["repairs"]).is_err() && told(&["losses=many"]).is_err());
    }
}
