//! Preconditioning with the real fio, where there is one, on small files and a loop device, and with scripts that behave badly.

use super::*;
use crate::preconditioning::abandon;
use crate::preconditioning::output::{self, Direction};
use proofload_model::samples::Fact;
use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

fn place(folder: &Path) -> DataLocation {
    let folder = folder.display().to_string();
    DataLocation { engine: "null".to_owned(), folder, url: None, settings: Vec::new(), tier: None }
}

fn small() -> Preconditioning {
    Preconditioning {
        device: None,
        device_confirmed: None,
        size: Bytes::mebi(4),
        sequential_fills: 1,
        random_passes: 2,
        round: Duration::from_millis(300),
        rounds_at_most: 2,
    }
}

/// The real fio; without one the test is skipped aloud.
fn real_fio(test: &str) -> Option<Fio> {
    let found = Fio::find(WITHOUT_FIO);
    if let Err(error) = &found {
        println!("SKIPPED: {test}: {error}");
    }
    found.ok()
}

/// A script in fio's place: `body` runs after the question for the version has been answered.
fn script(folder: &Path, body: &str) -> Fio {
    let path = folder.join("fio-script");
    let text = format!("#!/bin/sh\n[ \"$1\" = --version ] && echo fio-3.99 && exit 0\n{body}\n");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Fio::ask(path).unwrap()
}

/// A script that answers every job like fio, with the rates of rounds from a list, the last one again and again.
fn pretending(folder: &Path, rates: &[u32]) -> Fio {
    let rates: Vec<String> = rates.iter().map(u32::to_string).collect();
    std::fs::write(folder.join("rates"), rates.join("\n") + "\n").unwrap();
    let body = format!(
        r#"rates={0}/rates; rate=1
case "$*" in *--runtime=*) rate=$(head -n 1 $rates); [ $(wc -l < $rates) -gt 1 ] && sed -i 1d $rates ;; esac
for word; do case "$word" in --output=*) output=${{word#--output=}} ;; --size=*) size=${{word#--size=}} ;; esac; done
echo '{{"jobs": [{{"error": 0, "write": {{"io_bytes": '$size', "bw_bytes": 1000000, "iops": '$rate'}}}}]}}' > $output"#,
        folder.display()
    );
    script(folder, &body)
}

fn fact<'a>(done: &'a PreconditioningResult, name: &str) -> &'a Fact {
    let name = format!("precondition.{name}");
    done.facts.iter().find(|fact| fact.name == name).unwrap_or_else(|| panic!("no fact {name}: {:#?}", done.facts))
}

#[track_caller]
fn check_fact(done: &PreconditioningResult, name: &str, effective: &str, holds: Option<bool>) {
    let found = fact(done, name);
    assert_eq!((found.effective.as_deref(), found.holds), (Some(effective), holds), "{found:?}");
}

/// Nothing of ours is left in a folder.
#[track_caller]
fn check_clean(folder: &Path) {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let ours: Vec<String> = names.filter(|name| name.starts_with("precondition.")).collect();
    assert!(ours.is_empty(), "{ours:?}");
}

fn ignore(_: &str, _: Option<StepCount>) {}

#[test]
fn a_file_is_filled_passed_over_and_measured_in_rounds() {
    let Some(fio) = real_fio("a_file_is_filled_passed_over_and_measured_in_rounds") else { return };
    let folder = tempfile::tempdir().unwrap();
    // A colon ends a name in fio, unless it is guarded against.
    let study = folder.path().join("a:b c");
    let heard = RefCell::new(Vec::new());
    let progress = |what: &str, count: Option<StepCount>| {
        let (done, total) = count.map_or((0, 0), |count| (count.done, count.total));
        heard.borrow_mut().push((what.to_owned(), done, total));
    };
    let how = Preconditioning { round: Duration::from_secs(1), ..small() };
    let done = precondition_with(&fio, &place(&study), &how, &progress).unwrap();
    let names: Vec<&str> = done.documents.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "fio/00-one-block.json",
        "fio/01-sequential-fill-1.json",
        "fio/02-random-pass-1.json",
        "fio/03-random-pass-2.json",
        "fio/04-round-1.json",
        "fio/05-round-2.json",
    ];
    assert_eq!(names, expected);
    for (name, document) in &done.documents[1..] {
        let written = output::read(document, Direction::Write).unwrap();
        let whole = name.contains("round") || written.bytes == Bytes::mebi(4);
        assert!(whole && written.iops.0 > 0.0 && document.contains("percentile"), "{name}: {written:?}");
    }
    assert_eq!(fact(&done, "fio").effective.as_deref(), Some(fio.version.as_str()));
    check_fact(&done, "sequential_fill.1.bytes", "4MiB", Some(true));
    check_fact(&done, "random_pass.2.bytes", "4MiB", Some(true));
    check_fact(&done, "verdict", "not steady after 2 rounds (at least 5 are needed)", None);
    check_fact(&done, "rounds", "2 of 1s", None);
    let direct = fact(&done, "direct");
    assert_eq!(direct.holds, Some(direct.effective.as_deref() == Some("yes")), "{direct:?}");
    assert!(heard.borrow().contains(&("fio: random pass 2 of 2".to_owned(), 4 << 20, 4 << 20)));
    assert!(heard.borrow().contains(&("fio: round 2 of at most 2".to_owned(), 1, 2)));
    check_clean(&study);
}

#[test]
fn rounds_differ_in_their_offsets_and_the_passes_meet_every_block() {
    let Some(fio) = real_fio("rounds_differ_in_their_offsets_and_the_passes_meet_every_block") else { return };
    let folder = tempfile::tempdir().unwrap();
    // The logs of offsets are fio's own; the script only adds the option that writes them.
    let body = format!(
        "for word; do case $word in --name=*) name=${{word#--name=}} ;; esac; done\n\
         exec {} \"$@\" --write_iolog={}/$name.log",
        fio.path.display(),
        folder.path().display()
    );
    let logging = script(folder.path(), &body);
    let how = Preconditioning { size: Bytes::mebi(1), random_passes: 1, ..small() };
    precondition_with(&logging, &place(folder.path()), &how, &ignore).unwrap();
    let offsets = |name: &str| -> Vec<u64> {
        let log = std::fs::read_to_string(folder.path().join(format!("{name}.log"))).unwrap();
        let writes = log.lines().filter(|line| line.contains(" write "));
        writes.map(|line| line.split(' ').rev().nth(1).unwrap().parse().unwrap()).collect()
    };
    let mut pass = offsets("random-pass-1");
    assert!(!pass.is_sorted());
    pass.sort_unstable();
    assert_eq!(pass, (0..256).map(|block| block * 4096).collect::<Vec<u64>>());
    assert_ne!(offsets("round-1")[..16], offsets("round-2")[..16]);
}

#[test]
fn a_steady_drive_ends_the_rounds_and_an_unsteady_one_uses_them_up() {
    let folder = tempfile::tempdir().unwrap();
    let how = Preconditioning { rounds_at_most: 25, ..small() };
    let fio = pretending(folder.path(), &[900, 600, 300, 101, 99, 100, 102, 98, 100]);
    let done = precondition_with(&fio, &place(folder.path()), &how, &ignore).unwrap();
    check_fact(&done, "verdict", "steady after 8 rounds", None);
    check_fact(&done, "rounds.iops", "900.0, 600.0, 300.0, 101.0, 99.0, 100.0, 102.0, 98.0", None);
    check_fact(&done, "window", "mean 100.0 writes/s, range 4.0 %, rise -1.2 % of the mean", None);
    assert_eq!(done.documents.last().unwrap().0, "fio/11-round-8.json");
    let falling: Vec<u32> = (0..30).map(|round| 10_000 - 300 * round).collect();
    let fio = pretending(folder.path(), &falling);
    let done = precondition_with(&fio, &place(folder.path()), &Preconditioning { rounds_at_most: 7, ..how }, &ignore);
    check_fact(&done.unwrap(), "verdict", "not steady after 7 rounds", None);
    let fio = pretending(folder.path(), &[1]);
    let none = Preconditioning { rounds_at_most: 0, ..small() };
    let done = precondition_with(&fio, &place(folder.path()), &none, &ignore).unwrap();
    check_fact(&done, "verdict", "not tested", None);
    check_clean(folder.path());
}

#[test]
fn a_file_system_without_direct_writes_is_used_and_said_so() {
    let Some(fio) = real_fio("a_file_system_without_direct_writes_is_used_and_said_so") else { return };
    let folder = tempfile::tempdir().unwrap();
    let body = format!(
        "case \"$*\" in *--direct=1*) echo 'fio: destination does not support O_DIRECT' >&2; exit 1 ;; esac\n\
         exec {} \"$@\"",
        fio.path.display()
    );
    let how = Preconditioning { random_passes: 1, rounds_at_most: 0, ..small() };
    let done = precondition_with(&script(folder.path(), &body), &place(folder.path()), &how, &ignore).unwrap();
    check_fact(&done, "direct", "no: through the page cache", Some(false));
    check_fact(&done, "random_pass.1.bytes", "4MiB", Some(true));
    let source = &fact(&done, "direct").source;
    assert!(source.contains("libaio, direct: fio: destination does not support O_DIRECT"), "{source}");
}

#[test]
fn a_missing_engine_is_replaced_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let pretended = pretending(folder.path(), &[1]);
    let inner = folder.path().join("inner");
    std::fs::rename(&pretended.path, &inner).unwrap();
    let body = format!(
        "case \"$*\" in *libaio*|*io_uring*) echo 'engine not loadable'; exit 1 ;; esac\nexec {} \"$@\"",
        inner.display()
    );
    let done = precondition_with(&script(folder.path(), &body), &place(folder.path()), &small(), &ignore).unwrap();
    check_fact(&done, "direct", "yes", Some(true));
    check_fact(&done, "io_engine", "psync", Some(false));
    check_fact(&done, "queue_depth", "1", Some(false));
}

/// Why it failed; nothing may be left behind.
#[track_caller]
fn check_failure(folder: &Path, fio: &Fio, how: &Preconditioning, expected: &[&str]) {
    let error = precondition_with(fio, &place(folder), how, &ignore).unwrap_err().to_string();
    for part in expected {
        assert!(error.contains(part), "{part:?} in {error}");
    }
    check_clean(folder);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let fio = script(folder.path(), "echo ran >> ran");
    let nothing = Preconditioning { size: Bytes(0), round: Duration::ZERO, ..small() };
    check_failure(folder.path(), &fio, &nothing, &["storage.precondition.size is 0B", "storage.precondition.round"]);
    let huge = Preconditioning { size: Bytes(1 << 60), ..small() };
    check_failure(
        folder.path(),
        &fio,
        &huge,
        &["1099511627792MiB needed", "available", "lower storage.precondition.size"],
    );
    let device = Preconditioning { device: Some("/dev/null".to_owned()), ..small() };
    check_failure(
        folder.path(),
        &fio,
        &device,
        &["refuse to precondition /dev/null", "not confirmed", "not a block device"],
    );
    assert!(!folder.path().join("ran").exists());
}

#[test]
fn a_failing_fio_is_told_with_its_words_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let never = script(folder.path(), "echo 'fio: cannot do that' >&2; exit 3");
    let words = ["no I/O engine can write", "libaio, direct: fio: cannot do that", "psync, buffered", "exit status: 3"];
    check_failure(folder.path(), &never, &small(), &words);
    let pretended = pretending(folder.path(), &[1]);
    let inner = folder.path().join("inner");
    std::fs::rename(&pretended.path, &inner).unwrap();
    let later = |what: &str| {
        let body = format!("case \"$*\" in *randwrite*) {what} ;; esac\nexec {} \"$@\"", inner.display());
        script(folder.path(), &body)
    };
    check_failure(folder.path(), &later("kill -9 $$"), &small(), &["random pass 1", "signal: 9", "precondition.fio"]);
    check_failure(folder.path(), &later("exit 0"), &small(), &["random pass 1", "no JSON"]);
    let full = r#"echo '{"jobs": [{"error": 28, "write": {}}]}' > precondition.json; exit 1"#;
    check_failure(
        folder.path(),
        &later(full),
        &small(),
        &["random pass 1", "No space left on device", "exit status: 1"],
    );
}

#[test]
fn a_disk_that_fills_up_on_the_way_is_told() {
    let Some(fio) = real_fio("a_disk_that_fills_up_on_the_way_is_told") else { return };
    let folder = tempfile::tempdir().unwrap();
    // A limit on the size of files stands for the full disk: the file cannot grow to its size.
    let body = format!("trap '' XFSZ; ulimit -f 2048; exec {} \"$@\"", fio.path.display());
    check_failure(folder.path(), &script(folder.path(), &body), &small(), &["File too large"]);
}

#[test]
fn fio_does_not_outlive_the_thread_that_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let fio = script(folder.path(), "echo $$ > draft; mv draft number; exec sleep 600");
    let (study, number) = (place(folder.path()), folder.path().join("number"));
    let begun = number.clone();
    let panicking = std::thread::spawn(move || {
        let scratch = Scratch::open(Path::new(&study.folder)).unwrap();
        let target = Target::file(scratch.folder(), Bytes::mebi(1));
        let access = Access { engine: "psync", direct: false, buffered_all_the_same: false, refused: Vec::new() };
        let pattern = Pattern::OneBlock;
        let job = Job { name: "one-block", number: 0, pattern, access: &access, target: &target };
        let stop = |_: Bytes| assert!(!begun.exists(), "the one who waits ends");
        run(&fio, &job, &stop).map(|_| ())
    });
    assert!(panicking.join().is_err());
    let number: u32 = std::fs::read_to_string(number).unwrap().trim().parse().unwrap();
    assert!(!crate::sys::is_running(number));
    check_clean(folder.path());
}

#[test]
fn an_abandoned_preconditioning_ends_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let pretended = pretending(folder.path(), &[1]);
    let inner = folder.path().join("inner");
    std::fs::rename(&pretended.path, &inner).unwrap();
    let body = format!(
        "case \"$*\" in *sequential-fill*) echo $$ > number; touch precondition.fio; mv number started; exec sleep 600 ;; esac\n\
         exec {} \"$@\"",
        inner.display()
    );
    let fio = script(folder.path(), &body);
    let study = place(folder.path());
    let working = std::thread::spawn(move || precondition_with(&fio, &study, &small(), &ignore));
    while !folder.path().join("started").exists() {
        assert!(!working.is_finished());
        std::thread::yield_now();
    }
    abandon(folder.path());
    let error = working.join().unwrap().unwrap_err().to_string();
    assert!(error.contains("sequential fill 1") && error.contains("signal: 9"), "{error}");
    let number: u32 = std::fs::read_to_string(folder.path().join("started")).unwrap().trim().parse().unwrap();
    assert!(!crate::sys::is_running(number));
    check_clean(folder.path());
}

/// A loop device on an image; given back at the end.
struct Loop {
    path: PathBuf,
}

impl Loop {
    fn over(image: &Path, test: &str) -> Option<Self> {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(image).output();
        match output {
            Ok(output) if output.status.success() => {
                Some(Self { path: String::from_utf8(output.stdout).unwrap().trim().into() })
            }
            other => {
                println!("SKIPPED: {test}: no loop device can be had here: {other:?}");
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _kept = Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}

/// Preconditions a loop device over an image of 8 MiB that begins with `content`.
fn on_loop(fio: &Fio, content: &[u8], test: &str) -> Option<Result<(PreconditioningResult, Vec<u8>), Error>> {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("image");
    let mut bytes = content.to_vec();
    bytes.resize(8 << 20, 0);
    std::fs::write(&image, &bytes).unwrap();
    let device = Loop::over(&image, test)?;
    let name = Some(device.path.display().to_string());
    let how = Preconditioning { device: name.clone(), device_confirmed: name, size: Bytes(0), ..small() };
    let result = precondition_with(fio, &place(folder.path()), &how, &ignore);
    drop(device);
    check_clean(folder.path());
    Some(result.map(|done| (done, std::fs::read(&image).unwrap())))
}

#[test]
fn an_empty_device_is_written_over_whole_and_may_be_again() {
    let test = "an_empty_device_is_written_over_whole_and_may_be_again";
    let Some(fio) = real_fio(test) else { return };
    let Some(first) = on_loop(&fio, &[], test) else { return };
    let (done, content) = first.unwrap();
    check_fact(&done, "sequential_fill.1.bytes", "8MiB", Some(true));
    check_fact(&done, "direct", "yes", Some(true));
    assert!(content.chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
    assert!(fact(&done, "target").effective.as_deref().unwrap().starts_with("device /dev/loop"));
    on_loop(&fio, &content, test).unwrap().unwrap();
}

#[test]
fn a_signed_device_is_refused_and_untouched() {
    let test = "a_signed_device_is_refused_and_untouched";
    let Some(fio) = real_fio(test) else { return };
    let mut signed = vec![0; 4096];
    signed[1080..1082].copy_from_slice(&[0x53, 0xEF]);
    signed[510..512].copy_from_slice(&[0x55, 0xAA]);
    let Some(refused) = on_loop(&fio, &signed, test) else { return };
    let error = refused.unwrap_err().to_string();
    for part in ["it contains an ext2, ext3 or ext4", "it contains a DOS partition table", "wipefs --all"] {
        assert!(error.contains(part), "{part:?} in {error}");
    }
}
