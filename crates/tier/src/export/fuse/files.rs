//! What the kernel asks of the file system: one folder with a file for each volume, whose size is fixed.
//!
//! A request that waits for no slow device is served by the thread that read it, any other by a worker. It knows nothing
//! of mounting.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request,
    WriteFlags,
};

use super::server::FuseVolume;
use crate::export::BlockService;
use crate::export::workers::Workers;

/// Bytes of a request, at most.
const MOST_BYTES: u32 = 1 << 20;
/// Requests that the kernel sends at once without a thread of a program that waits, such as those of a loop device.
const MOST_BACKGROUND: u16 = 64;
/// Time for which the kernel may believe names and sizes, which never change.
const BELIEVED: Duration = Duration::from_secs(3600);
/// Number of the first file; the folder has 1.
const FIRST_FILE: u64 = 2;

/// Ways of `fallocate`. Source: the kernel's `falloc.h`.
const KEEP_SIZE: i32 = 1;
const PUNCH_HOLE: i32 = 2;
const ZERO_RANGE: i32 = 16;

/// The file system.
pub(super) struct VolumeFiles {
    volumes: Vec<FuseVolume>,
    workers: Workers,
    /// User and group that own the files.
    owner: (u32, u32),
}

impl VolumeFiles {
    pub(super) fn new(volumes: Vec<FuseVolume>, workers: Workers, owner: (u32, u32)) -> Self {
        Self { volumes, workers, owner }
    }

    fn volume(&self, file: INodeNo) -> Option<&FuseVolume> {
        self.volumes.get(usize::try_from(file.0.checked_sub(FIRST_FILE)?).ok()?)
    }

    fn attributes(&self, file: INodeNo) -> Option<FileAttr> {
        let (size, kind, perm) = match self.volume(file) {
            Some(volume) => (volume.service.bytes(), FileType::RegularFile, 0o600),
            None if file == INodeNo::ROOT => (0, FileType::Directory, 0o755),
            None => return None,
        };
        let never = SystemTime::UNIX_EPOCH;
        Some(FileAttr {
            ino: file,
            size,
            blocks: size / 512,
            atime: never,
            mtime: never,
            ctime: never,
            crtime: never,
            kind,
            perm,
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

/// The part of a request that lies in a volume, bytes.
fn inside(service: &dyn BlockService, at: u64, length: u64) -> u64 {
    service.bytes().saturating_sub(at).min(length)
}

fn read(service: &dyn BlockService, at: u64, length: u64, reply: ReplyData) {
    let mut bytes = vec![0; usize::try_from(length).expect("a mebibyte at most")];
    match service.read(at, &mut bytes) {
        Ok(()) => reply.data(&bytes),
        Err(_) => reply.error(Errno::EIO),
    }
}

fn write(service: &dyn BlockService, at: u64, bytes: &[u8], reply: ReplyWrite) {
    match service.write(at, bytes) {
        Ok(()) => reply.written(u32::try_from(bytes.len()).expect("a mebibyte at most")),
        Err(_) => reply.error(Errno::EIO),
    }
}

fn answer(done: Result<(), crate::Error>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(_) => reply.error(Errno::EIO),
    }
}

impl Filesystem for VolumeFiles {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // A kernel that allows less says how much, and less works too.
        let _less = config.set_max_write(MOST_BYTES);
        let _less = config.set_max_background(MOST_BACKGROUND);
        let _fewer = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let place = self.volumes.iter().position(|volume| OsStr::new(&volume.name) == name);
        let file = place.filter(|_| parent == INodeNo::ROOT).map(|place| INodeNo(place as u64 + FIRST_FILE));
        match file.and_then(|file| self.attributes(file)) {
            Some(attributes) => reply.entry(&BELIEVED, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _request: &Request, file: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(file) {
            Some(attributes) => reply.attr(&BELIEVED, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _request: &Request,
        file: INodeNo,
        mode: Option<u32>,
        user: Option<u32>,
        group: Option<u32>,
        size: Option<u64>,
        _accessed: Option<fuser::TimeOrNow>,
        _modified: Option<fuser::TimeOrNow>,
        _changed: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _created: Option<SystemTime>,
        _noted: Option<SystemTime>,
        _saved: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let Some(attributes) = self.attributes(file) else { return reply.error(Errno::ENOENT) };
        let changes =
            mode.is_some() || user.is_some() || group.is_some() || size.is_some_and(|size| size != attributes.size);
        if changes { reply.error(Errno::EPERM) } else { reply.attr(&BELIEVED, &attributes) }
    }

    fn readdir(&self, _request: &Request, _folder: INodeNo, _handle: FileHandle, from: u64, mut reply: ReplyDirectory) {
        let dots = [".", ".."].map(|name| (INodeNo::ROOT, FileType::Directory, name));
        let files = (FIRST_FILE..).zip(&self.volumes);
        let files = files.map(|(number, volume)| (INodeNo(number), FileType::RegularFile, volume.name.as_str()));
        let entries = dots.into_iter().chain(files).zip(1..);
        for ((file, kind, name), next) in entries.skip(usize::try_from(from).unwrap_or(usize::MAX)) {
            if reply.add(file, next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn open(&self, _request: &Request, _file: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        // Without the page cache hits are counted here; without the second writes wait for each other.
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES | FopenFlags::FOPEN_NOFLUSH;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _request: &Request,
        file: INodeNo,
        _handle: FileHandle,
        at: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(volume) = self.volume(file) else { return reply.error(Errno::ENOENT) };
        let length = inside(&*volume.service, at, u64::from(size));
        if length == 0 || volume.service.reads_quickly(at, length) {
            return read(&*volume.service, at, length, reply);
        }
        let service = Arc::clone(&volume.service);
        self.workers.hand_over(move || read(&*service, at, length, reply));
    }

    fn write(
        &self,
        _request: &Request,
        file: INodeNo,
        _handle: FileHandle,
        at: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let Some(volume) = self.volume(file) else { return reply.error(Errno::ENOENT) };
        let length = inside(&*volume.service, at, data.len() as u64);
        let data = &data[..usize::try_from(length).expect("no more than the data")];
        if data.is_empty() {
            return reply.error(Errno::ENOSPC);
        }
        if volume.service.writes_quickly(at, length) {
            return write(&*volume.service, at, data, reply);
        }
        let (service, data) = (Arc::clone(&volume.service), data.to_vec());
        self.workers.hand_over(move || write(&*service, at, &data, reply));
    }

    fn flush(&self, _request: &Request, _file: INodeNo, _handle: FileHandle, _owner: LockOwner, reply: ReplyEmpty) {
        // The end of a use makes nothing durable; the kernel need not ask again.
        reply.error(Errno::ENOSYS);
    }

    fn fsync(&self, _request: &Request, file: INodeNo, _handle: FileHandle, _data_only: bool, reply: ReplyEmpty) {
        let Some(volume) = self.volume(file) else { return reply.ok() };
        let service = Arc::clone(&volume.service);
        self.workers.hand_over(move || answer(service.flush(), reply));
    }

    fn fallocate(
        &self,
        _request: &Request,
        file: INodeNo,
        _handle: FileHandle,
        at: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let Some(volume) = self.volume(file) else { return reply.error(Errno::ENOENT) };
        if ![PUNCH_HOLE | KEEP_SIZE, ZERO_RANGE | KEEP_SIZE, ZERO_RANGE].contains(&mode) {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let length = inside(&*volume.service, at, length);
        let service = Arc::clone(&volume.service);
        self.workers.hand_over(move || answer(service.discard(at, length), reply));
    }
}
