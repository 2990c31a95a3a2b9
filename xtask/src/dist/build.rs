//! Builds the binary for a target, and parts its symbols from it.

use super::target::DistTarget;
use crate::files::copy;
use crate::program::{cargo, output, succeeds, target_folder, text};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A binary that was built.
#[derive(Debug)]
pub(super) struct Binary {
    /// The program, without symbols and line tables.
    pub(super) program: PathBuf,
    /// Symbols and line tables.
    pub(super) symbols: PathBuf,
}

/// Tells why a target cannot be built here; `None` where it can.
pub(super) fn lacks(target: &DistTarget) -> Option<String> {
    let triple = target.triple;
    let library = sysroot().ok()?.join("lib/rustlib").join(triple);
    if !library.exists() {
        return Some(format!("Rust has no library for it here; rustup target add {triple}"));
    }
    let missing = [Some(target.compiler), target.linker].into_iter().flatten().find(|name| !is_there(name))?;
    Some(match missing {
        "musl-gcc" => "musl-gcc is not installed; it is in Debian's package musl-tools".to_owned(),
        "aarch64-linux-musl-gcc" => {
            "aarch64-linux-musl-gcc is not installed; it is in Debian's package musl-dev:arm64 \
                                     (dpkg --add-architecture arm64) and calls that of gcc-aarch64-linux-gnu"
                .to_owned()
        }
        "aarch64-linux-gnu-gcc" => {
            "aarch64-linux-gnu-gcc is not installed; it is in Debian's package gcc-aarch64-linux-gnu".to_owned()
        }
        name => format!("{name} is not installed; it compiles the C of SQLite"),
    })
}

/// Builds, and leaves the two files in `folder`.
pub(super) fn build(target: &DistTarget, folder: &Path) -> Result<Binary, String> {
    compile(target, &["--profile", "dist", "--package", "proofload"])?;
    let built = target_folder().join(target.triple).join("dist/proofload");
    part(&built, folder)
}

/// Builds the typesetter, and leaves it without symbols in `folder`. Its crates are not ours: nobody looks for a fault in them by symbols.
pub(super) fn build_typesetter(target: &DistTarget, folder: &Path) -> Result<PathBuf, String> {
    compile(target, &["--release", "--package", "proofload-pdf", "--features", "typst"])?;
    let built = target_folder().join(target.triple).join("release/proofload-pdf");
    let program = folder.join("proofload-pdf");
    output(objcopy()?.arg("--strip-all").arg(&built).arg(&program))?;
    Ok(program)
}

fn compile(target: &DistTarget, arguments: &[&str]) -> Result<(), String> {
    let mut command = cargo();
    command.args(["build", "--locked", "--target", target.triple]).args(arguments);
    if let Some(linker) = target.linker {
        let name = target.triple.replace('-', "_");
        // The build would take the compiler of the linker's name, which compiles for another library.
        command.env(format!("CC_{name}"), target.compiler);
        command.env(format!("CARGO_TARGET_{}_LINKER", name.to_uppercase()), linker);
    }
    succeeds(&mut command, &format!("cargo build --target {} failed; its output above says why", target.triple))
}

/// Parts the symbols of a binary; gdb, perf and backtraces find them by the name that the binary holds, when they lie beside it.
fn part(built: &Path, folder: &Path) -> Result<Binary, String> {
    let binary = Binary { program: folder.join("proofload"), symbols: folder.join("proofload.debug") };
    let whole = folder.join("whole/proofload");
    copy(built, &whole)?;
    output(objcopy()?.arg("--only-keep-debug").arg(&whole).arg(&binary.symbols))?;
    output(objcopy()?.arg("--strip-all").arg(&whole).arg(&binary.program))?;
    let link = format!("--add-gnu-debuglink={}", binary.symbols.display());
    output(objcopy()?.arg(link).arg(&binary.program))?;
    std::fs::remove_dir_all(folder.join("whole")).map_err(|error| format!("removed {}: {error}", whole.display()))?;
    Ok(binary)
}

/// The toolchain's own objcopy, which knows all processors; it lies apart from its libraries.
fn objcopy() -> Result<Command, String> {
    let sysroot = sysroot()?;
    let libraries = sysroot.join("lib");
    let mut found = std::fs::read_dir(libraries.join("rustlib"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin/rust-objcopy"));
    let program = found.find(|path| path.exists()).ok_or("the toolchain has no rust-objcopy; update it by rustup")?;
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", libraries);
    Ok(command)
}

fn sysroot() -> Result<PathBuf, String> {
    text(Command::new("rustc").args(["--print", "sysroot"])).map(PathBuf::from)
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
