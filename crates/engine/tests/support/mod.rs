//! Places for the conformance suite: a temporary folder for an embedded engine, a real server for the others.
//! Servers listen on nothing but a private socket folder and are stopped when the place is dropped, also by a panic.

use proofload_engine::{AnySession, CommandLine, Engine, ServerRecipe, Target};
use proofload_model::wire::DataLocation;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What only some tests want to be otherwise.
pub(crate) struct Special<'a> {
    /// How the folder's name starts.
    pub(crate) prefix: &'a str,
    /// Files of the server's configuration and what is added to them.
    pub(crate) added: &'a [(&'a str, String)],
    /// Port, or the number in a socket's name.
    pub(crate) port: u16,
}

impl Default for Special<'_> {
    fn default() -> Self {
        Self { prefix: "proofload-conformance-", added: &[], port: 5432 }
    }
}

/// An engine ready to be tested.
pub(crate) struct Place {
    pub(crate) engine: &'static dyn Engine,
    pub(crate) target: Target,
    /// Declared before the folder: stopped before its files go.
    server: Option<Server>,
    _folder: TempDir,
}

impl Place {
    /// A place with these settings; the error says why the engine cannot be had here.
    pub(crate) fn new(
        engine: &'static dyn Engine,
        settings: &[(&str, &str)],
        special: &Special<'_>,
    ) -> Result<Self, String> {
        engine.locate().map_err(|error| error.to_string())?;
        let folder = tempfile::Builder::new().prefix(special.prefix).tempdir().expect("a temporary folder");
        let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let server = engine.server().map(|recipe| Server::start(recipe, folder.path(), &settings, special));
        let place = DataLocation {
            engine: engine.facts().name.to_owned(),
            folder: folder.path().display().to_string(),
            url: None,
            settings,
            tier: None,
        };
        let target = Target::new(place, server.as_ref().map(|server| server.address.clone()));
        Ok(Self { engine, target, server, _folder: folder })
    }

    /// Ends the server as a crash does, and starts it again after so long.
    #[allow(dead_code, reason = "not every test that has places needs it")]
    pub(crate) fn crash(&self, down: Duration) {
        self.server.as_ref().expect("an engine with a server").crash(down);
    }

    /// A new session.
    #[allow(dead_code, reason = "not every test that has places needs it")]
    pub(crate) async fn connect(&self) -> AnySession {
        self.engine.connect(&self.target).await.expect("connects")
    }
}

/// A running server.
struct Server {
    child: Mutex<Child>,
    address: String,
    recipe: &'static dyn ServerRecipe,
    folder: PathBuf,
    user: Option<(u32, u32)>,
}

impl Server {
    fn start(
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
        let server = Self { child: Mutex::new(launched(recipe, &folder, user)), address, recipe, folder, user };
        server.wait();
        server
    }

    fn crash(&self, down: Duration) {
        let (_, firm, _) = self.recipe.stop_signals();
        {
            let mut child = self.child();
            signal(firm, &child);
            child.wait().expect("it is our child");
        }
        std::thread::sleep(down);
        *self.child() = launched(self.recipe, &self.folder, self.user);
        self.wait();
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
            let patient = started.elapsed() < Duration::from_secs(60) && ended.is_none();
            assert!(patient, "the server does not answer: {error}; {ended:?}; {}", log());
            std::thread::yield_now();
        }
        assert_eq!(self.recipe.running_pid(folder), Some(self.child().id()), "the recipe finds the running server");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let (polite, _, _) = self.recipe.stop_signals();
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
