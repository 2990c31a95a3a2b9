//! The accounting of the control group and of the device against what is known otherwise, on real processes.

use super::super::device;
use super::*;
use crate::limits::{AppliedLimits, cold_file, enclose};
use crate::storages::{Devices, device_of};
use crate::sys;
use proofload_model::units::BytesPerSecond;
use proofload_model::wire::LimitsAsked;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Two figures of one thing may differ by this share.
const TOLERANCE: f64 = 0.02;

#[track_caller]
fn agree(what: &str, found: f64, expected: f64) {
    let apart = (found - expected).abs() / expected;
    assert!(apart <= TOLERANCE, "{what}: {found} where {expected} is known, {:.2} % apart", 100.0 * apart);
}

fn subject(applied: &AppliedLimits) -> Subject {
    Subject { devices: Devices::under(&std::env::temp_dir()), group: applied.group().clone(), ..Subject::default() }
}

/// The amounts behind the rates of a reading.
fn amount(readings: &[Reading], name: &str, span: Duration) -> f64 {
    let found = readings.iter().find(|reading| reading.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {readings:?}")).value * span.as_secs_f64()
}

/// A shell line that waits for its order to begin.
fn waiting(applied: &mut AppliedLimits, line: &str) -> Child {
    let line = format!("read _; {line}");
    let child = Command::new("sh").args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    applied.join(child.id()).unwrap();
    child
}

/// CPU time of a process that has ended and was not waited for, s. Source: proc(5), fields 14 and 15 of `stat`.
fn cpu_of_ended(process: u32) -> f64 {
    while sys::is_running(process) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

#[test]
fn cpu_time_is_that_of_the_processes_and_of_the_kernels_counter() {
    let Some((_alone, mut applied)) = enclose(LimitsAsked::default()) else { return };
    let Some(mut probe) = open(&mut subject(&applied)).unwrap() else {
        println!("SKIPPED: no control group counts CPU time here");
        return;
    };
    // Each is ended by the kernel after a second of CPU time.
    let mut children: Vec<Child> = (0..2).map(|_| waiting(&mut applied, "ulimit -t 1; while :; do :; done")).collect();
    let counter = || cpu_time(applied.group().dir(Controller::CpuAccounting).unwrap()).unwrap();
    let (begun, before) = (Instant::now(), counter());
    assert!(probe.read(None).unwrap().is_empty(), "the first reading is the base of rates");
    children.iter_mut().for_each(|child| drop(child.stdin.take()));
    let by_processes: f64 = children.iter().map(|child| cpu_of_ended(child.id())).sum();
    let (span, after) = (begun.elapsed(), counter());
    let readings = probe.read(Some(span)).unwrap();
    let found = amount(&readings, "cpu", span);
    agree("the group's counter", found, (after.total - before.total).as_secs_f64());
    agree("the processes", found, by_processes);
    if after.parts.is_some() {
        // Sampled at clock ticks, so not nearer than some per cent; who spins spins outside the kernel.
        assert!(amount(&readings, "cpu_user", span) > 0.5 * found, "{readings:?}");
        assert!(amount(&readings, "cpu_system", span) < 0.5 * found, "{readings:?}");
    }
    children.iter_mut().for_each(|child| assert!(!child.wait().unwrap().success()));
}

/// Bytes of the file that is scanned.
const SCANNED: u64 = 64 << 20;

/// Bytes that the device has read, by the block layer. Source: Documentation/block/stat.rst, field 3, in sectors of 512 bytes.
fn read_by_device() -> f64 {
    let folder = device_of(&std::env::temp_dir()).unwrap().folder;
    let text = std::fs::read_to_string(folder.join("stat")).unwrap();
    text.split_ascii_whitespace().nth(2).unwrap().parse::<f64>().unwrap() * 512.0
}

#[test]
fn a_cold_scan_is_seen_by_device_and_group() {
    // The kernel counts transfers of groups once a limit was set; this one does not bind.
    let rate = Some(BytesPerSecond(64 << 30));
    let Some((_alone, mut applied)) = enclose(LimitsAsked { read_bandwidth: rate, ..LimitsAsked::default() }) else {
        return;
    };
    let (mut of_group, mut of_device) =
        (open(&mut subject(&applied)).unwrap().unwrap(), device::open(&mut subject(&applied)).unwrap().unwrap());
    let file = cold_file(SCANNED);
    let mut child = waiting(&mut applied, &format!("exec cat {}", file.display()));
    of_group.read(None).unwrap();
    let begun = Instant::now();
    let before = read_by_device();
    of_device.read(None).unwrap();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let span = begun.elapsed();
    let device = of_device.read(Some(span)).unwrap();
    let by_device = read_by_device() - before;
    let group = of_group.read(Some(span)).unwrap();
    assert!(by_device >= SCANNED as f64, "the file came from the device: {by_device}");
    agree("the block layer's counter", amount(&device, "read_bytes", span), by_device);
    agree("the file's size", amount(&group, "read_bytes", span), SCANNED as f64);
    assert!(amount(&group, "reads", span) >= 1.0);
}
