//! One boot of the machine: QEMU as a child that ends within a time, read line by line, killed when it says so or when the time is over.
//!
//! It is emulated (TCG) although `/dev/kvm` may be here: on hosts that are guests themselves it may be there and hang, and cases are the
//! same on every host. Throughput in it means nothing.

use super::case::{CaseResult, MachineLine};
use super::image::Image;
use super::inside::{BOOT, GROUP};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Requests per second of the disk of origins: it is slow, so that something is dirty at a kill.
const ORIGIN_REQUESTS: u32 = 400;

/// Lines that may wait to be read.
const LINES: usize = 64;

/// How a boot ended.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) enum BootEnd {
    /// It came to its end.
    PoweredOff,
    /// It asked to be killed, and was.
    Killed,
    /// It ended by itself before it had said so.
    Broken,
    /// The time was over, and it was killed.
    TimedOut,
}

/// One boot.
pub(super) struct Boot<'a> {
    pub(super) image: &'a Image,
    pub(super) disks: &'a [PathBuf],
    pub(super) group: &'a str,
    pub(super) number: u32,
    /// Longest time.
    pub(super) within: Duration,
}

impl Boot<'_> {
    /// Boots, hands each result on, and waits for the end. The kernel's own words are in [`Boot::log`] afterwards.
    pub(super) fn run(&self, mut heard: impl FnMut(CaseResult)) -> Result<BootEnd, String> {
        let mut child = self.command().spawn().map_err(|error| format!("starting QEMU: {error}"))?;
        let lines = lines_of(&mut child)?;
        let end = Instant::now() + self.within;
        let outcome = loop {
            match lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => match MachineLine::read(&line) {
                    Some(MachineLine::Result(result)) => heard(result),
                    Some(MachineLine::Kill) => break BootEnd::Killed,
                    Some(MachineLine::End) => break BootEnd::PoweredOff,
                    None => {}
                },
                Err(RecvTimeoutError::Timeout) => break BootEnd::TimedOut,
                Err(RecvTimeoutError::Disconnected) => break BootEnd::Broken,
            }
        };
        // Whatever it is doing; a machine that powers off has nothing more to lose.
        let _gone_already = child.kill();
        child.wait().map_err(|error| format!("waiting for QEMU: {error}"))?;
        Ok(outcome)
    }

    /// The file with the kernel's words.
    pub(super) fn log(&self) -> PathBuf {
        self.image.folder.join(format!("{}-{}.log", self.group, self.number))
    }

    fn command(&self) -> Command {
        let words = format!("console=ttyS1 quiet panic=-1 {GROUP}{} {BOOT}{}", self.group, self.number);
        // The machine ends with us, whatever ends us.
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "qemu-system-x86_64"])
            .args([
                "-machine",
                "q35",
                "-accel",
                "tcg,thread=multi,tb-size=512",
                "-cpu",
                "max",
                "-smp",
                "2",
                "-m",
                "1200",
            ])
            .args(["-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot", "-serial", "stdio", "-serial"])
            .arg(format!("file:{}", self.log().display()))
            .arg("-kernel")
            .arg(&self.image.kernel)
            .arg("-initrd")
            .arg(&self.image.initrd)
            .args(["-append", &words])
            .arg("-drive")
            .arg(format!("file={},format=raw,if=virtio,readonly=on", self.image.root.display()));
        for disk in self.disks {
            let slow = match disk.file_name() {
                Some(name) if name == "origin" => format!(",throttling.iops-total={ORIGIN_REQUESTS}"),
                _ => String::new(),
            };
            command.arg("-drive").arg(format!("file={},format=raw,if=virtio{slow}", disk.display()));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command
    }
}

/// Lines of the serial line, as they come.
fn lines_of(child: &mut Child) -> Result<Receiver<String>, String> {
    let pipe = child.stdout.take().ok_or("QEMU has no serial line")?;
    let (sender, lines) = sync_channel(LINES);
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    Ok(lines)
}
