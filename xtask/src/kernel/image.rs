//! What the machine boots: a small initial file system with the modules of its disks, and a root disk with our programs, those that they call, and
//! modules. Made in a folder of its own from what is installed here and from the unpacked kernel package.

use super::disk::MEBIBYTES;
use crate::files::{copy, make_folder, write};
use crate::program::output;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs of this machine that cases and our program call. All others are those of busybox.
const PROGRAMS: &[&str] = &[
    "bash",
    "blkdiscard",
    "dash",
    "dd",
    "dmsetup",
    "e2fsck",
    "fallocate",
    "fio",
    "head",
    "ip",
    "losetup",
    "make-bcache",
    "mkfs.btrfs",
    "mkfs.ext4",
    "mkfs.xfs",
    "mount",
    "nsenter",
    "ping",
    "sleep",
    "tail",
    "tc",
    "timeout",
    "umount",
    "wipefs",
    "xfs_repair",
];

/// Modules of the disks of the machine, in the initial file system.
const FIRST_MODULES: &[&str] = &["virtio_pci", "virtio_blk", "crc32c_generic", "ext4"];

/// Modules that are loaded when they are asked for.
const MODULES: &[&str] = &[
    "bcache",
    "btrfs",
    "dm-cache",
    "dm-cache-smq",
    "dm-log-writes",
    "dm-writecache",
    "fuse",
    "loop",
    "sch_netem",
    "veth",
    "xfs",
];

/// The kernels that machines boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MachineKernel {
    /// Kernel of this Debian.
    Own,
    /// Kernel of a newer Debian, for what the own one lacks.
    Newer,
}

impl MachineKernel {
    /// Where `scripts/install-kernel-needs.sh` unpacks it, below the target folder.
    pub(super) const fn package(self) -> &'static str {
        match self {
            Self::Own => "kernel-package",
            Self::Newer => "kernel-package-newer",
        }
    }

    /// Modules besides those of every machine.
    const fn modules(self) -> &'static [&'static str] {
        match self {
            Self::Own => &[],
            Self::Newer => &["ublk_drv"],
        }
    }
}

/// The first process: loads what the root disk needs, and goes there.
const FIRST: &str = "#!/bin/busybox sh
export PATH=/bin
busybox mount -t devtmpfs none /dev
for module in $(busybox cat /modules); do busybox insmod /$module; done
busybox mkdir -p /new
busybox mount -t ext4 -o ro /dev/vda /new || exec busybox poweroff -f
busybox mount --move /dev /new/dev
exec busybox switch_root /new /start
";

/// The first process on the root disk: what it mounts lies in memory, and the machine ends with the cases.
const START: &str = "#!/bin/busybox sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run
mount -t proc none /proc
mount -t sysfs none /sys
mount -t tmpfs none /run
mount -t tmpfs none /tmp
mount -t tmpfs none /mnt
mount -t cgroup2 none /sys/fs/cgroup
ip link set lo up
/xtask kernel --inside $(cat /proc/cmdline) </dev/null >/dev/ttyS0 2>/dev/ttyS1
poweroff -f
";

/// A machine that can boot.
pub(super) struct Image {
    /// Its kernel.
    pub(super) kernel: PathBuf,
    /// Its initial file system.
    pub(super) initrd: PathBuf,
    /// Its root disk.
    pub(super) root: PathBuf,
    /// Folder of all of it, and of the other disks.
    pub(super) folder: PathBuf,
}

/// Programs of ours by their path inside the machine.
pub(super) struct OwnProgram<'a> {
    pub(super) inside: &'a str,
    pub(super) here: PathBuf,
}

impl Image {
    /// Makes it in a folder, from the unpacked package of a kernel below the target folder.
    pub(super) fn make(
        folder: &Path,
        target: &Path,
        which: MachineKernel,
        own: &[OwnProgram<'_>],
    ) -> Result<Self, String> {
        make_folder(folder)?;
        let package = &target.join(which.package());
        let kernel = kernel(package)?;
        let version =
            kernel.file_name().and_then(|name| name.to_str()?.strip_prefix("vmlinuz-")).unwrap_or_default().to_owned();
        output(Command::new("depmod").arg("-b").arg(package).arg(&version))?;
        let modules = Modules::read(package, &version)?;
        let image =
            Self { kernel, initrd: folder.join("initrd"), root: folder.join("root"), folder: folder.to_owned() };
        image.first(&modules)?;
        image.second(&modules, which, own)?;
        Ok(image)
    }

    /// The initial file system.
    fn first(&self, modules: &Modules) -> Result<(), String> {
        let tree = self.folder.join("first");
        for folder in ["bin", "dev"] {
            make_folder(&tree.join(folder))?;
        }
        copy(&program("busybox")?, &tree.join("bin/busybox"))?;
        let mut names = String::new();
        for module in modules.closure(FIRST_MODULES)? {
            let name = plain(&module.file_name().map(|name| name.to_string_lossy()).unwrap_or_default()).to_owned();
            unpack(&modules.folder.join(&module), &tree.join(&name))?;
            names.push_str(&name);
            names.push('\n');
        }
        write(&tree.join("modules"), names)?;
        write_program(&tree.join("init"), FIRST)?;
        let line = format!("find . | cpio --quiet -o -H newc | gzip -1 > '{}'", self.initrd.display());
        output(Command::new("sh").args(["-c", &line]).current_dir(&tree))?;
        fs::remove_dir_all(&tree).map_err(|error| format!("removing {}: {error}", tree.display()))
    }

    /// The root disk.
    fn second(&self, modules: &Modules, which: MachineKernel, own: &[OwnProgram<'_>]) -> Result<(), String> {
        let tree = self.folder.join("second");
        for folder in ["bin", "dev", "etc", "mnt", "proc", "run", "sys", "tmp", "usr/bin", "usr/sbin"] {
            make_folder(&tree.join(folder))?;
        }
        // Where the kernel looks for modprobe.
        std::os::unix::fs::symlink("bin", tree.join("sbin")).map_err(|error| format!("linking: {error}"))?;
        write(&tree.join("etc/passwd"), "root:x:0:0:root:/run:/bin/sh\n")?;
        write(&tree.join("etc/group"), "root:x:0:\n")?;
        std::os::unix::fs::symlink("/proc/self/mounts", tree.join("etc/mtab"))
            .map_err(|error| format!("linking: {error}"))?;
        let busybox = tree.join("bin/busybox");
        copy(&program("busybox")?, &busybox)?;
        let listed = Command::new(&busybox).arg("--list").output().map_err(|error| format!("busybox: {error}"))?;
        for applet in String::from_utf8_lossy(&listed.stdout).lines() {
            let _there_already = std::os::unix::fs::symlink("/bin/busybox", tree.join("bin").join(applet));
        }
        for name in PROGRAMS {
            // Before the folder of busybox in the search path.
            install(&tree, &program(name)?, &tree.join("usr/bin").join(name))?;
        }
        for OwnProgram { inside, here } in own {
            install(&tree, here, &tree.join(inside.trim_start_matches('/')))?;
        }
        let inside = tree.join("lib/modules").join(&modules.version);
        for module in modules.closure(&[MODULES, which.modules()].concat())? {
            unpack(&modules.folder.join(&module), &inside.join(plain(&module.to_string_lossy())))?;
        }
        output(Command::new("depmod").arg("-b").arg(&tree).arg(&modules.version))?;
        write_program(&tree.join("start"), START)?;
        let size = size_of(&tree)?;
        sparse(&self.root, (size + size / 8) / 1024 / 1024 + 64)?;
        output(
            Command::new("mkfs.ext4")
                .args(["-q", "-F", "-m", "0", "-O", "^has_journal", "-d"])
                .arg(&tree)
                .arg(&self.root),
        )?;
        fs::remove_dir_all(&tree).map_err(|error| format!("removing {}: {error}", tree.display()))
    }

    /// New, empty disks beside the root disk, in the order of the machine.
    pub(super) fn disks(&self) -> Result<Vec<PathBuf>, String> {
        let made = MEBIBYTES.iter().map(|(name, mebibytes)| {
            let path = self.folder.join(name);
            let _from_before = fs::remove_file(&path);
            sparse(&path, *mebibytes).map(|()| path)
        });
        made.collect()
    }
}

/// The modules of an unpacked kernel.
struct Modules {
    version: String,
    /// Folder to which paths in `modules.dep` are relative.
    folder: PathBuf,
    /// `modules.dep`: each module with those that it needs.
    dependencies: String,
    /// `modules.builtin`: what the kernel has without a module.
    builtin: String,
}

impl Modules {
    fn read(package: &Path, version: &str) -> Result<Self, String> {
        let folder = package.join("lib/modules").join(version);
        let read = |name: &str| {
            let file = folder.join(name);
            fs::read_to_string(&file).map_err(|error| format!("reading {}: {error}", file.display()))
        };
        let (dependencies, builtin) = (read("modules.dep")?, read("modules.builtin")?);
        Ok(Self { version: version.to_owned(), folder, dependencies, builtin })
    }

    /// The files of modules and of all that they need, in an order in which they can be loaded.
    fn closure(&self, names: &[&str]) -> Result<Vec<PathBuf>, String> {
        let mut files: Vec<&str> = Vec::new();
        for name in names.iter().filter(|name| !self.builtin.lines().any(|file| is_module(file, name))) {
            let (file, needed) = self.entry(name).ok_or_else(|| format!("the kernel has no module {name}"))?;
            for module in needed.into_iter().rev().chain([file]) {
                if !files.contains(&module) {
                    files.push(module);
                }
            }
        }
        Ok(files.into_iter().map(PathBuf::from).collect())
    }

    /// A module's file, and those that it needs, the last of which is loaded first.
    fn entry(&self, name: &str) -> Option<(&str, Vec<&str>)> {
        self.dependencies.lines().find_map(|line| {
            let (file, needed) = line.split_once(':')?;
            is_module(file, name).then(|| (file, needed.split_ascii_whitespace().collect()))
        })
    }
}

/// Whether a file is that of a module, in whose names the two strokes are alike.
fn is_module(file: &str, name: &str) -> bool {
    let alike = |text: &str| text.replace('-', "_");
    let stem = file.rsplit('/').next().and_then(|name| name.split(".ko").next());
    stem.is_some_and(|stem| alike(stem) == alike(name))
}

/// The kernel of an unpacked package.
fn kernel(package: &Path) -> Result<PathBuf, String> {
    let boot = package.join("boot");
    let entries =
        fs::read_dir(&boot).map_err(|error| format!("reading {}: {error}; run `make test-kernel`", boot.display()))?;
    let mut files = entries.flatten().map(|entry| entry.path());
    let found = files.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz-")));
    found.ok_or_else(|| format!("{} has no vmlinuz", boot.display()))
}

/// Where a program of this machine is.
fn program(name: &str) -> Result<PathBuf, String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = path.split(':').chain(["/usr/sbin", "/sbin"]);
    let mut candidates = folders.map(|folder| Path::new(folder).join(name));
    candidates
        .find(|candidate| candidate.exists())
        .ok_or_else(|| format!("{name} is not here; run `make test-kernel`, which installs it"))
}

/// Copies a program with the libraries that it needs, each to its own path.
fn install(tree: &Path, program: &Path, to: &Path) -> Result<(), String> {
    copy(program, to)?;
    let listed = Command::new("ldd").arg(program).output().map_err(|error| format!("ldd: {error}"))?;
    for library in libraries(&String::from_utf8_lossy(&listed.stdout)) {
        let inside = tree.join(library.trim_start_matches('/'));
        if !inside.exists() {
            copy(Path::new(library), &inside)?;
        }
    }
    Ok(())
}

/// Paths of libraries in what ldd says.
fn libraries(text: &str) -> BTreeSet<&str> {
    text.split_ascii_whitespace().filter(|word| word.starts_with('/') && word.contains(".so")).collect()
}

/// The name of a module without its compression, which busybox does not know.
fn plain(name: &str) -> &str {
    name.strip_suffix(".xz").unwrap_or(name)
}

/// Copies a module, uncompressed.
fn unpack(from: &Path, to: &Path) -> Result<(), String> {
    if from.extension().is_none_or(|kind| kind != "xz") {
        return copy(from, to);
    }
    to.parent().map_or(Ok(()), make_folder)?;
    let file = fs::File::create(to).map_err(|error| format!("making {}: {error}", to.display()))?;
    let done = Command::new("xz").args(["--decompress", "--stdout"]).arg(from).stdout(file).status();
    match done {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("unpacking {}: xz: {status}", from.display())),
        Err(error) => Err(format!("unpacking {}: xz: {error}; run `make test-kernel`", from.display())),
    }
}

fn write_program(path: &Path, text: &str) -> Result<(), String> {
    write(path, text)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(path, mode).map_err(|error| format!("{}: {error}", path.display()))
}

/// A file of a size that takes room only where it is written.
fn sparse(path: &Path, mebibytes: u64) -> Result<(), String> {
    let made = fs::File::create(path).and_then(|file| file.set_len(mebibytes << 20));
    made.map_err(|error| format!("making {}: {error}", path.display()))
}

fn size_of(folder: &Path) -> Result<u64, String> {
    let failed = |error: std::io::Error| format!("reading {}: {error}", folder.display());
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(failed)?.flatten() {
        let found = entry.metadata().map_err(failed)?;
        bytes += if found.is_dir() { size_of(&entry.path())? } else { found.len().next_multiple_of(4096) };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_come_after_what_they_need() {
        let dependencies = "kernel/md/dm-mod.ko:\nkernel/md/dm-cache.ko: kernel/md/bio.ko kernel/md/dm-mod.ko\n\
                            kernel/md/dm-cache-smq.ko: kernel/md/dm-cache.ko kernel/md/bio.ko kernel/md/dm-mod.ko\nkernel/md/bio.ko:\n";
        let modules = Modules {
            version: String::new(),
            folder: PathBuf::new(),
            dependencies: dependencies.to_owned(),
            builtin: "kernel/drivers/virtio/virtio_pci.ko\n".to_owned(),
        };
        let files = modules.closure(&["virtio-pci", "dm_cache", "dm-cache-smq"]).unwrap();
        let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["dm-mod.ko", "bio.ko", "dm-cache.ko", "dm-cache-smq.ko"]);
        assert!(modules.closure(&["cas_cache"]).is_err());
    }

    #[test]
    fn a_compressed_module_is_unpacked_under_its_plain_name() {
        let found = ["kernel/ublk_drv.ko.xz", "kernel/loop.ko"].map(plain);
        assert_eq!(found, ["kernel/ublk_drv.ko", "kernel/loop.ko"]);
    }

    #[test]
    fn libraries_are_taken_from_what_ldd_says() {
        let text = "\tlinux-vdso.so.1 (0x00007ffc)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f3)\n\t/lib64/ld-linux-x86-64.so.2 (0x0)\n";
        let found: Vec<_> = libraries(text).into_iter().collect();
        assert_eq!(found, ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"]);
    }
}
