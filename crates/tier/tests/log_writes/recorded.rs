//! A pool in this process whose devices are logged as the kernel's target would log them.

use std::io;
use std::sync::{Arc, Mutex};

use proofload_tier::device::{Device, DeviceWrite, WriteFailure};
use proofload_tier::machine::CacheMode;
use proofload_tier::tier::{Tier, TierDevices};

use crate::load::{Load, RequestKind, SECTOR};
use crate::log::LogEntry;
use crate::replay::{FLUSHED, Sizes};
use crate::support::{TestClock, format_settings, pool};

/// Lines of the cache: a third of what the volume has.
const LINES: u32 = 64;

/// What the device does with flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flushes {
    CarriedOut,
    /// Answered and not carried out.
    Dropped,
    /// Every other one is dropped.
    HalfDropped,
}

/// The device under both.
struct Recorder {
    image: Vec<u8>,
    log: Vec<LogEntry>,
    /// Ended, and not yet flushed.
    unflushed: Vec<LogEntry>,
    flushes: Flushes,
    /// Flushes so far.
    count: u64,
}

/// One of the two.
struct Recorded {
    recorder: Arc<Mutex<Recorder>>,
    start: u64,
    bytes: u64,
}

impl Device for Recorded {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let at = (self.start + at) as usize;
        into.copy_from_slice(&self.recorder.lock().unwrap().image[at..at + into.len()]);
        Ok(())
    }

    fn write_at(&self, at: u64, from: &[u8]) -> io::Result<()> {
        let recorder = &mut *self.recorder.lock().unwrap();
        let at = (self.start + at) as usize;
        recorder.image[at..at + from.len()].copy_from_slice(from);
        // A device takes whole sectors, as direct input and output does.
        let (first, end) = (at / SECTOR * SECTOR, (at + from.len()).next_multiple_of(SECTOR));
        let bytes = recorder.image[first..end].to_vec();
        recorder.unflushed.push(LogEntry::Write { at: first as u64, bytes, is_durable: false });
        Ok(())
    }

    /// The last of those that are under way is done first.
    fn write_several(&self, writes: &[DeviceWrite<'_>], depth: usize) -> Result<(), WriteFailure> {
        for (first, together) in (0..).step_by(depth.max(1)).zip(writes.chunks(depth.max(1))) {
            for (place, write) in together.iter().enumerate().rev() {
                let failed = |error| WriteFailure { index: first + place, error };
                self.write_at(write.at, write.bytes).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let recorder = &mut *self.recorder.lock().unwrap();
        recorder.count += 1;
        let is_dropped = match recorder.flushes {
            Flushes::CarriedOut => false,
            Flushes::Dropped => true,
            Flushes::HalfDropped => recorder.count.is_multiple_of(2),
        };
        if !is_dropped {
            recorder.log.append(&mut recorder.unflushed);
            recorder.log.push(LogEntry::Flush);
        }
        Ok(())
    }
}

/// A load's log, its sizes and the load.
pub(crate) fn record(rounds: usize, flushes: Flushes) -> (Vec<LogEntry>, Sizes, Load) {
    let settings = format_settings(8192, LINES, 1);
    let geometry = proofload_tier::layout::Geometry::new(8192, LINES).unwrap();
    let sizes = Sizes { cache: geometry.bytes(), origin: u64::from(LINES) * 3 * 8192 + SECTOR as u64 };
    let image = vec![0; (sizes.cache + sizes.origin) as usize];
    let recorder = Arc::new(Mutex::new(Recorder {
        image,
        log: Vec::new(),
        unflushed: Vec::new(),
        flushes: Flushes::CarriedOut,
        count: 0,
    }));
    let device = |start, bytes| Arc::new(Recorded { recorder: recorder.clone(), start, bytes });
    let devices = TierDevices {
        cache: device(0, sizes.cache),
        origins: vec![device(sizes.cache, sizes.origin) as Arc<dyn Device>],
    };
    Tier::format(&devices, &settings).unwrap();
    let tier = Tier::open(devices, pool(CacheMode::WriteBack, 1), Arc::new(TestClock::default())).unwrap();
    recorder.lock().unwrap().flushes = flushes;
    let load = Load::new(rounds, tier.volume_bytes(0));
    let mark = |round: usize| recorder.lock().unwrap().log.push(LogEntry::Mark(format!("{FLUSHED}{round}")));
    mark(0);
    for (round, requests) in (1..).zip(&load.rounds) {
        for request in requests {
            let (at, length) = ((request.first * SECTOR) as u64, request.count * SECTOR);
            match request.kind {
                RequestKind::Write => tier.write(0, at, &Load::bytes(request, round)).unwrap(),
                RequestKind::Discard => tier.discard(0, at, length as u64).unwrap(),
            }
        }
        if round % 3 == 0 {
            tier.clean().unwrap();
        }
        tier.flush(0).unwrap();
        mark(round);
    }
    let log = recorder.lock().unwrap().log.clone();
    (log, sizes, load)
}
