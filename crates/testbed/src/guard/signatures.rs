//! Finds what stands in a device's content: partition tables, file systems, members of pools. Reading only.

use super::known::{KNOWN, KnownSignature, Place};
use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes of a ZFS label: two at the beginning, two at the end. Source: ZFS on-disk format, "vdev labels".
const ZFS_LABEL: u64 = 256 << 10;

/// Beginning of the ring of uberblocks inside a label, and of its list of names and values.
const ZFS_RING: u64 = 128 << 10;
const ZFS_NAMES: u64 = 16 << 10;

/// Least distance of two uberblocks.
const ZFS_STEP: usize = 1024;

/// First word of an uberblock, of machines of either byte order.
const ZFS_MAGIC: u64 = 0x00BA_B10C;

/// Head of a ZFS list as it is encoded on disk: XDR, byte order of the writer, reserved, version 0, unique names.
const ZFS_HEADS: [[u8; 12]; 2] = [[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]];

/// Names of all signatures found in `content`, each once. Fails when it cannot be read.
pub(super) fn found(content: &mut (impl Read + Seek)) -> io::Result<Vec<String>> {
    let length = content.seek(SeekFrom::End(0))?;
    let mut names = BTreeSet::new();
    for known in KNOWN {
        for place in known.places {
            if stands_at(content, length, known, *place)? {
                names.insert(known.of.to_owned());
            }
        }
    }
    if has_zfs(content, length)? {
        names.insert("a ZFS pool member".to_owned());
    }
    Ok(names.into_iter().collect())
}

fn stands_at(content: &mut (impl Read + Seek), length: u64, known: &KnownSignature, place: Place) -> io::Result<bool> {
    let count = known.bytes.len();
    match offset_of(place, length) {
        Some(offset) => Ok(read_at(content, length, offset, count)? == known.bytes),
        None => Ok(false),
    }
}

/// The offset of a place on a device of a length; `None` where the device is too short for it.
fn offset_of(place: Place, length: u64) -> Option<u64> {
    match place {
        Place::Start(offset) => Some(offset),
        Place::End(distance) => length.checked_sub(distance),
        Place::LastWhole64KiB(inside) => Some((length & !0xFFFF).checked_sub(0x1_0000)? + inside),
        Place::LastWhole4KiB => (length & !0xFFF).checked_sub(0x2000),
    }
}

/// Reads `count` bytes from an offset on; fewer when the content of `length` ends before. Block devices take no offset
/// behind their end.
fn read_at(content: &mut (impl Read + Seek), length: u64, offset: u64, count: usize) -> io::Result<Vec<u8>> {
    if offset >= length {
        return Ok(Vec::new());
    }
    content.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::with_capacity(count);
    content.by_ref().take(count as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn has_zfs(content: &mut (impl Read + Seek), length: u64) -> io::Result<bool> {
    let aligned = length - length % ZFS_LABEL;
    let ends = [2, 1].into_iter().filter_map(|labels| aligned.checked_sub(labels * ZFS_LABEL));
    for label in [0, ZFS_LABEL].into_iter().chain(ends) {
        let head = read_at(content, length, label + ZFS_NAMES, ZFS_HEADS[0].len())?;
        if ZFS_HEADS.iter().any(|known| known.as_slice() == head) {
            return Ok(true);
        }
        let ring = read_at(content, length, label + ZFS_RING, usize::try_from(ZFS_LABEL - ZFS_RING).unwrap_or(0))?;
        if ring.chunks(ZFS_STEP).any(is_uberblock) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_uberblock(block: &[u8]) -> bool {
    block.starts_with(&ZFS_MAGIC.to_le_bytes()) || block.starts_with(&ZFS_MAGIC.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;
    use std::process::Command;

    /// Length of the images: odd in 4 KiB and 64 KiB, even in sectors.
    const LENGTH: u64 = (8 << 20) + 7 * 512;

    fn image(length: u64) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(length).unwrap();
        file
    }

    fn with(offset: u64, bytes: &[u8], length: u64) -> File {
        let mut file = image(length);
        file.seek(SeekFrom::Start(offset)).unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[track_caller]
    fn check(mut content: impl Read + Seek, expected: &[&str]) {
        assert_eq!(found(&mut content).unwrap(), expected);
    }

    #[test]
    fn every_known_signature_is_found_at_each_of_its_places() {
        for known in KNOWN {
            for place in known.places {
                // Sparse: 256 GiB cost nothing.
                let length =
                    if matches!(place, Place::Start(offset) if *offset >= LENGTH) { 257 << 30 } else { LENGTH };
                let offset = offset_of(*place, length).unwrap();
                let names = found(&mut with(offset, known.bytes, length)).unwrap();
                assert!(names.iter().any(|name| name == known.of), "{known:?} at {offset}: {names:?}");
                let beside = found(&mut with(offset + 1, known.bytes, length)).unwrap();
                assert!(!beside.iter().any(|name| name == known.of), "{known:?} beside {offset}: {beside:?}");
            }
        }
    }

    /// Places worked out by hand, not by the code under test.
    #[test]
    fn signatures_stand_where_their_formats_say() {
        let dos: &[&str] = &["a DOS partition table or boot sector (0x55AA)"];
        check(with(510, &[0x55, 0xAA], LENGTH), dos);
        check(with(512, b"EFI PART", LENGTH), &["a GPT partition table"]);
        check(with(4096, b"EFI PART", LENGTH), &["a GPT partition table"]);
        check(with(8_392_192 - 512, b"EFI PART", 8_392_192), &["a GPT partition table"]);
        check(with(8_392_192 - 4096, b"EFI PART", 8_392_192), &["a GPT partition table"]);
        check(with(1080, &[0x53, 0xEF], LENGTH), &["an ext2, ext3 or ext4 file system"]);
        check(with(65_600, b"_BHRfS_M", LENGTH), &["a btrfs file system"]);
        check(with(4086, b"SWAPSPACE2", LENGTH), &["swap space"]);
        let md = 0xA92B_4EFCu32.to_le_bytes();
        check(with(4096, &md, LENGTH), &["an md array's superblock 1.x"]);
        // 10 MiB + 5 KiB: 1.0 lies at 10 MiB + 4 KiB - 8 KiB, 0.90 at 10 MiB - 64 KiB.
        check(with((10 << 20) - 4096, &md, (10 << 20) + 5120), &["an md array's superblock 1.x"]);
        check(with((10 << 20) - 65_536, &md, (10 << 20) + 5120), &["an md array's superblock 0.90"]);
        check(
            with(4096 + 24, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81", LENGTH),
            &["a bcache device"],
        );
    }

    #[test]
    fn zfs_is_found_in_each_of_its_labels() {
        let zfs: &[&str] = &["a ZFS pool member"];
        let little = 0x00BA_B10C_u64.to_le_bytes();
        let aligned = 8 << 20;
        for label in [0, 262_144, aligned - 524_288, aligned - 262_144] {
            check(with(label + 131_072 + 1024 * 127, &little, LENGTH), zfs);
            check(with(label + 131_072 + 4096, &0x00BA_B10C_u64.to_be_bytes(), LENGTH), zfs);
            check(with(label + 16_384, &[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], LENGTH), zfs);
        }
        check(with(131_072 + 1000, &little, LENGTH), &[]);
    }

    #[test]
    fn empty_random_and_tiny_contents_have_none() {
        check(image(LENGTH), &[]);
        check(image(0), &[]);
        check(image(700), &[]);
        // What fio leaves: pseudo-random bytes.
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()
        };
        let bytes: Vec<u8> = (0..(1 << 17)).flat_map(|_| next()).collect();
        check(io::Cursor::new(bytes), &[]);
    }

    #[test]
    fn several_signatures_are_all_named() {
        let mut file = with(0, b"XFSB", LENGTH);
        file.seek(SeekFrom::Start(510)).unwrap();
        file.write_all(&[0x55, 0xAA]).unwrap();
        check(file, &["a DOS partition table or boot sector (0x55AA)", "an XFS file system"]);
    }

    #[test]
    fn an_unreadable_device_is_an_error() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::from_raw_os_error(5))
            }
        }
        impl Seek for Broken {
            fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
                Ok(LENGTH)
            }
        }
        assert_eq!(found(&mut Broken).unwrap_err().raw_os_error(), Some(5));
    }

    /// What the tools of this machine make is found; one that is not here is skipped aloud.
    #[test]
    fn real_tools_leave_what_is_found() {
        let tools: [(&str, &[&str], &str); 3] = [
            ("/usr/sbin/mkfs.ext4", &["-q", "-F"], "an ext2, ext3 or ext4 file system"),
            ("/usr/sbin/mkswap", &[], "swap space"),
            ("/usr/sbin/mkfs.xfs", &["-f", "-q"], "an XFS file system"),
        ];
        for (tool, arguments, expected) in tools {
            if !std::path::Path::new(tool).exists() {
                println!("SKIPPED: real_tools_leave_what_is_found: {tool} is not here");
                continue;
            }
            let file = tempfile::NamedTempFile::new().unwrap();
            file.as_file().set_len(512 << 20).unwrap();
            let output = Command::new(tool).args(arguments).arg(file.path()).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            check(File::open(file.path()).unwrap(), &[expected]);
        }
    }
}
