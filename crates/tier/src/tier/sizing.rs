//! Drains a pool, changes its size, and sets its volumes free: each within a time that the caller gives.

use std::time::Duration;

use super::front::Tier;
use crate::error::Error;
use crate::machine::CacheMode;

/// How far a drain is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrainStatus {
    /// Lines that are dirty.
    pub dirty_lines: u32,
    /// Lines among them that are dirty in damaged sectors alone, which cannot be cleaned.
    pub damaged_lines: u32,
    /// Bytes that were written to the origins per second so far; 0 before the first batch.
    pub bytes_per_second: f64,
    /// Time that the rest takes at that rate; `None` before the first batch.
    pub left: Option<Duration>,
}

impl Tier {
    /// Cleans until no line is dirty but those that are damaged, or a time has passed. Writes that come meanwhile make lines dirty again.
    ///
    /// # Errors
    ///
    /// When a device fails.
    pub fn drain(&self, limit: Duration) -> Result<DrainStatus, Error> {
        let mut status = self.work_until(limit, &mut || self.lock().machine.is_drained())?;
        if self.lock().machine.is_drained() {
            status.left = None;
        }
        Ok(status)
    }

    /// Cleans and commits until a condition holds or a time has passed.
    fn work_until(&self, limit: Duration, done: &mut dyn FnMut() -> bool) -> Result<DrainStatus, Error> {
        let (begin, before) = (self.clock.now(), self.cleaned_bytes());
        self.lock().machine.set_draining(true);
        let mut outcome = Ok(());
        while outcome.is_ok() && !done() && self.clock.now().saturating_sub(begin) < limit {
            outcome = self.work_once();
        }
        self.lock().machine.set_draining(false);
        outcome?;
        Ok(self.drained_since(begin, before))
    }

    /// How far cleaning is that began at a time with so many bytes cleaned.
    pub(super) fn drained_since(&self, begin: Duration, before: u64) -> DrainStatus {
        let passed = self.clock.now().saturating_sub(begin).as_secs_f64();
        let cleaned = (self.cleaned_bytes() - before) as f64;
        let (dirty_lines, damaged_lines) = {
            let machine = &self.lock().machine;
            (machine.dirty_lines(), machine.damaged_lines())
        };
        let bytes_per_second = if passed > 0.0 { cleaned / passed } else { 0.0 };
        let left_bytes = f64::from(dirty_lines.saturating_sub(damaged_lines)) * f64::from(self.geometry.line_bytes);
        let left = (cleaned > 0.0 && passed > 0.0).then(|| Duration::from_secs_f64(left_bytes / bytes_per_second));
        DrainStatus { dirty_lines, damaged_lines, bytes_per_second, left }
    }

    fn work_once(&self) -> Result<(), Error> {
        let rest = self.clean()?;
        self.commit_all()?;
        if !rest.is_zero() {
            self.clock.sleep_until(self.clock.now() + rest.min(Duration::from_millis(1)));
        }
        Ok(())
    }

    pub(super) fn cleaned_bytes(&self) -> u64 {
        let state = self.lock();
        (0..self.volumes()).map(|volume| state.machine.counters(volume).cleaned_bytes).sum()
    }

    /// Changes the number of lines in use, from 8 to what the cache was made for; lines that stay keep their content.
    ///
    /// # Errors
    ///
    /// When the number does not fit, the lines beyond it are not clean within the time or are damaged (the size is as before then), or
    /// a device fails.
    pub fn resize(&self, lines: u32, limit: Duration) -> Result<(), Error> {
        if !(8..=self.geometry.most_lines).contains(&lines) || self.cache.bytes() < self.geometry.byte_of_line(lines) {
            return Err(Error::unfit(
                "number of lines",
                u64::from(lines),
                "8 to the number the cache was created with",
            ));
        }
        let _sizes = self.sizes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = self.lock_superblock().active_lines;
        if lines >= before {
            self.write_active_lines(lines)?;
            self.lock().machine.set_active_lines(lines);
            return Ok(());
        }
        let (mut empty, mut damaged) = (false, None);
        let emptied = self.work_until(limit, &mut || {
            let mut state = self.lock();
            empty = state.machine.set_active_lines(lines);
            damaged = state.machine.damaged_beyond(lines);
            empty || damaged.is_some()
        });
        if emptied.is_err() || !empty {
            self.lock().machine.set_active_lines(before);
            emptied?;
            if let Some((block, sectors)) = damaged {
                return Err(self.lost(block, sectors));
            }
            return Err(Error::busy("the lines beyond the new size were not cleaned in time", "allow more time"));
        }
        self.write_active_lines(lines)
    }

    fn write_active_lines(&self, lines: u32) -> Result<(), Error> {
        let mut superblock = self.lock_superblock();
        let mut next = superblock.clone();
        next.active_lines = lines;
        self.write_superblock(&mut superblock, next)
    }

    /// Sets the volumes free: afterwards each origin has all its content, and the cache is of no more use.
    ///
    /// New writes go to the origins meanwhile. Afterwards the pool serves nothing more.
    ///
    /// # Errors
    ///
    /// When the lines are not clean within the time (the pool goes on as before then), or a device fails.
    pub fn detach(&self, limit: Duration) -> Result<(), Error> {
        let modes: Vec<CacheMode> = {
            let mut state = self.lock();
            let volumes = 0..self.volumes();
            volumes.map(|volume| state.machine.replace_mode(volume, CacheMode::WriteThrough)).collect()
        };
        if let Err(error) = self.end_service(limit) {
            let mut state = self.lock();
            (0..self.volumes()).zip(modes).for_each(|(volume, mode)| _ = state.machine.replace_mode(volume, mode));
            return Err(error);
        }
        let superblock = self.lock_superblock();
        (0..self.volumes()).try_for_each(|volume| self.set_free(volume, &superblock))
    }

    /// Serves nothing more once the origins have all that was acknowledged.
    fn end_service(&self, limit: Duration) -> Result<(), Error> {
        let begin = self.clock.now();
        loop {
            let left = limit.saturating_sub(self.clock.now().saturating_sub(begin));
            self.work_until(left, &mut || self.lock().machine.has_nothing_to_clean())?;
            self.settle()?;
            let mut state = self.lock();
            // A write that was begun before the mode was changed may make a line dirty until now.
            if state.machine.holds_nothing_alone() {
                state.machine.fail_pool();
                return Ok(());
            }
            if let Some((block, sectors)) = state.machine.damaged_blocks().first().copied()
                && state.machine.has_nothing_to_clean()
            {
                drop(state);
                return Err(self.lost(block, sectors));
            }
            if self.clock.now().saturating_sub(begin) >= limit {
                return Err(Error::busy("the cache was not cleaned in time", "allow more time, or stop the writes"));
            }
        }
    }

    /// Changes the mode of a volume. Lines that are dirty stay so until they are cleaned.
    ///
    /// # Errors
    ///
    /// When there is no such volume.
    pub fn set_mode(&self, volume: u8, mode: CacheMode) -> Result<(), Error> {
        if volume >= self.volumes() {
            return Err(Error::range(volume, 0, 0, 0));
        }
        self.lock().machine.replace_mode(volume, mode);
        Ok(())
    }
}
