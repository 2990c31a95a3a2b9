//! Python with packages of its own for chores: a virtual environment in the user's cache folder, made where it is missing. Nothing of it is
//! shipped or kept in the repository. A host of packages may not hold anybody up nor fail a test run: what is fetched has a limit in time,
//! and where it does not come, the chore says SKIPPED.

use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Name and text of a script.
pub(crate) type PythonScript = (&'static str, &'static str);

/// Limit of all that is fetched and installed for one chore.
const INSTALLING: Duration = Duration::from_secs(120);
/// Limit of one script. They take seconds; one that takes longer on a busy machine may.
const SCRIPT: Duration = Duration::from_secs(300);
/// Limit of a look whether an environment works.
const PROBE: Duration = Duration::from_secs(60);
/// Pause between two looks at a program that runs.
const PAUSE: Duration = Duration::from_millis(20);
/// Wait for what a program wrote before it ended: a process that it left behind may hold its output open.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Exit code of a script that cannot do its work on this machine. Source: automake manual, "Scripts-based Testsuites".
const CANNOT: i32 = 77;
/// pip without questions, with short waits, and without building anything.
const PIP: &[&str] =
    &["--quiet", "--disable-pip-version-check", "--no-input", "--retries=1", "--timeout=15", "--only-binary=:all:"];

/// Environment that a chore needs.
pub(crate) struct PythonNeeds {
    /// Name of its folder.
    pub(crate) chore: &'static str,
    /// Packages with their versions.
    pub(crate) packages: &'static [&'static str],
    /// Statement that the environment's Python can execute when all is there.
    pub(crate) probe: &'static str,
    /// Folder in the environment that `fetch` makes; empty where nothing else is wanted.
    pub(crate) other: &'static str,
    /// Fetches what is wanted beside packages into the environment, until an instant.
    pub(crate) fetch: fn(&Path, Instant) -> Result<(), String>,
}

/// How a check by scripts ended, with what there is to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ScriptEnd {
    Passed(String),
    Failed(String),
    /// It cannot be done here.
    Skipped(String),
}

impl ScriptEnd {
    /// The end of a check whose environment cannot be had.
    pub(crate) fn without(what: &str, reason: &str) -> Self {
        Self::Skipped(format!("SKIPPED: {what} cannot be installed: {}\n", last_line(reason)))
    }

    /// What a script that ended means.
    fn of(name: &str, code: Option<i32>, said: String) -> Self {
        match code {
            // A script that was read while it was empty says nothing either.
            Some(0) if !said.trim().is_empty() => Self::Passed(said),
            Some(CANNOT) => Self::Skipped(format!("SKIPPED: {name} does not work here: {}\n", last_line(&said))),
            _ => Self::Failed(said),
        }
    }

    /// The end of two checks: the worse of both, with what both have to tell.
    pub(crate) fn and(self, other: Self) -> Self {
        let is_failed = matches!(self, Self::Failed(_)) || matches!(other, Self::Failed(_));
        let is_skipped = matches!(self, Self::Skipped(_)) || matches!(other, Self::Skipped(_));
        let said = format!("{}{}", self.said(), other.said());
        match (is_failed, is_skipped) {
            (true, _) => Self::Failed(said),
            (false, true) => Self::Skipped(said),
            (false, false) => Self::Passed(said),
        }
    }

    /// What there is to tell.
    fn said(&self) -> &str {
        let (Self::Passed(said) | Self::Failed(said) | Self::Skipped(said)) = self;
        said
    }

    /// Prints what there is to tell. Errors: it failed, with `fault`.
    pub(crate) fn print(&self, fault: &str) -> Result<(), String> {
        std::io::stdout().write_all(self.said().as_bytes()).map_err(|error| format!("printing: {error}"))?;
        if matches!(self, Self::Failed(_)) { Err(fault.to_owned()) } else { Ok(()) }
    }
}

/// The environment's folder, made where it is missing or does not work. Errors: it cannot be made within two minutes.
pub(crate) fn environment(needs: &PythonNeeds) -> Result<PathBuf, String> {
    let folder = cache_folder()?.join(named(needs));
    made_in(&folder, needs, INSTALLING)?;
    Ok(folder)
}

/// The name of an environment's folder: clones that want other versions have others.
fn named(needs: &PythonNeeds) -> String {
    format!("{}-{}", needs.chore, needs.packages.join("-").replace("==", "-"))
}

/// Makes the environment beside its place and puts it there when it is whole, so that one that was given up is never taken for a whole one.
fn made_in(folder: &Path, needs: &PythonNeeds, limit: Duration) -> Result<(), String> {
    if works(folder, needs).is_ok() {
        return Ok(());
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.with_file_name(format!("{name}.draft-{}", std::process::id()));
    let made = make(&draft, needs, Instant::now() + limit).and_then(|()| works(&draft, needs)).and_then(|()| {
        // Where another process was faster, its environment is as good, and in use.
        if works(folder, needs).is_ok() {
            return Ok(());
        }
        let _was_none = std::fs::remove_dir_all(folder);
        std::fs::rename(&draft, folder)
            .or_else(|error| works(folder, needs).map_err(|_| format!("making {}: {error}", folder.display())))
    });
    let _was_moved = std::fs::remove_dir_all(&draft);
    made
}

fn make(folder: &Path, needs: &PythonNeeds, until: Instant) -> Result<(), String> {
    let parent = folder.parent().ok_or("an environment lies in a folder")?;
    std::fs::create_dir_all(parent).map_err(|error| format!("making {}: {error}", parent.display()))?;
    command("python3", &["-m", "venv", &folder.display().to_string()], until)?;
    pip(folder, "install", needs.packages, until)?;
    (needs.fetch)(folder, until)
}

/// Whether an environment has its packages in their versions, and executes its probe.
fn works(folder: &Path, needs: &PythonNeeds) -> Result<(), String> {
    let there = packages(folder)?;
    let known = |package: &&&str| there.join(format!("{}.dist-info", package.replace("==", "-"))).is_dir();
    if let Some(missing) = needs.packages.iter().find(|package| !known(package)) {
        return Err(format!("{} has no {missing}", folder.display()));
    }
    if !folder.join(needs.other).is_dir() {
        return Err(format!("{} has no {}", folder.display(), needs.other));
    }
    command(&python(folder), &["-c", needs.probe], Instant::now() + PROBE)
}

/// Has the environment's pip fetch what is wanted, until an instant.
pub(crate) fn pip(folder: &Path, task: &str, wanted: &[&str], until: Instant) -> Result<(), String> {
    command(&python(folder), &[&["-m", "pip", task][..], PIP, wanted].concat(), until)
}

/// The folder of all environments: it outlives a clone, so that a build machine fetches once.
fn cache_folder() -> Result<PathBuf, String> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    let cache = cache.unwrap_or_else(crate::program::target_folder).join("proofload/python");
    std::path::absolute(cache).map_err(|error| format!("finding the cache folder: {error}"))
}

/// The environment's Python.
pub(crate) fn python(folder: &Path) -> String {
    folder.join("bin/python").display().to_string()
}

/// The folder of packages, whose name has Python's version.
pub(crate) fn packages(folder: &Path) -> Result<PathBuf, String> {
    let versions = std::fs::read_dir(folder.join("lib")).map_err(|_| format!("{} is missing", folder.display()))?;
    let found = versions.flatten().map(|entry| entry.path().join("site-packages")).find(|path| path.is_dir());
    found.ok_or_else(|| format!("{} has no packages", folder.display()))
}

/// Runs the last of the scripts, which imports the others, in the root of the repository.
pub(crate) fn script(folder: &Path, scripts: &[PythonScript], arguments: &[&Path]) -> ScriptEnd {
    // Beside those of other processes, which may be of other versions.
    let place = std::env::temp_dir().join(format!("proofload-scripts-{}", std::process::id()));
    let ended = written(&place, scripts).and_then(|name| {
        let mut command = Command::new(python(folder));
        command.arg(place.join(name)).arg(".").args(arguments);
        let (status, said) = limited(&mut command, Instant::now() + SCRIPT)?;
        Ok(ScriptEnd::of(name, status.code(), said))
    });
    let _was_made = std::fs::remove_dir_all(&place);
    ended.unwrap_or_else(|error| ScriptEnd::Failed(format!("{error}\n")))
}

/// Writes scripts; the name of the last.
fn written(folder: &Path, scripts: &[PythonScript]) -> Result<&'static str, String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("making {}: {error}", folder.display()))?;
    for (name, text) in scripts {
        let script = folder.join(name);
        std::fs::write(&script, text).map_err(|error| format!("writing {}: {error}", script.display()))?;
    }
    scripts.last().map(|(name, _)| *name).ok_or_else(|| "there is no script to run".to_owned())
}

/// Runs a program until an instant; the error has the last line that it wrote.
pub(crate) fn command(program: &str, arguments: &[&str], until: Instant) -> Result<(), String> {
    let (status, said) = limited(Command::new(program).args(arguments), until)?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{program} {}: {}", arguments.join(" "), last_line(&said)))
}

/// How a program ended, and what it wrote on both streams. One that has not ended at an instant is killed with all that it began.
fn limited(command: &mut Command, until: Instant) -> Result<(ExitStatus, String), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let (begun, mut child) = (Instant::now(), command.spawn().map_err(|error| format!("starting {name}: {error}"))?);
    let said = [child.stdout.take().map(reader), child.stderr.take().map(reader)];
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| format!("waiting for {name}: {error}"))? {
            break status;
        }
        if Instant::now() >= until {
            end(&mut child);
            return Err(format!("{name} did not end within its {} s and was killed", begun.elapsed().as_secs()));
        }
        std::thread::sleep(PAUSE);
    };
    let said = said.iter().flatten().map(|stream| stream.recv_timeout(LAST_WORDS).unwrap_or_default());
    Ok((status, said.collect()))
}

/// Reads a stream to its end, in a thread: a program that writes much would wait for a reader.
fn reader<R: Read + Send + 'static>(mut stream: R) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _until_it_broke = stream.read_to_end(&mut bytes);
        let _nobody_waits = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// Kills a program and its group.
fn end(child: &mut Child) {
    let group = child.id().to_string();
    // The shell's own, which is there where the program of this name is not.
    let _gone = Command::new("sh").args(["-c", "kill -KILL -- \"-$1\"", "sh", &group]).stderr(Stdio::null()).status();
    let _gone = child.kill();
    let _ended = child.wait();
}

/// The last line of a text that is not empty.
fn last_line(text: &str) -> &str {
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it said nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn what_cannot_be_installed_is_told_with_its_reason() {
        let error = command("python3", &["-c", "import sys; sys.exit('no network')"], soon()).unwrap_err();
        assert!(error.ends_with("no network"), "{error}");
        assert!(command("no-such-program", &[], soon()).unwrap_err().contains("no-such-program"));
        let told = ScriptEnd::without("the parser", "python3 -m pip: one line\nno network\n\n");
        assert_eq!(told, ScriptEnd::Skipped("SKIPPED: the parser cannot be installed: no network\n".to_owned()));
    }

    #[test]
    fn a_program_that_does_not_end_in_time_is_killed() {
        let begun = Instant::now();
        let error = command("sh", &["-c", "sleep 600 & sleep 600"], begun).unwrap_err();
        assert!(error.contains("sh did not end within its ") && error.ends_with(" s and was killed"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(300));
    }

    #[test]
    fn the_exit_code_of_a_script_says_what_its_output_means() {
        let of = |code| ScriptEnd::of("parse.py", code, "two lines\nno runtime\n".to_owned());
        assert_eq!(of(Some(0)), ScriptEnd::Passed("two lines\nno runtime\n".to_owned()));
        assert_eq!(of(Some(77)), ScriptEnd::Skipped("SKIPPED: parse.py does not work here: no runtime\n".to_owned()));
        assert_eq!(ScriptEnd::of("parse.py", Some(0), " \n".to_owned()), ScriptEnd::Failed(" \n".to_owned()));
        for code in [Some(1), None] {
            assert_eq!(of(code).print("faults"), Err("faults".to_owned()));
        }
    }

    #[test]
    fn the_worse_of_two_ends_counts_and_both_are_told() {
        let [passed, failed, skipped] =
            [ScriptEnd::Passed, ScriptEnd::Failed, ScriptEnd::Skipped].map(|end| end("a\n".to_owned()));
        assert_eq!(passed.clone().and(passed.clone()), ScriptEnd::Passed("a\na\n".to_owned()));
        assert_eq!(passed.clone().and(skipped.clone()), ScriptEnd::Skipped("a\na\n".to_owned()));
        assert_eq!(skipped.and(failed.clone()), ScriptEnd::Failed("a\na\n".to_owned()));
        assert_eq!(failed.and(passed), ScriptEnd::Failed("a\na\n".to_owned()));
    }

    #[test]
    fn an_environment_that_cannot_be_made_leaves_nothing_behind() {
        fn unreachable(_: &Path, _: Instant) -> Result<(), String> {
            Err("the host does not answer".to_owned())
        }
        let place = std::env::temp_dir().join(format!("proofload-python-{}", std::process::id()));
        let needs = PythonNeeds { chore: "chore", packages: &[], probe: "", other: "", fetch: unreachable };
        // Nothing can be fetched within no time, with or without a network.
        let error = made_in(&place.join("chore"), &needs, Duration::ZERO).unwrap_err();
        assert!(error.contains("python3"), "{error}");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
        std::fs::remove_dir_all(&place).unwrap();
    }

    #[test]
    fn packages_of_another_version_do_not_do() {
        fn nothing(_: &Path, _: Instant) -> Result<(), String> {
            Ok(())
        }
        let folder = std::env::temp_dir().join(format!("proofload-packages-{}", std::process::id()));
        let there = folder.join("lib/python3/site-packages");
        let needs =
            PythonNeeds { chore: "chore", packages: &["a==1.0", "b==2.1"], probe: "", other: "x", fetch: nothing };
        assert!(works(&folder, &needs).unwrap_err().contains("is missing"));
        for (name, lacking) in [("a-1.0", "b==2.1"), ("b-2.0", "b==2.1"), ("b-2.1", "has no x")] {
            std::fs::create_dir_all(there.join(format!("{name}.dist-info"))).unwrap();
            let error = works(&folder, &needs).unwrap_err();
            assert!(error.contains(lacking), "{name}: {error}");
        }
        std::fs::create_dir(folder.join("x")).unwrap();
        assert!(works(&folder, &needs).unwrap_err().contains("bin/python"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
