//! Steps of a plan: a program to run, a word to write to the kernel, something to wait for. A step says what it does before it is done;
//! steps that are done are undone in reverse when a later one fails.

use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longest time of one program. A step that drains has a bound of its own.
pub(super) const PROGRAM: Duration = Duration::from_secs(60);

/// How long something of the kernel's may take to appear or to go.
const APPEARANCE: Duration = Duration::from_secs(10);

/// Interval of looks.
const LOOK: Duration = Duration::from_millis(20);

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheStep {
    /// Run a program with arguments, and see it succeed.
    Run {
        /// Its name.
        program: &'static str,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// Write a word to a file of the kernel.
    Write {
        /// The file.
        path: PathBuf,
        /// The word.
        text: String,
    },
    /// Wait until a path is there.
    Appear(PathBuf),
    /// Wait until a path is gone.
    Vanish(PathBuf),
}

impl CacheStep {
    /// A program with arguments.
    pub(super) fn run<A: Into<String>>(program: &'static str, arguments: impl IntoIterator<Item = A>) -> Self {
        Self::Run { program, arguments: arguments.into_iter().map(Into::into).collect() }
    }

    /// A word for the kernel.
    pub(super) fn write(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self::Write { path: path.into(), text: text.into() }
    }

    /// Zeros over 4 KiB of a device, from a multiple of 4 KiB on: without its superblock nothing takes it for a cache.
    pub(super) fn clear(device: &Path, at: u32) -> Self {
        let target = format!("of={}", device.display());
        let words =
            ["if=/dev/zero", &target, "bs=4096", "count=1", &format!("seek={at}"), "oflag=direct"].map(str::to_owned);
        Self::run("dd", words.into_iter().chain(["conv=fsync,notrunc", "status=none"].map(str::to_owned)))
    }

    /// Carries it out.
    pub(super) fn carry_out(&self, clock: &dyn Clock) -> Result<(), Error> {
        match self {
            Self::Run { program, arguments } => output_of(program, arguments, PROGRAM, clock).map(drop),
            Self::Write { path, text } => std::fs::write(path, text)
                .map_err(|error| Error::new(format!("failed to write {text} to {}: {error}", path.display()))),
            Self::Appear(path) => expect(&format!("{} did not appear", path.display()), clock, || path.exists()),
            Self::Vanish(path) => expect(&format!("{} still exists", path.display()), clock, || !path.exists()),
        }
    }
}

/// The step as a line for a shell.
impl fmt::Display for CacheStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run { program, arguments } => {
                if *program == DMSETUP && !has_udev() {
                    write!(f, "{NO_UDEV}=1 ")?;
                }
                write!(f, "{program}")?;
                arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
            }
            Self::Write { path, text } => write!(f, "echo {} > {}", quoted(text), path.display()),
            Self::Appear(path) => write!(f, "# wait until {} is there", path.display()),
            Self::Vanish(path) => write!(f, "# wait until {} is gone", path.display()),
        }
    }
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/-_.,=:+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The program of the device mapper.
pub(super) const DMSETUP: &str = "dmsetup";

/// Tells dmsetup to make nodes itself: without udev it would wait for somebody who never comes. Source: dmsetup(8).
const NO_UDEV: &str = "DM_DISABLE_UDEV";

/// Whether udev makes nodes of devices here.
fn has_udev() -> bool {
    Path::new("/run/udev/control").exists()
}

/// Carries out steps, each with the step that undoes it. When one fails, those before it are undone.
pub(super) fn carry_out_or_undo(steps: &[(CacheStep, Option<CacheStep>)], clock: &dyn Clock) -> Result<(), Error> {
    for (number, (step, _)) in steps.iter().enumerate() {
        if let Err(error) = step.carry_out(clock) {
            let left: Vec<String> = steps[..number]
                .iter()
                .rev()
                .filter_map(|(_, undo)| undo.as_ref()?.carry_out(clock).err())
                .map(|error| error.to_string())
                .collect();
            let left = if left.is_empty() { String::new() } else { format!("; not rolled back: {}", left.join("; ")) };
            return Err(error
                .context(format!("step {} of {}", number + 1, steps.len()))
                .context(format!("undone{left}")));
        }
    }
    Ok(())
}

/// Carries out all steps in their order.
pub(super) fn carry_out(steps: &[CacheStep], clock: &dyn Clock) -> Result<(), Error> {
    steps.iter().try_for_each(|step| step.carry_out(clock))
}

/// What a program writes to its standard output, when it succeeds within a time. One that takes longer is killed.
pub(super) fn output_of(
    program: &str,
    arguments: &[String],
    within: Duration,
    clock: &dyn Clock,
) -> Result<String, Error> {
    let line = || format!("{program} {}", arguments.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if program == DMSETUP && !has_udev() {
        command.env(NO_UDEV, "1");
    }
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::new(format!("{}: {program} is not installed; {}", line(), package(program)))
        }
        _ => Error::new(format!("{}: {error}", line())),
    })?;
    // Read while it runs: a full pipe would hold it.
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let status = ended(&mut child, within, clock).map_err(|error| error.context(line()))?;
    let text = |handle: std::thread::JoinHandle<String>| handle.join().unwrap_or_default();
    let (out, err) = (text(out), text(err));
    if status.success() {
        return Ok(out);
    }
    let said = if err.trim().is_empty() { out.trim() } else { err.trim() };
    Err(Error::new(format!("{}: {status}: {said}", line())))
}

fn reader(pipe: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is told.
        let _as_far_as_it_goes = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn ended(child: &mut Child, within: Duration, clock: &dyn Clock) -> Result<std::process::ExitStatus, Error> {
    let end = clock.now() + within;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if clock.now() > end => {
                let _gone_already = child.kill();
                return Err(Error::new(format!("did not finish within {} s and was killed", within.as_secs())));
            }
            Ok(None) => clock.sleep(LOOK),
            Err(error) => return Err(Error::new(error.to_string())),
        }
    }
}

/// How to get a program.
fn package(program: &str) -> String {
    let package = match program {
        "dmsetup" => "dmsetup (lvm2)",
        "make-bcache" => "bcache-tools",
        "casadm" => return "build Open CAS from its sources: https://open-cas.com".to_owned(),
        "modprobe" => "kmod",
        _ => return "install it".to_owned(),
    };
    format!("install the package {package}")
}

fn expect(fault: &str, clock: &dyn Clock, holds: impl FnMut() -> bool) -> Result<(), Error> {
    if within(APPEARANCE, LOOK, clock, holds) {
        Ok(())
    } else {
        Err(Error::new(format!("{fault} within {} s", APPEARANCE.as_secs())))
    }
}

/// Looks at an interval until it holds; false when the time is over.
pub(super) fn within(
    patience: Duration,
    interval: Duration,
    clock: &dyn Clock,
    mut holds: impl FnMut() -> bool,
) -> bool {
    let end = clock.now() + patience;
    while !holds() {
        if clock.now() > end {
            return false;
        }
        clock.sleep(interval);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_clock::TestClock;

    #[test]
    fn a_step_is_told_as_a_line_for_a_shell() {
        let told = |step: CacheStep| step.to_string();
        assert_eq!(
            told(CacheStep::run("make-bcache", ["-B", "/dev/a b", "it's"])),
            r"make-bcache -B '/dev/a b' 'it'\''s'"
        );
        assert_eq!(told(CacheStep::write("/sys/x", "0")), "echo 0 > /sys/x");
        let clear = "dd if=/dev/zero of=/dev/sdb bs=4096 count=1 seek=1 oflag=direct conv=fsync,notrunc status=none";
        assert_eq!(told(CacheStep::clear(Path::new("/dev/sdb"), 1)), clear);
        assert!(told(CacheStep::run(DMSETUP, ["remove", "x"])).ends_with("dmsetup remove x"));
    }

    #[test]
    fn what_was_done_before_a_failure_is_undone_in_reverse() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let make = |name: &str| (CacheStep::run("mkdir", [path(name)]), Some(CacheStep::run("rmdir", [path(name)])));
        let steps = [make("a"), make("a/b"), (CacheStep::write(path("none/x"), "1"), None), make("c")];
        let error = carry_out_or_undo(&steps, &TestClock::new()).unwrap_err().to_string();
        assert!(
            error.contains("step 3 of 4") && error.contains("none/x") && !error.contains("not rolled back"),
            "{error}"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_program_that_fails_hangs_or_is_missing_is_told() {
        let clock = TestClock::new();
        let run = |program, argument: &str, time| {
            output_of(program, &["-c".to_owned(), argument.to_owned()], time, &clock).map_err(|error| error.to_string())
        };
        let long = Duration::from_secs(30);
        assert_eq!(run("sh", "yes | head -c 200000", long).map(|text| text.len()), Ok(200_000));
        let failed = run("sh", "echo no such device >&2; exit 3", long).unwrap_err();
        assert!(failed.contains("exit status: 3: no such device"), "{failed}");
        let hung = run("sh", "exec sleep 60", Duration::from_millis(50)).unwrap_err();
        assert!(hung.contains("was killed"), "{hung}");
        let missing = run("make-bcache-none", "", long).unwrap_err();
        assert!(missing.contains("is not installed"), "{missing}");
    }
}
