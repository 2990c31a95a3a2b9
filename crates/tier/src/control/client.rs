//! The end of a control socket that asks. It waits for an answer only for a time, and decides nothing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::frame::Frame;
use super::message::{ControlAnswer, ControlRequest, READING, SAMPLED};
use super::place::connect;
use super::reading::{MOST_BYTES, PoolReading};
use super::sampled;
use crate::error::Error;
use crate::forecast::SamplePiece;
use crate::tier::DrainStatus;

/// Time for which an answer is waited for, beside what was allowed for a drain.
const PATIENCE: Duration = Duration::from_secs(10);

/// A client of a pool's control socket, which makes a connection for each request.
#[derive(Clone, Debug)]
pub struct ControlClient {
    path: PathBuf,
}

impl ControlClient {
    /// A client of a socket on which somebody listens now.
    ///
    /// # Errors
    ///
    /// When nobody listens there.
    pub fn connect(path: &Path) -> Result<Self, Error> {
        let failed =
            |error| Error::control("failed to connect to", path, error, "is the pool open, and does this user own it?");
        connect(path).map_err(failed)?;
        Ok(Self { path: path.to_owned() })
    }

    /// The state of the pool now.
    ///
    /// # Errors
    ///
    /// When no answer comes within 10 s, or none of this version ([`Error::frame_fault`]).
    pub fn reading(&self) -> Result<PoolReading, Error> {
        self.read(ControlRequest::Stats)
    }

    /// Delays every flush from now on by a time, zero for nothing, until the pool is closed; the state of the pool then, with the delay in
    /// force.
    ///
    /// # Errors
    ///
    /// When the delay is longer than [`MOST_FLUSH_DELAY`](crate::tier::MOST_FLUSH_DELAY), no answer comes within 10 s, or none of this version.
    pub fn delay_flushes(&self, delay: Duration) -> Result<PoolReading, Error> {
        self.read(ControlRequest::DelayFlushes { delay })
    }

    /// Makes a request that is answered by the state of the pool.
    fn read(&self, request: ControlRequest) -> Result<PoolReading, Error> {
        let frame = self.ask(request, PATIENCE)?;
        match frame.kind {
            READING => PoolReading::from_content(&frame.content)
                .map_err(|fault| Error::frame("decoded", self.path.display().to_string(), fault)),
            _ => Err(self.unexpected(&frame)),
        }
    }

    /// References of the pool's sample from a number on, as many as fit one answer.
    ///
    /// # Errors
    ///
    /// When the pool keeps no sample, no answer comes within 10 s, or none of this version ([`Error::frame_fault`]).
    pub fn sampled_since(&self, number: u64) -> Result<SamplePiece, Error> {
        let frame = self.ask(ControlRequest::Sample { from: number }, PATIENCE)?;
        match frame.kind {
            SAMPLED => sampled::from_content(&frame.content)
                .map_err(|fault| Error::frame("decoded", self.path.display().to_string(), fault)),
            _ => Err(self.unexpected(&frame)),
        }
    }

    /// Cleans until no line is dirty but those that are damaged, or a time has passed. It goes on if this client ends.
    ///
    /// # Errors
    ///
    /// When another drain is at work, a device fails, or no answer comes within the limit and 10 s.
    pub fn drain(&self, limit: Duration) -> Result<DrainStatus, Error> {
        let frame = self.ask(ControlRequest::Drain { limit }, limit.saturating_add(PATIENCE))?;
        match ControlAnswer::from_frame(&frame) {
            Ok(ControlAnswer::Drained(status)) => Ok(status),
            _ => Err(self.unexpected(&frame)),
        }
    }

    /// Takes off what is slow on purpose, until the pool is closed: modelled disks hand requests back as soon as the real devices have done
    /// them, and flushes are not delayed. What the disks do is not counted any more.
    ///
    /// # Errors
    ///
    /// When no answer comes within 10 s.
    pub fn free_disks(&self) -> Result<(), Error> {
        let frame = self.ask(ControlRequest::FreeDisks, PATIENCE)?;
        match ControlAnswer::from_frame(&frame) {
            Ok(ControlAnswer::FreedDisks) => Ok(()),
            _ => Err(self.unexpected(&frame)),
        }
    }

    /// Tells the owner of the pool to stop, and does not wait until it has.
    ///
    /// # Errors
    ///
    /// When the owner does not listen, or no answer comes within 10 s.
    pub fn stop(&self) -> Result<(), Error> {
        let frame = self.ask(ControlRequest::Stop, PATIENCE)?;
        match ControlAnswer::from_frame(&frame) {
            Ok(ControlAnswer::Stopping) => Ok(()),
            _ => Err(self.unexpected(&frame)),
        }
    }

    fn ask(&self, request: ControlRequest, patience: Duration) -> Result<Frame, Error> {
        let failed = |error| Error::control("asked", &self.path, error, "is the pool still open?");
        let mut stream = connect(&self.path).map_err(failed)?;
        stream.set_read_timeout(Some(patience)).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        stream.write_all(&request.encode()).map_err(failed)?;
        let frame = Frame::read(&mut stream, MOST_BYTES).map_err(failed)?;
        frame.map_err(|fault| Error::frame("read an answer of", self.path.display().to_string(), fault))
    }

    /// The error of an answer that does not fit the request.
    fn unexpected(&self, frame: &Frame) -> Error {
        match ControlAnswer::from_frame(frame) {
            Ok(ControlAnswer::Refused(text)) => Error::control("asked", &self.path, text, "try again later"),
            Ok(_) => Error::control("asked", &self.path, "an answer to a different request", "is it a pool's socket?"),
            Err(fault) => Error::frame("decoded", self.path.display().to_string(), fault),
        }
    }
}
