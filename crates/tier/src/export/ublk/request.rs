//! What a request of the kernel asks of a volume, and how it is answered. It knows nothing of rings and threads.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::abi::{Descriptor, SECTOR};
use crate::export::BlockService;

/// Answer of a request that failed. Source: the kernel's `errno-base.h`, EIO.
pub(super) const FAILED: i32 = -5;
/// Answer of a request of a kind that this device does not have: EOPNOTSUPP.
const UNKNOWN: i32 = -95;

/// Bit of a write that must be durable before its answer.
const FORCE_ACCESS: u32 = 1 << 13;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    Read,
    Write,
    Flush,
    /// Bytes that read as zeros afterwards: discards and writes of zeros.
    Discard,
    Unknown,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockRequest {
    pub(super) kind: RequestKind,
    /// First byte.
    pub(super) at: u64,
    /// Bytes.
    pub(super) length: u64,
    /// Whether it is durable before its answer.
    pub(super) forced: bool,
}

impl BlockRequest {
    /// Reads a descriptor.
    pub(super) fn of(descriptor: Descriptor) -> Self {
        let kind = match descriptor.kind & 0xff {
            0 => RequestKind::Read,
            1 => RequestKind::Write,
            2 => RequestKind::Flush,
            // A discard and a write of zeros.
            3 | 5 => RequestKind::Discard,
            _ => RequestKind::Unknown,
        };
        Self {
            kind,
            at: descriptor.first_sector.saturating_mul(SECTOR),
            length: u64::from(descriptor.sectors) * SECTOR,
            forced: descriptor.kind & FORCE_ACCESS != 0,
        }
    }

    /// Whether it waits for no slow device as things are.
    pub(super) fn is_quick(&self, service: &dyn BlockService) -> bool {
        match self.kind {
            RequestKind::Read => service.reads_quickly(self.at, self.length),
            RequestKind::Write => !self.forced && service.writes_quickly(self.at, self.length),
            RequestKind::Flush | RequestKind::Discard => false,
            RequestKind::Unknown => true,
        }
    }
}

/// Where the data of a request are read and written.
pub(super) struct RequestData<'a> {
    pub(super) file: &'a File,
    pub(super) at: u64,
}

/// Carries a request out; the answer for the driver: bytes of a read or write, 0 of others, or the negative number of an error.
pub(super) fn answer(
    request: BlockRequest,
    service: &dyn BlockService,
    data: &RequestData<'_>,
    buffer: &mut Vec<u8>,
) -> i32 {
    let done = match request.kind {
        RequestKind::Read => read(request, service, data, buffer),
        RequestKind::Write => write(request, service, data, buffer),
        RequestKind::Flush => service.flush().map(|()| 0).ok(),
        RequestKind::Discard => service.discard(request.at, request.length).map(|()| 0).ok(),
        RequestKind::Unknown => return UNKNOWN,
    };
    let durable = match request.forced && request.kind != RequestKind::Read {
        true => done.filter(|_| service.flush().is_ok()),
        false => done,
    };
    durable.unwrap_or(FAILED)
}

/// The part of the buffer for a request, and its length as an answer.
fn part(request: BlockRequest, buffer: &mut Vec<u8>) -> Option<(&mut [u8], i32)> {
    let length = usize::try_from(request.length).ok()?;
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    Some((&mut buffer[..length], i32::try_from(length).ok()?))
}

fn read(
    request: BlockRequest,
    service: &dyn BlockService,
    data: &RequestData<'_>,
    buffer: &mut Vec<u8>,
) -> Option<i32> {
    let (bytes, length) = part(request, buffer)?;
    service.read(request.at, bytes).ok()?;
    data.file.write_all_at(bytes, data.at).ok().map(|()| length)
}

fn write(
    request: BlockRequest,
    service: &dyn BlockService,
    data: &RequestData<'_>,
    buffer: &mut Vec<u8>,
) -> Option<i32> {
    let (bytes, length) = part(request, buffer)?;
    data.file.read_exact_at(bytes, data.at).ok()?;
    service.write(request.at, bytes).ok().map(|()| length)
}

#[cfg(test)]
mod tests {
    use super::super::abi::place_of_data;
    use super::*;
    use crate::Error;
    use std::sync::Mutex;

    /// A disk in memory that notes what is asked of it, and fails from a byte on.
    struct NotedDisk {
        bytes: Mutex<Vec<u8>>,
        fails_from: u64,
        noted: Mutex<Vec<&'static str>>,
    }

    impl NotedDisk {
        fn note(&self, what: &'static str, at: u64) -> Result<usize, Error> {
            self.noted.lock().unwrap().push(what);
            match at < self.fails_from {
                true => Ok(at as usize),
                false => Err(Error::range(0, at, 0, self.fails_from)),
            }
        }

        fn noted(&self) -> Vec<&'static str> {
            std::mem::take(&mut self.noted.lock().unwrap())
        }
    }

    impl BlockService for NotedDisk {
        fn bytes(&self) -> u64 {
            1 << 20
        }

        fn reads_quickly(&self, at: u64, _length: u64) -> bool {
            at == 0
        }

        fn writes_quickly(&self, at: u64, _length: u64) -> bool {
            at == 0
        }

        fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Error> {
            let at = self.note("read", at)?;
            into.copy_from_slice(&self.bytes.lock().unwrap()[at..at + into.len()]);
            Ok(())
        }

        fn write(&self, at: u64, from: &[u8]) -> Result<(), Error> {
            let at = self.note("write", at)?;
            self.bytes.lock().unwrap()[at..at + from.len()].copy_from_slice(from);
            Ok(())
        }

        fn flush(&self) -> Result<(), Error> {
            self.note("flush", 0).map(drop)
        }

        fn discard(&self, at: u64, length: u64) -> Result<(), Error> {
            let at = self.note("discard", at)?;
            self.bytes.lock().unwrap()[at..at + length as usize].fill(0);
            Ok(())
        }
    }

    fn disk(fails_from: u64) -> NotedDisk {
        NotedDisk { bytes: Mutex::new(vec![0; 1 << 20]), fails_from, noted: Mutex::default() }
    }

    fn request(kind: u32, at: u64, length: u32) -> BlockRequest {
        BlockRequest::of(Descriptor { kind, sectors: length / 512, first_sector: at / 512 })
    }

    /// A file in the place of the character device, and the place of a tag's data in it.
    fn characters(tag: u16) -> (File, u64) {
        (tempfile::tempfile().unwrap(), place_of_data(0, tag))
    }

    #[test]
    fn descriptors_become_requests() {
        let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Flush, RequestKind::Discard];
        for (number, kind) in (0..).zip(kinds) {
            let expected = BlockRequest { kind, at: 8192, length: 4096, forced: false };
            assert_eq!(request(number, 8192, 4096), expected);
        }
        assert_eq!(request(5, 0, 4096).kind, RequestKind::Discard);
        // The driver's flags "swap" and "do not unmap" change nothing here.
        let forced = request(1 | FORCE_ACCESS | 1 << 16 | 1 << 15, 0, 4096);
        assert!(forced.forced && forced.kind == RequestKind::Write);
        assert_eq!(request(4, 0, 4096).kind, RequestKind::Unknown);
    }

    #[test]
    fn only_what_waits_for_nothing_is_quick() {
        let disk = disk(1 << 20);
        assert!(request(0, 0, 4096).is_quick(&disk) && request(1, 0, 4096).is_quick(&disk));
        assert!(!request(0, 4096, 4096).is_quick(&disk) && !request(1, 4096, 4096).is_quick(&disk));
        for kind in [1 | FORCE_ACCESS, 2, 3, 5] {
            assert!(!request(kind, 0, 4096).is_quick(&disk), "{kind}");
        }
    }

    #[test]
    fn requests_reach_the_volume_and_data_the_place_of_their_tag() {
        let (disk, mut buffer) = (disk(1 << 20), Vec::new());
        let (file, at) = characters(3);
        let data = RequestData { file: &file, at };
        file.write_all_at(&[7; 8192], at).unwrap();
        assert_eq!(answer(request(1, 4096, 8192), &disk, &data, &mut buffer), 8192);
        assert_eq!(disk.noted(), ["write"]);
        file.write_all_at(&[0; 8192], at).unwrap();
        assert_eq!(answer(request(0, 4096, 4096), &disk, &data, &mut buffer), 4096);
        let mut found = [1; 8192];
        file.read_exact_at(&mut found, at).unwrap();
        assert!(found[..4096] == [7; 4096] && found[4096..] == [0; 4096], "a short read after a long one is short");
        assert_eq!(answer(request(3, 4096, 4096), &disk, &data, &mut buffer), 0);
        assert_eq!(answer(request(5, 8192, 4096), &disk, &data, &mut buffer), 0);
        assert_eq!(answer(request(2, 0, 0), &disk, &data, &mut buffer), 0);
        assert_eq!(disk.noted(), ["read", "discard", "discard", "flush"]);
        assert_eq!(disk.bytes.lock().unwrap()[4096..12288], [0; 8192]);
        assert_eq!(answer(request(7, 0, 4096), &disk, &data, &mut buffer), UNKNOWN);
        assert_eq!(disk.noted(), [""; 0]);
    }

    #[test]
    fn a_forced_write_is_flushed_before_its_answer() {
        let (disk, (file, at)) = (disk(1 << 20), characters(0));
        let data = RequestData { file: &file, at };
        file.write_all_at(&[1; 4096], at).unwrap();
        for kind in [1, 3, 5] {
            answer(request(kind | FORCE_ACCESS, 0, 4096), &disk, &data, &mut Vec::new());
        }
        assert_eq!(disk.noted(), ["write", "flush", "discard", "flush", "discard", "flush"]);
    }

    #[test]
    fn what_fails_is_answered_as_an_error_of_the_device() {
        let (disk, (file, at)) = (disk(0), characters(0));
        let data = RequestData { file: &file, at };
        file.write_all_at(&[1; 4096], at).unwrap();
        for kind in [0, 1, 1 | FORCE_ACCESS, 2, 3, 5] {
            assert_eq!(answer(request(kind, 0, 4096), &disk, &data, &mut Vec::new()), FAILED, "{kind}");
        }
        // Data that cannot be fetched, as those of a device that is gone.
        let (disk, empty) = (self::disk(1 << 20), RequestData { file: &file, at: at + (1 << 20) });
        assert_eq!(answer(request(1, 0, 4096), &disk, &empty, &mut Vec::new()), FAILED);
        assert_eq!(disk.noted(), [""; 0]);
    }
}
