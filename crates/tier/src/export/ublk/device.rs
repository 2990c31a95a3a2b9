//! One volume as a block device of the kernel, from its making to its end, each within a time.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::abi::{ANY_NUMBER, DeviceDescription, DeviceParameters, IOCTL_ENCODE, SECTOR, USER_COPY};
use super::control::ControlDevice;
use super::leftovers::{mounted_at, node, sweep};
use super::mailbox::Mailbox;
use super::mark::ServerMark;
use super::queue::{QueueParts, ServedQueue};
use crate::error::Error;
use crate::export::BlockService;
use crate::export::waiting::until;
use crate::export::workers::Workers;

/// Queues, each with a thread that serves what waits for no slow device.
const QUEUES: usize = 2;
/// Requests of a queue at once.
const DEPTH: u16 = 128;
/// Bytes of a read or write, at most.
const MOST_BYTES: u32 = 1 << 20;
/// Bytes of a discard, at most.
const MOST_DISCARDED: u32 = 128 << 20;
/// Blocks of 4 KiB, the sectors of a pool.
const BLOCK_BIT: u8 = 12;

/// Time between two looks at what the kernel does.
const LOOK: Duration = Duration::from_millis(20);
/// Looks at it: 5 s.
const MOST_LOOKS: u32 = 250;

/// A block device, until it is dropped.
pub struct UblkDevice {
    control: ControlDevice,
    number: u32,
    queues: Vec<JoinHandle<()>>,
    mailboxes: Vec<Arc<Mailbox>>,
    ended: bool,
}

impl UblkDevice {
    /// Removes what killed servers of ours have left; returns, for each device that is still in use, what it is and what to do.
    ///
    /// # Errors
    ///
    /// When the kernel has no ublk that fits, or this process may not use it.
    pub fn release_left() -> Result<Vec<String>, Error> {
        ControlDevice::open().map(|mut control| sweep(&mut control))
    }

    /// Makes a block device of blocks of 4 KiB; the kernel chooses its number.
    ///
    /// # Errors
    ///
    /// When the kernel has no ublk that fits, or this process may not use it.
    pub fn start(service: Arc<dyn BlockService>) -> Result<Self, Error> {
        let mut control = ControlDevice::open()?;
        let queues = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(QUEUES));
        let made = control.add(&DeviceDescription {
            number: ANY_NUMBER,
            queues: u16::try_from(queues).expect("a few"),
            depth: DEPTH,
            most_bytes: MOST_BYTES,
            flags: USER_COPY | IOCTL_ENCODE,
            mark: ServerMark::own().map_or(0, ServerMark::kept),
            is_live: false,
        })?;
        // From here on a failure removes the device.
        let mut device = Self { control, number: made.number, queues: Vec::new(), mailboxes: Vec::new(), ended: false };
        device.serve(&made, service).map_err(|error| {
            let advice = "the kernel's log may say why (dmesg)";
            Error::program("served", device.node().display().to_string(), error, advice)
        })?;
        Ok(device)
    }

    /// Its device node.
    pub fn node(&self) -> PathBuf {
        node(self.number)
    }

    /// Ends and removes it. What is under way is served, and a mounted file system is written back first.
    ///
    /// # Errors
    ///
    /// When it is still in use after 5 s, which the error names: its users get errors, and it goes with its last use.
    pub fn stop(mut self) -> Result<(), Error> {
        self.end()
    }

    fn serve(&mut self, made: &DeviceDescription, service: Arc<dyn BlockService>) -> io::Result<()> {
        let sectors = (service.bytes() >> BLOCK_BIT << BLOCK_BIT) / SECTOR;
        let parameters = DeviceParameters {
            sectors,
            block_bit: BLOCK_BIT,
            most_bytes: made.most_bytes.min(MOST_BYTES),
            most_discarded: MOST_DISCARDED,
        };
        self.control.set_parameters(self.number, &parameters)?;
        let characters = Arc::new(open(Path::new(&format!("/dev/ublkc{}", self.number)))?);
        // Nobody ever waits to hand over: there is room for all that the kernel sends.
        let room = usize::from(made.queues) * usize::from(made.depth);
        let workers = Arc::new(Workers::start("ublk-slow", room)?);
        for queue in 0..made.queues {
            let mailbox = Arc::new(Mailbox::new()?);
            self.mailboxes.push(Arc::clone(&mailbox));
            let (service, characters, workers) = (Arc::clone(&service), Arc::clone(&characters), Arc::clone(&workers));
            let parts = QueueParts { service, characters, workers, mailbox, queue, depth: made.depth };
            self.start_queue(parts)?;
        }
        self.control.start(self.number)?;
        let node = self.node();
        match until(MOST_LOOKS, LOOK, || node.exists()) {
            true => Ok(()),
            false => Err(io::Error::other("no node of it has appeared in 5 s; is devtmpfs mounted at /dev?")),
        }
    }

    /// Starts the thread of a queue, and waits until it is ready.
    fn start_queue(&mut self, parts: QueueParts) -> io::Result<()> {
        let (ready, prepared) = sync_channel(1);
        let thread = std::thread::Builder::new().name("ublk-queue".to_owned());
        self.queues.push(thread.spawn(move || serve_queue(parts, &ready))?);
        prepared.recv().unwrap_or_else(|_| Err(io::Error::other("its thread has ended")))
    }

    fn end(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        let mounted = mounted_at(self.number);
        let stopped = self.control.stop(self.number);
        if stopped.is_err() {
            // The kernel fails what is under way when nobody serves it any more, and then removes it for another asker.
            self.mailboxes.iter().for_each(|mailbox| mailbox.close());
            if let Ok(another) = ControlDevice::open() {
                self.control = another;
            }
        }
        let all_left = until(MOST_LOOKS, LOOK, || self.queues.iter().all(JoinHandle::is_finished));
        if all_left {
            self.queues.drain(..).for_each(|thread| drop(thread.join()));
        }
        let (name, deleted) = (self.node().display().to_string(), self.control.delete(self.number));
        let advice = "stop the programs that use it, and unmount it; it goes with its last use";
        match (deleted.and(stopped), mounted) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some(folder)) => {
                let came = format!("it is mounted at {}, where input and output fails from now on", folder.display());
                Err(Error::program("removed", name, came, advice))
            }
            (Err(error), None) if error.kind() == io::ErrorKind::TimedOut => {
                Err(Error::program("removed", name, "it is still in use", advice))
            }
            (Err(error), None) => Err(Error::program("removed", name, error, advice)),
        }
    }
}

impl Drop for UblkDevice {
    fn drop(&mut self) {
        // There is nobody to tell; the next start finds what is left.
        drop(self.end());
    }
}

/// Opens the character device, whose node may come a moment after the device.
fn open(path: &Path) -> io::Result<File> {
    let mut opened = Err(io::ErrorKind::NotFound.into());
    until(MOST_LOOKS, LOOK, || {
        opened = OpenOptions::new().read(true).write(true).open(path);
        opened.is_ok()
    });
    opened
}

fn serve_queue(parts: QueueParts, ready: &SyncSender<io::Result<()>>) {
    match ServedQueue::new(parts) {
        Ok(queue) => {
            drop(ready.send(Ok(())));
            // Without its thread the kernel fails all that comes; there is nobody else to tell.
            drop(queue.serve());
        }
        Err(error) => drop(ready.send(Err(error))),
    }
}
