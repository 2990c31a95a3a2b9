//! An archive of a folder, with equal bytes for equal files.

use crate::program::output;
use std::path::Path;
use std::process::Command;

/// Packs the folder `name` in `parent` into `file`.
pub(super) fn pack(parent: &Path, name: &str, file: &Path, seconds: &str) -> Result<(), String> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--use-compress-program=gzip -9n"]);
    tar.arg(format!("--mtime=@{seconds}")).arg("-C").arg(parent).arg("-cf").arg(file).arg(name);
    output(&mut tar).map(|_| ())
}
