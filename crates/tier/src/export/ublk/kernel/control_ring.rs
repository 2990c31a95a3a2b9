//! Commands about devices, one after the other, each waited for within a time.
//!
//! The kernel reads and writes the buffer of a command until it completes. The ring owns it, and leaves it to the kernel for ever
//! when a command has not come back.

#![expect(unsafe_code, reason = "the kernel is handed the address of a buffer")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

use super::super::abi::{COMMAND_BUFFER, ControlCommand};
use super::waits::goes_on;

/// Time of one wait; signals end it early.
const WAIT: Duration = Duration::from_millis(50);

/// What is asked, of which device.
pub(in super::super) struct ControlRequest<'a> {
    pub(in super::super) command: ControlCommand,
    pub(in super::super) device: u32,
    /// What the buffer holds, at most [`COMMAND_BUFFER`] bytes.
    pub(in super::super) input: &'a [u8],
    /// What a command takes besides.
    pub(in super::super) value: u64,
    /// Longest time.
    pub(in super::super) within: Duration,
}

/// A ring for commands at the control device.
pub(in super::super) struct ControlRing {
    ring: IoUring<squeue::Entry128>,
    control: File,
    /// `None` only while it is dropped.
    buffer: Option<Box<[u8; COMMAND_BUFFER]>>,
    /// Whether a command has not come back.
    is_under_way: bool,
}

impl ControlRing {
    /// A ring of its own over the opened control device.
    pub(in super::super) fn new(control: File) -> io::Result<Self> {
        let ring = IoUring::<squeue::Entry128>::builder().build(4)?;
        Ok(Self { ring, control, buffer: Some(Box::new([0; COMMAND_BUFFER])), is_under_way: false })
    }

    /// Carries out a command; returns its result, and the buffer as the kernel left it.
    ///
    /// # Errors
    ///
    /// What the kernel answered; [`io::ErrorKind::TimedOut`] when it has not yet, and for every command from then on.
    pub(in super::super) fn carry_out(
        &mut self,
        request: &ControlRequest<'_>,
    ) -> io::Result<(i32, [u8; COMMAND_BUFFER])> {
        if self.is_under_way {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let buffer = self.buffer.as_mut().ok_or(io::ErrorKind::NotFound)?;
        **buffer = [0; COMMAND_BUFFER];
        buffer[..request.input.len()].copy_from_slice(request.input);
        let address = if request.input.is_empty() { 0 } else { buffer.as_mut_ptr().expose_provenance() as u64 };
        let bytes = ControlCommand::bytes(request.device, request.input.len(), address, request.value);
        let entry = opcode::UringCmd80::new(Fd(self.control.as_raw_fd()), request.command.number()).cmd(bytes).build();
        self.is_under_way = true;
        // SAFETY: the entry points to the buffer alone, which is long enough, is on the heap, and is neither read, written nor freed
        // before the command has come back: `is_under_way` is true until then, and `drop` leaves the buffer to the kernel.
        unsafe { self.ring.submission().push(&entry) }.map_err(|_| io::ErrorKind::TimedOut)?;
        let result = self.wait(request.within)?;
        self.is_under_way = false;
        match u32::try_from(result) {
            Ok(_) => Ok((result, **self.buffer.as_ref().ok_or(io::ErrorKind::NotFound)?)),
            Err(_) => Err(io::Error::from_raw_os_error(-result)),
        }
    }

    fn wait(&mut self, within: Duration) -> io::Result<i32> {
        let time = Timespec::new().nsec(WAIT.subsec_nanos());
        for _ in 0..within.as_millis().div_ceil(WAIT.as_millis()).max(1) {
            let waited = self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time));
            if let Some(completion) = self.ring.completion().next() {
                return Ok(completion.result());
            }
            waited.map(drop).or_else(|error| if goes_on(&error) { Ok(()) } else { Err(error) })?;
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

impl Drop for ControlRing {
    fn drop(&mut self) {
        if self.is_under_way {
            self.buffer.take().map(Box::leak);
        }
    }
}
