//! What tests of studies on a cache tier share, in process and served.

use super::{Bench, text};
use proofload_model::series::SeriesName;
use proofload_record::{Attempt, State};
use std::process::Child;
use std::time::{Duration, Instant};

/// Sum of the samples of a series of a volume.
pub(crate) fn sum(attempt: &Attempt, name: &SeriesName, volume: &str) -> f64 {
    let found = attempt.series.iter().filter(|one| name.is_of(&one.probe, &one.name) && one.component == volume);
    found.flat_map(|one| &one.samples).map(|sample| sample.2).sum()
}

/// Starts the study of a folder and waits until its tier has its socket, at this place below the folder of its data.
pub(crate) fn spawn_until_open(bench: &Bench, socket: &str) -> Child {
    let mut child = bench.spawn(&["run", "study.toml", "-o", "x.proof"]);
    let begun = Instant::now();
    let is_open = || {
        let places = std::fs::read_dir(bench.path("data/small")).into_iter().flatten().flatten();
        places.map(|place| place.path().join(socket)).any(|path| path.exists())
    };
    while !is_open() {
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended before it opened a tier");
        assert!(begun.elapsed() < Duration::from_secs(180), "no tier was opened");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// Goes on with a record of two runs that was broken off, to its end.
pub(crate) fn resume(bench: &Bench) {
    let done = bench.run(&["resume", "x.proof"]);
    assert!(matches!(done.status.code(), Some(0 | 6)), "{}{}", text(&done.stdout), text(&done.stderr));
    let record = proofload_record::read(&bench.path("x.proof")).expect("a record");
    let finished = record.attempts.iter().filter(|attempt| attempt.state == State::Finished).count();
    assert_eq!(finished, 2);
    bench.expect_no_process();
}
