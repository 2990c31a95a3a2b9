//! Where a socket of ours is: a file of mode 0600, whose path may be longer than the 107 bytes of a socket's address.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A socket that was made: who made it can tell whether its file is still the same.
pub(crate) struct SocketPlace {
    path: PathBuf,
    file: (u64, u64),
}

impl SocketPlace {
    /// Makes a socket in the place of one on which nobody listens, and refuses any other file.
    pub(crate) fn listen(path: &Path) -> Result<(UnixListener, Self), Error> {
        let failed = |error: io::Error| Error::control("made", path, error, "use a new name in a folder of your own");
        refuse_taken(path)?;
        // The socket gets its mode in a folder that nobody else can enter, and then its name.
        let private = private_folder(path);
        DirBuilder::new().mode(0o700).create(&private).map_err(failed)?;
        let made = by_handle(&private.join("s"), |short| UnixListener::bind(short)).and_then(|socket| {
            let inside = private.join("s");
            fs::set_permissions(&inside, Permissions::from_mode(0o600))?;
            let file = identity(&inside)?;
            fs::rename(&inside, path)?;
            Ok((socket, Self { path: path.to_owned(), file }))
        });
        let removed = fs::remove_dir_all(&private);
        let made = made.map_err(failed)?;
        removed.map_err(failed)?;
        Ok(made)
    }

    /// Removes the file, unless another socket has taken its place.
    pub(crate) fn remove(&self) {
        if identity(&self.path).is_ok_and(|file| file == self.file) {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Connects to a socket.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    by_handle(path, |short| UnixStream::connect(short))
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|data| (data.dev(), data.ino()))
}

fn private_folder(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

/// Refuses a path on which somebody listens, and one that is no socket.
fn refuse_taken(path: &Path) -> Result<(), Error> {
    let refused = |came: &str, advice| Err(Error::control("made", path, came, advice));
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::control("made", path, error, "look at the folder")),
        Ok(data) if !data.file_type().is_socket() => return refused("a file exists there", "use another path"),
        Ok(_) => {}
    }
    match connect(path) {
        Ok(_) => refused("another process listens on it", "stop it, or use another path"),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) => Err(Error::control("tried", path, error, "use another path")),
    }
}

/// Does something with a path that is short however long the folder's is.
fn by_handle<T>(path: &Path, with: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return with(path) };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let handle = File::open(folder)?;
    with(&Path::new(&format!("/proc/self/fd/{}", handle.as_raw_fd())).join(name))
}
