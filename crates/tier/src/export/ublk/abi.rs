//! What is said to the driver and what it says, as bytes: numbers of commands, structures, places. Source of all: the kernel's `ublk_cmd.h`.
//!
//! Structures are written and read field by field in the byte order of the machine, so that nothing depends on how memory is laid out.

/// Where the driver is asked for devices.
pub(super) const CONTROL: &str = "/dev/ublk-control";
/// Where the kernel lists devices, each by the name of its character device.
pub(super) const LIST: &str = "/sys/class/ublk-char";

/// The driver copies nothing: data are read and written at the character device, by any thread.
pub(super) const USER_COPY: u64 = 1 << 7;
/// Commands have the numbers of this file.
pub(super) const IOCTL_ENCODE: u64 = 1 << 6;

/// Bytes of the buffer that goes with a command: more than any structure here.
pub(super) const COMMAND_BUFFER: usize = 128;
/// Bytes of a description of a device.
pub(super) const DEVICE_BYTES: usize = 64;
/// Bytes of the parameters that are set: their head, the basic ones and those of discards.
const PARAMETER_BYTES: usize = 8 + 32 + 20;
/// Bytes of the driver's word about features.
pub(super) const FEATURE_BYTES: usize = 8;

/// Bytes of a descriptor of a request.
pub(super) const DESCRIPTOR_BYTES: usize = 24;
/// Descriptors between those of two queues.
const MOST_DEPTH: u64 = 4096;
/// Where data lie in the character device; the bits of a tag and of a queue follow those of a place in one request.
const DATA: u64 = 0x8000_0000;
const TAG_BIT: u32 = 25;
const QUEUE_BIT: u32 = TAG_BIT + 16;

/// Bytes of a sector, in which the kernel counts.
pub(super) const SECTOR: u64 = 512;

const READS: u32 = 2;
const READS_AND_WRITES: u32 = 3;

/// The number of a command. Source: the kernel's `ioctl.h`, with the letter `u`.
const fn encoded(direction: u32, number: u32, bytes: u32) -> u32 {
    direction << 30 | bytes << 16 | (b'u' as u32) << 8 | number
}

/// What is asked of the driver about devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlCommand {
    /// Fill in the features that it has.
    Features,
    /// Make a device; the buffer describes it before and after.
    Add,
    /// Set the parameters that the buffer holds.
    SetParameters,
    /// Make its block device, served by a process.
    Start,
    /// End its block device; what is under way is served first.
    Stop,
    /// Remove it, and wait for its last use.
    Delete,
    /// Describe it in the buffer.
    Describe,
}

impl ControlCommand {
    pub(super) const fn number(self) -> u32 {
        match self {
            Self::Features => encoded(READS, 0x13, 32),
            Self::Describe => encoded(READS, 0x02, 32),
            Self::Add => encoded(READS_AND_WRITES, 0x04, 32),
            Self::Delete => encoded(READS_AND_WRITES, 0x05, 32),
            Self::Start => encoded(READS_AND_WRITES, 0x06, 32),
            Self::Stop => encoded(READS_AND_WRITES, 0x07, 32),
            Self::SetParameters => encoded(READS_AND_WRITES, 0x08, 32),
        }
    }

    /// Its structure. `length`: bytes of the buffer at `address`; `value`: what a command takes besides.
    pub(super) fn bytes(device: u32, length: usize, address: u64, value: u64) -> [u8; 80] {
        let mut bytes = [0; 80];
        let mut at = Fields { bytes: &mut bytes, at: 0 };
        at.put(&device.to_ne_bytes());
        // No queue is meant.
        at.put(&u16::MAX.to_ne_bytes());
        at.put(&u16::try_from(length).expect("a buffer of some bytes").to_ne_bytes());
        at.put(&address.to_ne_bytes());
        at.put(&value.to_ne_bytes());
        bytes
    }
}

/// What a queue says: that it waits for a request, or how one ended and that it waits for the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueCommand {
    Fetch { tag: u16 },
    Commit { tag: u16, result: i32 },
}

impl QueueCommand {
    pub(super) const fn number(self) -> u32 {
        match self {
            Self::Fetch { .. } => encoded(READS_AND_WRITES, 0x20, 16),
            Self::Commit { .. } => encoded(READS_AND_WRITES, 0x21, 16),
        }
    }

    pub(super) const fn tag(self) -> u16 {
        match self {
            Self::Fetch { tag } | Self::Commit { tag, .. } => tag,
        }
    }

    /// Its structure. There is no address, since the driver copies nothing.
    pub(super) fn bytes(self, queue: u16) -> [u8; 16] {
        let result = match self {
            Self::Fetch { .. } => 0,
            Self::Commit { result, .. } => result,
        };
        let mut bytes = [0; 16];
        let mut at = Fields { bytes: &mut bytes, at: 0 };
        at.put(&queue.to_ne_bytes());
        at.put(&self.tag().to_ne_bytes());
        at.put(&result.to_ne_bytes());
        bytes
    }
}

/// State of a device of which nobody serves the block device. Others are alive.
const DEAD: u16 = 0;

/// A device as the driver describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceDescription {
    /// Its number, by which its nodes are named.
    pub(super) number: u32,
    pub(super) queues: u16,
    /// Requests of a queue at once.
    pub(super) depth: u16,
    /// Bytes of a request, at most.
    pub(super) most_bytes: u32,
    pub(super) flags: u64,
    /// What its server keeps there; the driver only stores it.
    pub(super) mark: u64,
    /// Whether it has a block device that is served.
    pub(super) is_live: bool,
}

/// A number with which the driver chooses one.
pub(super) const ANY_NUMBER: u32 = u32::MAX;

impl DeviceDescription {
    pub(super) fn bytes(&self) -> [u8; DEVICE_BYTES] {
        let mut bytes = [0; DEVICE_BYTES];
        let mut at = Fields { bytes: &mut bytes, at: 0 };
        at.put(&self.queues.to_ne_bytes());
        at.put(&self.depth.to_ne_bytes());
        at.skip(4);
        at.put(&self.most_bytes.to_ne_bytes());
        at.put(&self.number.to_ne_bytes());
        at.skip(8);
        at.put(&self.flags.to_ne_bytes());
        at.put(&self.mark.to_ne_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8; DEVICE_BYTES]) -> Self {
        let short = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            queues: short(0),
            depth: short(2),
            is_live: short(4) != DEAD,
            most_bytes: u32_at(bytes, 8),
            number: u32_at(bytes, 12),
            flags: u64_at(bytes, 24),
            mark: u64_at(bytes, 32),
        }
    }
}

/// What the block device is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceParameters {
    /// Size, sectors of 512 bytes.
    pub(super) sectors: u64,
    /// Bytes of a block, by its power of two: the least that is read or written.
    pub(super) block_bit: u8,
    /// Bytes of a read or write, at most.
    pub(super) most_bytes: u32,
    /// Bytes of a discard, at most.
    pub(super) most_discarded: u32,
}

impl DeviceParameters {
    /// A device with a volatile cache, that carries out writes which must be durable, and discards.
    pub(super) fn bytes(&self) -> [u8; PARAMETER_BYTES] {
        const BASIC: u32 = 1;
        const DISCARD: u32 = 1 << 1;
        const VOLATILE_CACHE: u32 = 1 << 2;
        const FORCE_ACCESS: u32 = 1 << 3;
        let mut bytes = [0; PARAMETER_BYTES];
        let mut at = Fields { bytes: &mut bytes, at: 0 };
        at.put(&(PARAMETER_BYTES as u32).to_ne_bytes());
        at.put(&(BASIC | DISCARD).to_ne_bytes());
        at.put(&(VOLATILE_CACHE | FORCE_ACCESS).to_ne_bytes());
        // Logical and physical block, best and least input and output.
        at.put(&[self.block_bit; 4]);
        at.put(&(self.most_bytes / SECTOR as u32).to_ne_bytes());
        at.skip(4);
        at.put(&self.sectors.to_ne_bytes());
        at.skip(8);
        at.skip(4);
        at.put(&(1_u32 << self.block_bit).to_ne_bytes());
        let most = self.most_discarded / SECTOR as u32;
        at.put(&most.to_ne_bytes());
        at.put(&most.to_ne_bytes());
        // The driver takes one range in a discard.
        at.put(&1_u16.to_ne_bytes());
        bytes
    }
}

/// A descriptor of a request, as it lies in the driver's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    /// Kind in the lowest eight bits, flags above.
    pub(super) kind: u32,
    pub(super) sectors: u32,
    pub(super) first_sector: u64,
}

impl Descriptor {
    pub(super) fn read(bytes: &[u8; DESCRIPTOR_BYTES]) -> Self {
        Self { kind: u32_at(bytes, 0), sectors: u32_at(bytes, 4), first_sector: u64_at(bytes, 8) }
    }
}

/// Where the descriptors of a queue begin in the character device.
pub(super) fn place_of_descriptors(queue: u16) -> u64 {
    u64::from(queue) * (MOST_DEPTH * DESCRIPTOR_BYTES as u64).next_multiple_of(4096)
}

/// Where the data of a request begin in the character device.
pub(super) fn place_of_data(queue: u16, tag: u16) -> u64 {
    DATA + (u64::from(queue) << QUEUE_BIT | u64::from(tag) << TAG_BIT)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Fields that are put behind each other.
struct Fields<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Fields<'_> {
    fn put(&mut self, field: &[u8]) {
        self.bytes[self.at..self.at + field.len()].copy_from_slice(field);
        self.at += field.len();
    }

    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_the_numbers_of_the_kernel() {
        let numbers = [
            (ControlCommand::Features, 0x8020_7513),
            (ControlCommand::Describe, 0x8020_7502),
            (ControlCommand::Add, 0xC020_7504),
            (ControlCommand::Delete, 0xC020_7505),
            (ControlCommand::Start, 0xC020_7506),
            (ControlCommand::Stop, 0xC020_7507),
            (ControlCommand::SetParameters, 0xC020_7508),
        ];
        for (command, number) in numbers {
            assert_eq!(command.number(), number, "{command:?}");
        }
        assert_eq!(QueueCommand::Fetch { tag: 0 }.number(), 0xC010_7520);
        assert_eq!(QueueCommand::Commit { tag: 0, result: 0 }.number(), 0xC010_7521);
    }

    #[test]
    fn a_device_is_read_as_it_is_written_but_for_its_state() {
        let device = DeviceDescription {
            number: 7,
            queues: 2,
            depth: 128,
            most_bytes: 1 << 20,
            flags: USER_COPY | IOCTL_ENCODE,
            mark: u64::MAX - 3,
            is_live: false,
        };
        let mut bytes = device.bytes();
        assert_eq!(DeviceDescription::read(&bytes), device);
        bytes[4] = 1;
        assert!(DeviceDescription::read(&bytes).is_live);
    }

    #[test]
    fn fields_lie_where_the_kernel_has_them() {
        let bytes = ControlCommand::bytes(3, 64, 0x1122, 99);
        assert_eq!((u32_at(&bytes, 0), &bytes[4..6], bytes[6]), (3, &[255, 255][..], 64));
        assert_eq!((u64_at(&bytes, 8), u64_at(&bytes, 16)), (0x1122, 99));
        let bytes = QueueCommand::Commit { tag: 5, result: -5 }.bytes(1);
        assert_eq!((bytes[0], bytes[2], u32_at(&bytes, 4), u64_at(&bytes, 8)), (1, 5, u32::MAX - 4, 0));
        let parameters = DeviceParameters { sectors: 80, block_bit: 12, most_bytes: 1 << 20, most_discarded: 1 << 27 };
        let bytes = parameters.bytes();
        assert_eq!((u32_at(&bytes, 0), u32_at(&bytes, 4), u32_at(&bytes, 8)), (60, 3, 12));
        assert_eq!((&bytes[12..16], u32_at(&bytes, 16), u64_at(&bytes, 24)), (&[12; 4][..], 2048, 80));
        assert_eq!((u32_at(&bytes, 44), u32_at(&bytes, 48), u32_at(&bytes, 52)), (4096, 1 << 18, 1 << 18));
        assert_eq!(bytes[56], 1);
    }

    #[test]
    fn places_of_queues_and_tags_do_not_meet() {
        assert_eq!((place_of_descriptors(0), place_of_descriptors(1)), (0, 98_304));
        assert_eq!(place_of_data(0, 0), 0x8000_0000);
        assert_eq!(place_of_data(1, 2), 0x8000_0000 + (1 << 41) + (2 << 25));
    }
}
