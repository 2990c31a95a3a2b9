//! A VFS of SQLite that reads and writes a database and its log through their tier, and leaves all else to the usual one. The only module of
//! this engine with `unsafe`.
//!
//! A file of the usual VFS lies at the beginning of each of ours, and keeps locks and shared memory; its table of methods is copied, and those
//! that read and write are replaced. Source of the contract: SQLite, "The OS Backend (VFS) To SQLite", and `sqlite3.h`.

#![expect(unsafe_code, reason = "SQLite calls a VFS by C functions")]

use super::guard::{MountGuard, is_behind_a_tier};
use rusqlite::ffi;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::mem::{align_of, size_of};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::OnceLock;

/// The name of the VFS, as connections give it.
const NAME: &CStr = c"proofload-tier";

/// What SQLite is told about how it may write: a write changes no bytes beside those it was given. Source: `sqlite3.h`.
const SAFE_OVERWRITE: c_int = ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE;

/// The part of a database that a file is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FilePart {
    Data,
    Log,
}

/// What comes after the usual file in one of ours.
struct Tail {
    /// Methods of the usual file with some of ours.
    methods: ffi::sqlite3_io_methods,
    /// Methods of the usual file.
    usual: *const ffi::sqlite3_io_methods,
    part: FilePart,
    mount: MountGuard,
}

/// A VFS that SQLite knows, and the usual one, both for as long as the process lives.
struct VfsPair {
    ours: *mut ffi::sqlite3_vfs,
    usual: *mut ffi::sqlite3_vfs,
}

// SAFETY: both are written only by SQLite under its own locks once they are registered.
unsafe impl Send for VfsPair {}
// SAFETY: likewise.
unsafe impl Sync for VfsPair {}

static REGISTERED: OnceLock<Option<VfsPair>> = OnceLock::new();

/// Makes the VFS known to SQLite; its name, or `None` where this build of SQLite has no usual one.
pub(in crate::engines::sqlite) fn register() -> Option<&'static CStr> {
    REGISTERED.get_or_init(registered).as_ref().map(|_| NAME)
}

fn registered() -> Option<VfsPair> {
    // SAFETY: the function takes a null name for the default and returns a table that lives as long as the process.
    let usual = unsafe { ffi::sqlite3_vfs_find(std::ptr::null()) };
    if usual.is_null() {
        return None;
    }
    // SAFETY: it is not null, and nobody changes a registered table but for its list pointer.
    let mut vfs = unsafe { *usual };
    vfs.szOsFile = c_int::try_from(tail_offset(vfs.szOsFile) + size_of::<Tail>()).ok()?;
    vfs.pNext = std::ptr::null_mut();
    vfs.zName = NAME.as_ptr();
    vfs.xOpen = Some(open);
    vfs.xDelete = Some(delete);
    let ours = Box::into_raw(Box::new(vfs));
    // SAFETY: the table is never freed.
    let code = unsafe { ffi::sqlite3_vfs_register(ours, 0) };
    (code == ffi::SQLITE_OK).then_some(VfsPair { ours, usual })
}

fn tail_offset(usual_bytes: c_int) -> usize {
    usize::try_from(usual_bytes).unwrap_or(0).next_multiple_of(align_of::<Tail>())
}

fn usual() -> *mut ffi::sqlite3_vfs {
    match REGISTERED.get() {
        Some(Some(registered)) => {
            debug_assert!(!registered.ours.is_null());
            registered.usual
        }
        _ => std::ptr::null_mut(),
    }
}

/// The tail of a file that [`open`] has made.
///
/// # Safety
/// The file is one of ours and open.
unsafe fn tail<'a>(file: *mut ffi::sqlite3_file) -> &'a Tail {
    // SAFETY: `open` has written a tail at this place, which is aligned since SQLite's allocations are, to 8 bytes.
    unsafe { &*tail_place(file) }
}

/// # Safety
/// The file has the size that our VFS asks for.
unsafe fn tail_place(file: *mut ffi::sqlite3_file) -> *mut Tail {
    // SAFETY: the usual VFS lives as long as the process, and the sum lies within the file.
    unsafe { file.cast::<u8>().add(tail_offset((*usual()).szOsFile)).cast() }
}

/// The path that a name is.
///
/// # Safety
/// The name is null or a C string that lives as long as the result.
unsafe fn path<'a>(name: *const c_char) -> Option<&'a Path> {
    // SAFETY: by the contract of this function.
    (!name.is_null()).then(|| Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes())))
}

/// The database of a log by the log's path.
fn database_of(log: &Path) -> Option<&Path> {
    log.as_os_str().as_bytes().strip_suffix(b"-wal").map(|bytes| Path::new(OsStr::from_bytes(bytes)))
}

/// The part and the tier of a file; `None` for all that lies on no tier.
fn find(path: &Path, flags: c_int) -> Option<(FilePart, MountGuard)> {
    if flags & ffi::SQLITE_OPEN_MAIN_DB != 0 {
        return Some((FilePart::Data, MountGuard::of(path)?));
    }
    if flags & ffi::SQLITE_OPEN_WAL != 0 {
        return Some((FilePart::Log, MountGuard::of(database_of(path)?)?));
    }
    None
}

/// Opens a file: the usual one, and a tail where it lies on a tier.
///
/// # Safety
/// SQLite calls it with a file of the size that our VFS asks for.
unsafe extern "C" fn open(
    _vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let usual = usual();
    // SAFETY: a name is null or a C string that outlives the file.
    let path = unsafe { path(name) };
    let found = path.and_then(|path| find(path, flags));
    // Without its tier, the file alone may be out of date.
    if found.is_none() && flags & ffi::SQLITE_OPEN_MAIN_DB != 0 && path.is_some_and(is_behind_a_tier) {
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: SQLite calls with the arguments that it would give the usual VFS, whose files are no larger.
    let code = match unsafe { (*usual).xOpen } {
        Some(open) => unsafe { open(usual, name, file, flags, out_flags) },
        None => ffi::SQLITE_CANTOPEN,
    };
    let Some((part, mount)) = found.filter(|_| code == ffi::SQLITE_OK) else { return code };
    // SAFETY: the usual VFS has set the methods of a file that it has opened.
    let methods = unsafe { (*file).pMethods };
    // SAFETY: likewise.
    let mut ours = unsafe { *methods };
    // Memory maps, version 3, would pass by the tier.
    ours.iVersion = ours.iVersion.min(2);
    ours.xClose = Some(close);
    ours.xRead = Some(read);
    ours.xWrite = Some(write);
    ours.xTruncate = Some(truncate);
    ours.xSync = Some(sync);
    ours.xFileSize = Some(file_size);
    ours.xFileControl = Some(file_control);
    ours.xDeviceCharacteristics = Some(characteristics);
    // SAFETY: the file has room for a tail behind the usual file; the methods in it live until `close` drops it.
    unsafe {
        let place = tail_place(file);
        place.write(Tail { methods: ours, usual: methods, part, mount });
        (*file).pMethods = &raw const (*place).methods;
    }
    code
}

/// Closes a file and gives up its share of the tier.
///
/// # Safety
/// SQLite calls it with a file that [`open`] has made.
unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: the file is ours; its tail is read out once, and SQLite uses a closed file no more.
    let tail = unsafe { tail_place(file).read() };
    // SAFETY: the methods of the usual file live as long as the process.
    unsafe { (*file).pMethods = tail.usual };
    // SAFETY: the usual file is as it was when it was opened.
    unsafe { (*tail.usual).xClose.map_or(ffi::SQLITE_OK, |close| close(file)) }
}

/// Reads bytes of a file.
///
/// # Safety
/// SQLite calls it with a file that [`open`] has made.
unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, into: *mut c_void, count: c_int, at: i64) -> c_int {
    let (Ok(count), Ok(at)) = (usize::try_from(count), u64::try_from(at)) else { return ffi::SQLITE_IOERR_READ };
    // SAFETY: the file is ours, and the buffer has so many bytes that nobody else uses now.
    let (tail, into) = unsafe { (tail(file), std::slice::from_raw_parts_mut(into.cast::<u8>(), count)) };
    let done = match tail.part {
        FilePart::Data => tail.mount.read_data(at, into),
        FilePart::Log => Ok(tail.mount.log().read(at, into)),
    };
    match done {
        Ok(done) if done == count => ffi::SQLITE_OK,
        Ok(done) => {
            // SQLite counts on zeros after a short read.
            into[done..].fill(0);
            ffi::SQLITE_IOERR_SHORT_READ
        }
        Err(_) => ffi::SQLITE_IOERR_READ,
    }
}

/// Writes bytes of a file.
///
/// # Safety
/// SQLite calls it with a file that [`open`] has made.
unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, from: *const c_void, count: c_int, at: i64) -> c_int {
    let (Ok(count), Ok(at)) = (usize::try_from(count), u64::try_from(at)) else { return ffi::SQLITE_IOERR_WRITE };
    // SAFETY: the file is ours, and the buffer has so many bytes that nobody changes now.
    let (tail, from) = unsafe { (tail(file), std::slice::from_raw_parts(from.cast::<u8>(), count)) };
    let done = match tail.part {
        FilePart::Data => tail.mount.write_data(at, from),
        FilePart::Log => {
            tail.mount.log().write(at, from);
            Ok(())
        }
    };
    done.map_or(ffi::SQLITE_IOERR_WRITE, |()| ffi::SQLITE_OK)
}

/// Cuts a file.
///
/// # Safety
/// SQLite calls it with a file that [`open`] has made.
unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, length: i64) -> c_int {
    // SAFETY: the file is ours.
    let tail = unsafe { tail(file) };
    let length = u64::try_from(length).unwrap_or(0);
    let done = match tail.part {
        FilePart::Data => tail.mount.truncate_data(length),
        FilePart::Log => tail.mount.truncate_log(length),
    };
    done.map_or(ffi::SQLITE_IOERR_TRUNCATE, |()| ffi::SQLITE_OK)
}

/// Makes a file durable.
///
/// # Safety
/// SQLite calls it with a file that [`open`] has made.
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    // SAFETY: the file is ours.
    let tail = unsafe { tail(file) };
    let done = match tail.part {
        FilePart::Data => tail.mount.sync_data(),
        FilePart::Log => tail.mount.sync_log(),
    };
    done.map_or(ffi::SQLITE_IOERR_FSYNC, |()| ffi::SQLITE_OK)
}

/// Tells the length of a file.
///
/// # Safety
/// SQLite calls it with a file that [`open`] has made.
unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    // SAFETY: the file is ours.
    let tail = unsafe { tail(file) };
    let length = match tail.part {
        FilePart::Data => tail.mount.data_length(),
        FilePart::Log => tail.mount.log().len(),
    };
    // SAFETY: SQLite gives a place for the size.
    unsafe { *size = i64::try_from(length).unwrap_or(i64::MAX) };
    ffi::SQLITE_OK
}

/// Answers what the usual file would answer, but for its length.
///
/// # Safety
/// SQLite calls it with a file that [`open`] has made.
unsafe extern "C" fn file_control(file: *mut ffi::sqlite3_file, what: c_int, argument: *mut c_void) -> c_int {
    // The usual file would lengthen itself, and its length is ours.
    if what == ffi::SQLITE_FCNTL_SIZE_HINT || what == ffi::SQLITE_FCNTL_CHUNK_SIZE {
        return ffi::SQLITE_OK;
    }
    // SAFETY: the file is ours; the usual file at its beginning is open.
    unsafe { (*tail(file).usual).xFileControl.map_or(ffi::SQLITE_NOTFOUND, |control| control(file, what, argument)) }
}

/// Tells how a file may be written.
///
/// # Safety
/// SQLite calls it with a file that [`open`] has made.
unsafe extern "C" fn characteristics(_file: *mut ffi::sqlite3_file) -> c_int {
    SAFE_OVERWRITE
}

/// Deletes a file; of a log on a tier, its content.
///
/// # Safety
/// SQLite calls it with a name.
unsafe extern "C" fn delete(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: SQLite gives a name as a C string.
    let log = unsafe { path(name) }.and_then(database_of).and_then(MountGuard::of);
    if let Some(mount) = log {
        // A volume stays where it is; SQLite takes an empty log for none.
        return mount.truncate_log(0).map_or(ffi::SQLITE_IOERR_DELETE, |()| ffi::SQLITE_OK);
    }
    let usual = usual();
    // SAFETY: SQLite calls with the arguments that it would give the usual VFS.
    unsafe { (*usual).xDelete.map_or(ffi::SQLITE_IOERR_DELETE, |delete| delete(usual, name, sync_folder)) }
}
