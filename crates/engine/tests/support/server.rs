//! A real server of a test: created, configured, started, and ended with its files, however the test's process ends.

use super::Special;
use proofload_engine::{CommandLine, ServerRecipe};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A running server.
pub(super) struct Server {
    child: Mutex<Child>,
    pub(super) address: String,
    recipe: &'static dyn ServerRecipe,
    folder: PathBuf,
    user: Option<(u32, u32)>,
    /// Ends the server and removes its files where our process does not.
    keeper: Mutex<Option<Child>>,
}

impl Server {
    pub(super) fn start(
        recipe: &'static dyn ServerRecipe,
        parent: &Path,
        settings: &[(String, String)],
        special: &Special<'_>,
    ) -> Self {
        let user = (is_root() && !recipe.unprivileged_users().is_empty()).then(unprivileged);
        let folder = parent.join("instance");
        std::fs::create_dir(&folder).expect("a folder for the instance");
        give(parent, user);
        give(&folder, user);
        for command in recipe.create(&folder).expect("a recipe to create an instance") {
            let output = prepared(&command, user).output().expect("the program starts");
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        for file in recipe.configure(&folder, settings, special.port).expect("a configuration") {
            let more =
                special.added.iter().filter(|(path, _)| file.path == Path::new(path)).map(|(_, line)| line.as_str());
            let content = file.content.clone() + &more.collect::<String>();
            std::fs::write(folder.join(&file.path), content).expect("writes the configuration");
            give(&folder.join(&file.path), user);
        }
        let address = recipe.address(&folder, special.port);
        let child = launched(recipe, &folder, user);
        let keeper = Mutex::new(Some(keeper(recipe, child.id(), parent)));
        let server = Self { child: Mutex::new(child), address, recipe, folder, user, keeper };
        server.wait();
        server
    }

    /// Ends it as a crash does, and starts it again after so long.
    pub(super) fn crash(&self, down: Duration) {
        let (_, firm, _) = self.recipe.stop_signals();
        self.dismiss_keeper();
        {
            let mut child = self.child();
            signal(firm, &child);
            child.wait().expect("it is our child");
        }
        std::thread::sleep(down);
        let child = launched(self.recipe, &self.folder, self.user);
        let parent = self.folder.parent().expect("an instance has a folder above");
        *self.keeper.lock().unwrap_or_else(PoisonError::into_inner) = Some(keeper(self.recipe, child.id(), parent));
        *self.child() = child;
        self.wait();
    }

    /// Ends the keeper before the process that it knows ends, whose number may then be another's.
    fn dismiss_keeper(&self) {
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut keeper) = keeper {
            let _ended_before = keeper.kill();
            let _ = keeper.wait();
        }
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        let folder = &self.folder;
        let log = || std::fs::read_to_string(folder.join(self.recipe.log_file())).unwrap_or_default();
        let started = Instant::now();
        while let Err(error) = self.recipe.probe(&self.address) {
            let ended = self.child().try_wait().expect("the child can be asked");
            let patient = started.elapsed() < Duration::from_secs(180) && ended.is_none();
            assert!(patient, "the server does not answer: {error}; {ended:?}; {}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(self.recipe.running_pid(folder), Some(self.child().id()), "the recipe finds the running server");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let (polite, _, _) = self.recipe.stop_signals();
        self.dismiss_keeper();
        let mut child = self.child();
        signal(polite, &child);
        let _ = child.wait();
    }
}

/// Starts an instance that is there; its log goes on.
fn launched(recipe: &dyn ServerRecipe, folder: &Path, user: Option<(u32, u32)>) -> Child {
    let log = std::fs::File::options().create(true).append(true).open(folder.join(recipe.log_file()));
    let mut command = prepared(&recipe.start(folder).expect("a command"), user);
    command.stdout(Stdio::null()).stderr(log.expect("a log file")).spawn().expect("the server starts")
}

/// A process that ends a server firmly and removes the folder once our process has ended, however it ends.
fn keeper(recipe: &dyn ServerRecipe, server: u32, folder: &Path) -> Child {
    // One that has ended may stay a zombie for ever, where nobody asks for its end.
    const SCRIPT: &str = r#"trap "" INT TERM HUP; read -r _
        kill "-$1" "$2"; n=0; while kill -0 "$2" && [ $n -lt 100 ]; do n=$((n + 1)); sleep 0.05; done; rm -rf "$3""#;
    let (_, firm, _) = recipe.stop_signals();
    let arguments = [firm.to_string(), server.to_string(), folder.display().to_string()];
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, "keeper"]).args(arguments);
    command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a shell starts")
}

fn signal(number: i32, child: &Child) {
    let _ended_before = Command::new("kill").arg(format!("-{number}")).arg(child.id().to_string()).status();
}

/// A command as the instance's user.
fn prepared(line: &CommandLine, user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(&line.program);
    command.args(&line.arguments).envs(line.environment.iter().cloned()).current_dir("/");
    if let Some((user, group)) = user {
        command.uid(user).gid(group);
    }
    command
}

fn give(path: &Path, user: Option<(u32, u32)>) {
    if let Some((user, group)) = user {
        chown(path, Some(user), Some(group)).expect("root may give files away");
    }
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").expect("a process has a folder")) == 0
}

/// User and group of `postgres`, else of `nobody`.
fn unprivileged() -> (u32, u32) {
    let users = std::fs::read_to_string("/etc/passwd").expect("a list of users");
    let find = |name: &str| {
        let line = users.lines().find(|line| line.starts_with(&format!("{name}:")))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    find("postgres").or_else(|| find("nobody")).expect("a user who is not root")
}
