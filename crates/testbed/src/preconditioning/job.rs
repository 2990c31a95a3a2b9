//! One fio job as its command line; pure.

use super::access::Access;
use super::output::Direction;
use super::target::Target;
use proofload_model::units::Bytes;
use std::path::Path;
use std::time::Duration;

/// Block of a sequential fill. Source: SNIA PTS, workload-independent preconditioning.
pub(super) const FILL_BLOCK: Bytes = Bytes(128 << 10);

/// Block of random writes. Source: SNIA PTS, tracking variable of the IOPS test.
const RANDOM_BLOCK: Bytes = Bytes(4 << 10);

/// Block of a sequential read. Source: the read-ahead of engines that scan is of this order; larger ones gain nothing.
const READ_BLOCK: Bytes = Bytes(1 << 20);

/// Reads kept in flight: enough for a drive to work at its rate, where a scan with read-ahead has no more.
pub(super) const READ_DEPTH: u32 = 8;

/// What a job writes or reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// The first block, to see whether it can be written.
    OneBlock,
    /// Every block once, in order.
    SequentialFill,
    /// Every block once, in random order.
    RandomPass,
    /// Random blocks of the whole size, with repetition, for so long.
    Round(Duration),
    /// Reads of every block in order, over and over, for so long.
    SequentialRead(Duration),
}

impl Pattern {
    /// Which way its bytes go.
    pub(super) const fn direction(self) -> Direction {
        match self {
            Self::SequentialRead(_) => Direction::Read,
            Self::OneBlock | Self::SequentialFill | Self::RandomPass | Self::Round(_) => Direction::Write,
        }
    }
}

/// One run of fio.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job<'a> {
    /// Name without its number, such as `random-pass-1`.
    pub(super) name: &'a str,
    /// Number in the order of the procedure; also the seed of offsets and contents, so that no two jobs write the same.
    pub(super) number: u32,
    /// What it writes.
    pub(super) pattern: Pattern,
    /// How it writes.
    pub(super) access: &'a Access,
    /// Where it writes.
    pub(super) target: &'a Target,
}

impl Job<'_> {
    /// Name of its document.
    pub(super) fn document(&self) -> String {
        format!("fio/{:02}-{}.json", self.number, self.name)
    }

    /// fio's arguments: it works in the target's folder and writes its result to `output`.
    pub(super) fn arguments(&self, output: &Path) -> Vec<String> {
        let mut arguments = vec![
            format!("--name={}", self.name),
            format!("--filename={}", self.target.name_for_fio()),
            format!("--size={}", self.target.size().0),
            format!("--ioengine={}", self.access.engine),
            format!("--iodepth={}", self.depth()),
            format!("--direct={}", u8::from(self.access.direct)),
            // Fresh contents for every write, so that neither compression nor deduplication helps.
            "--refill_buffers=1".to_owned(),
            // Else the seed is not heard for offsets (axboe/fio#1391, #1502), and every round writes the same blocks.
            "--randrepeat=0".to_owned(),
            format!("--randseed={}", self.number + 1),
            // A thread, not a child process: killing fio then kills all of it.
            "--thread=1".to_owned(),
            // fio's own guard beside ours.
            "--allow_mounted_write=0".to_owned(),
            // A device that has gone must not become a file of its name in memory.
            format!("--allow_file_create={}", u8::from(self.target.is_file())),
        ];
        arguments.extend(self.of_pattern());
        arguments.push("--eta=never".to_owned());
        arguments.push("--output-format=json+".to_owned());
        arguments.push(format!("--output={}", output.display()));
        arguments
    }

    /// Requests in flight.
    pub(super) fn depth(&self) -> u32 {
        match self.pattern.direction() {
            Direction::Read => self.access.depth().min(READ_DEPTH),
            Direction::Write => self.access.depth(),
        }
    }

    fn of_pattern(&self) -> Vec<String> {
        let fill = format!("--bs={}", FILL_BLOCK.0);
        let random = format!("--bs={}", RANDOM_BLOCK.0);
        match self.pattern {
            Pattern::OneBlock => vec!["--rw=write".to_owned(), random, format!("--io_size={}", RANDOM_BLOCK.0)],
            Pattern::SequentialFill => vec!["--rw=write".to_owned(), fill, "--end_fsync=1".to_owned()],
            // The shift register meets every block exactly once and needs no map of those it has met.
            Pattern::RandomPass => vec![
                "--rw=randwrite".to_owned(),
                random,
                "--random_generator=lfsr".to_owned(),
                "--end_fsync=1".to_owned(),
            ],
            Pattern::Round(length) => vec![
                "--rw=randwrite".to_owned(),
                random,
                "--random_generator=tausworthe64".to_owned(),
                "--norandommap=1".to_owned(),
                "--time_based=1".to_owned(),
                format!("--runtime={}ms", length.as_millis()),
            ],
            Pattern::SequentialRead(length) => vec![
                "--rw=read".to_owned(),
                format!("--bs={}", READ_BLOCK.0),
                "--time_based=1".to_owned(),
                format!("--runtime={}ms", length.as_millis()),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(pattern: Pattern, access: &Access, expected: &Expect) {
        let folder = Path::new("/data/study");
        let target = Target::file(folder, Bytes::mebi(64));
        let job = Job { name: "step", number: 3, pattern, access, target: &target };
        let arguments = job.arguments(Path::new("/data/study/out.json"));
        expected.assert_eq(&arguments.join("\n"));
    }

    #[test]
    fn a_fill_is_sequential_direct_and_deep() {
        let access = Access { engine: "libaio", direct: true, buffered_all_the_same: false, refused: Vec::new() };
        check(
            Pattern::SequentialFill,
            &access,
            &expect![[r#"
            --name=step
            --filename=precondition.fio
            --size=67108864
            --ioengine=libaio
            --iodepth=32
            --direct=1
            --refill_buffers=1
            --randrepeat=0
            --randseed=4
            --thread=1
            --allow_mounted_write=0
            --allow_file_create=1
            --rw=write
            --bs=131072
            --end_fsync=1
            --eta=never
            --output-format=json+
            --output=/data/study/out.json"#]],
        );
    }

    #[test]
    fn a_pass_meets_every_block_once_and_a_round_ends_by_time() {
        let access = Access { engine: "psync", direct: false, buffered_all_the_same: false, refused: Vec::new() };
        check(
            Pattern::RandomPass,
            &access,
            &expect![[r#"
            --name=step
            --filename=precondition.fio
            --size=67108864
            --ioengine=psync
            --iodepth=1
            --direct=0
            --refill_buffers=1
            --randrepeat=0
            --randseed=4
            --thread=1
            --allow_mounted_write=0
            --allow_file_create=1
            --rw=randwrite
            --bs=4096
            --random_generator=lfsr
            --end_fsync=1
            --eta=never
            --output-format=json+
            --output=/data/study/out.json"#]],
        );
        check(
            Pattern::Round(Duration::from_millis(1500)),
            &access,
            &expect![[r#"
            --name=step
            --filename=precondition.fio
            --size=67108864
            --ioengine=psync
            --iodepth=1
            --direct=0
            --refill_buffers=1
            --randrepeat=0
            --randseed=4
            --thread=1
            --allow_mounted_write=0
            --allow_file_create=1
            --rw=randwrite
            --bs=4096
            --random_generator=tausworthe64
            --norandommap=1
            --time_based=1
            --runtime=1500ms
            --eta=never
            --output-format=json+
            --output=/data/study/out.json"#]],
        );
    }

    #[test]
    fn a_read_is_sequential_direct_and_ends_by_time() {
        let access = Access { engine: "io_uring", direct: true, buffered_all_the_same: false, refused: Vec::new() };
        check(
            Pattern::SequentialRead(Duration::from_secs(5)),
            &access,
            &expect![[r#"
            --name=step
            --filename=precondition.fio
            --size=67108864
            --ioengine=io_uring
            --iodepth=8
            --direct=1
            --refill_buffers=1
            --randrepeat=0
            --randseed=4
            --thread=1
            --allow_mounted_write=0
            --allow_file_create=1
            --rw=read
            --bs=1048576
            --time_based=1
            --runtime=5000ms
            --eta=never
            --output-format=json+
            --output=/data/study/out.json"#]],
        );
    }

    #[test]
    fn documents_sort_in_the_order_of_the_procedure() {
        let access = Access { engine: "libaio", direct: true, buffered_all_the_same: false, refused: Vec::new() };
        let target = Target::file(Path::new("/data"), Bytes::mebi(1));
        let job =
            Job { name: "random-pass-1", number: 2, pattern: Pattern::RandomPass, access: &access, target: &target };
        assert_eq!(job.document(), "fio/02-random-pass-1.json");
    }
}
