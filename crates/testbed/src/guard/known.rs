//! Signatures of partition tables, file systems, volume managers, arrays, encryption and caches: data only.
//! Places and bytes as libblkid of util-linux and the formats' own headers give them.

/// Where a signature stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Bytes after the beginning.
    Start(u64),
    /// Bytes before the end.
    End(u64),
    /// Bytes after the 64 KiB that end at the last multiple of 64 KiB. Source: md(4), superblock 0.90.
    LastWhole64KiB(u64),
    /// A multiple of 4 KiB in the last 8 to 12 KiB. Source: md(4), superblock 1.0.
    LastWhole4KiB,
}

use Place::{End, LastWhole4KiB, LastWhole64KiB, Start};

/// A sign that a device is in use for something.
#[derive(Debug)]
pub(super) struct KnownSignature {
    /// Owner of the signature.
    pub(super) of: &'static str,
    /// Where it may stand.
    pub(super) places: &'static [Place],
    /// What stands there.
    pub(super) bytes: &'static [u8],
}

const fn known(of: &'static str, places: &'static [Place], bytes: &'static [u8]) -> KnownSignature {
    KnownSignature { of, places, bytes }
}

/// Secondary headers of LUKS 2. Source: LUKS2 on-disk format, table of secondary header offsets.
const LUKS_SECOND: &[Place] = &[
    Start(0x4000),
    Start(0x8000),
    Start(0x1_0000),
    Start(0x2_0000),
    Start(0x4_0000),
    Start(0x8_0000),
    Start(0x10_0000),
    Start(0x20_0000),
    Start(0x40_0000),
];

/// Ten bytes before the end of the first page, for pages of 4 to 64 KiB.
const SWAP: &[Place] = &[Start(4086), Start(8182), Start(16374), Start(32758), Start(65526)];

/// The four sectors in which LVM looks for its label.
const LVM: &[Place] = &[Start(0), Start(512), Start(1024), Start(1536)];

/// Superblocks 1.0, 1.1 and 1.2.
const MD_1: &[Place] = &[LastWhole4KiB, Start(0), Start(4096)];

/// Primary and backup, with sectors of 512 and of 4096 bytes.
const GPT: &[Place] = &[Start(512), Start(4096), End(512), End(4096)];

/// Descriptors of a disc's volume: every 2 KiB from 32 KiB on.
const DISC: &[Place] = &[Start(32769), Start(34817), Start(36865)];

/// Place of a block of its own at the end.
const DRBD: &[Place] = &[End(4096 - 60)];

/// Every signature but ZFS's, whose place is one of many.
pub(super) const KNOWN: &[KnownSignature] = &[
    known("a DOS partition table or boot sector (0x55AA)", &[Start(510)], &[0x55, 0xAA]),
    known("a GPT partition table", GPT, b"EFI PART"),
    known("an ext2, ext3 or ext4 file system", &[Start(1080)], &[0x53, 0xEF]),
    known("an XFS file system", &[Start(0)], b"XFSB"),
    known("a btrfs file system", &[Start(0x1_0040), Start((64 << 20) + 0x40), Start((256 << 30) + 0x40)], b"_BHRfS_M"),
    known("an LVM2 physical volume", LVM, b"LABELONE"),
    known("an md array's superblock 1.x", MD_1, &[0xFC, 0x4E, 0x2B, 0xA9]),
    known("an md array's superblock 0.90", &[LastWhole64KiB(0)], &[0xFC, 0x4E, 0x2B, 0xA9]),
    known("an md array's superblock 0.90", &[LastWhole64KiB(0)], &[0xA9, 0x2B, 0x4E, 0xFC]),
    known("a LUKS volume", &[Start(0)], b"LUKS\xba\xbe"),
    known("a LUKS volume's second header", LUKS_SECOND, b"SKUL\xba\xbe"),
    known("swap space", SWAP, b"SWAPSPACE2"),
    known("swap space", SWAP, b"SWAP-SPACE"),
    known("a suspended system in swap space", SWAP, b"S1SUSPEND"),
    known("a suspended system in swap space", SWAP, b"S2SUSPEND"),
    known("a suspended system in swap space", SWAP, b"ULSUSPEND"),
    known("a suspended system in swap space", SWAP, b"LINHIB0001"),
    known("an NTFS file system", &[Start(3)], b"NTFS    "),
    known("an exFAT file system", &[Start(3)], b"EXFAT   "),
    known("a FAT file system", &[Start(54)], b"FAT12   "),
    known("a FAT file system", &[Start(54)], b"FAT16   "),
    known("a FAT file system", &[Start(54)], b"FAT     "),
    known("a FAT file system", &[Start(54), Start(82)], b"MSDOS"),
    known("a FAT file system", &[Start(82)], b"FAT32   "),
    known(
        "a bcache device",
        &[Start(4096 + 24)],
        &[0xC6, 0x85, 0x73, 0xF6, 0x4E, 0x1A, 0x45, 0xCA, 0x82, 0x65, 0xF5, 0x7F, 0x48, 0xBA, 0x6D, 0x81],
    ),
    // Octal 06142003, little-endian. Source: the kernel's drivers/md/dm-cache-metadata.c, `cache_disk_superblock`.
    known("a dm-cache's metadata", &[Start(32)], &[0x03, 0xC4, 0x18, 0, 0, 0, 0, 0]),
    // 0x23489321 and version 1. Source: the kernel's drivers/md/dm-writecache.c, `wc_memory_superblock`.
    known("a dm-writecache", &[Start(0)], &[0x21, 0x93, 0x48, 0x23, 1, 0, 0, 0]),
    known(
        "a bcachefs file system",
        &[Start(4096 + 24)],
        &[0xC6, 0x85, 0x73, 0xF6, 0x66, 0xCE, 0x90, 0xA9, 0xD9, 0x6A, 0x60, 0xCF, 0x80, 0x3D, 0xF7, 0xEF],
    ),
    known("an F2FS file system", &[Start(1024)], &[0x10, 0x20, 0xF5, 0xF2]),
    known("an HFS+ file system", &[Start(1024)], b"H+\0\x04"),
    known("an HFSX file system", &[Start(1024)], b"HX\0\x05"),
    known("an APFS container", &[Start(32)], b"NXSB"),
    known("a BitLocker volume", &[Start(3)], b"-FVE-FS-"),
    known("a ReiserFS file system", &[Start(0x1_0034), Start(0x2034)], b"ReIsEr"),
    known("a JFS file system", &[Start(0x8000)], b"JFS1"),
    known("a GFS2 file system", &[Start(0x1_0000)], &[0x01, 0x16, 0x19, 0x70]),
    known("an OCFS2 file system", &[Start(1024), Start(2048), Start(4096), Start(8192)], b"OCFSV2"),
    known("a VMFS volume", &[Start(0x10_0000)], &[0x0D, 0xD0, 0x01, 0xC0]),
    known("an ISO 9660 disc", DISC, b"CD001"),
    known("a UDF disc", DISC, b"BEA01"),
    known("a squashfs image", &[Start(0)], b"hsqs"),
    known("an EROFS image", &[Start(1024)], &[0xE2, 0xE1, 0xF5, 0xE0]),
    known("a Stratis pool member", &[Start(512)], b"!Stra0tis\x86\xff\x02^\x41rh"),
    known("a VDO volume", &[Start(0)], b"dmvdo001"),
    known("a dm-integrity device", &[Start(0)], b"integrt\0"),
    known("a device-mapper snapshot", &[Start(0)], b"SnAp"),
    known("a Ceph BlueStore", &[Start(0)], b"bluestore block device"),
    known("an Oracle ASM disk", &[Start(32)], b"ORCLDISK"),
    known("a DRBD device", DRBD, &[0x83, 0x74, 0x02, 0x6B]),
    known("a DRBD device", DRBD, &[0x83, 0x74, 0x02, 0x6C]),
    known("a DRBD device", DRBD, &[0x83, 0x74, 0x02, 0x6D]),
    known("an Intel firmware RAID member", &[End(1024)], b"Intel Raid ISM Cfg Sig. "),
    known("a DDF RAID member", &[End(512)], &[0xDE, 0x11, 0xDE, 0x11]),
];
