//! Descriptors of the requests of a queue, which the driver writes into memory that it shares.

#![expect(unsafe_code, reason = "the driver's memory is mapped")]

use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::super::abi::{DESCRIPTOR_BYTES, Descriptor, place_of_descriptors};

/// The mapped descriptors of one queue.
pub(in super::super) struct Descriptors {
    first: NonNull<[u8; DESCRIPTOR_BYTES]>,
    count: u16,
    bytes: usize,
}

impl Descriptors {
    /// Maps those of a queue of a device, read-only.
    pub(in super::super) fn map(characters: &File, queue: u16, count: u16) -> io::Result<Self> {
        let bytes = (usize::from(count) * DESCRIPTOR_BYTES).next_multiple_of(4096);
        let (protection, flags) = (ProtFlags::READ, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: the kernel chooses the place, and nothing of ours lies there.
        let place =
            unsafe { mmap(ptr::null_mut(), bytes, protection, flags, characters, place_of_descriptors(queue)) }?;
        let first = NonNull::new(place.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { first, count, bytes })
    }

    /// The descriptor of a tag; `None` beyond the last.
    pub(in super::super) fn of(&self, tag: u16) -> Option<Descriptor> {
        if tag >= self.count {
            return None;
        }
        // SAFETY: it lies in the mapping, which lives as long as `self`, and bytes need no alignment. The driver writes a descriptor only
        // before it completes a command of its tag, so that it does not change now; if it did, bytes of both would be read, as `volatile` allows.
        let bytes = unsafe { self.first.add(usize::from(tag)).read_volatile() };
        Some(Descriptor::read(&bytes))
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing points into it any more.
        let _nobody_to_tell = unsafe { munmap(self.first.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn descriptors_are_those_of_their_queue_and_tag() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(2 * 98_304).unwrap();
        let mut bytes = [0; DESCRIPTOR_BYTES];
        bytes[0] = 3;
        bytes[4] = 8;
        bytes[8] = 16;
        file.write_all_at(&bytes, 98_304 + 2 * 24).unwrap();
        let descriptors = Descriptors::map(&file, 1, 3).unwrap();
        assert_eq!(descriptors.of(2), Some(Descriptor { kind: 3, sectors: 8, first_sector: 16 }));
        assert_eq!(descriptors.of(1), Some(Descriptor { kind: 0, sectors: 0, first_sector: 0 }));
        assert_eq!(descriptors.of(3), None);
    }
}
