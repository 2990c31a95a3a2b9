//! How the target can be reached: fio's input/output engine, and around the page cache or not. Found by writing one block,
//! never guessed from the file system's name.

use super::job::{Job, Pattern};
use super::program::Fio;
use super::run::{JobOutput, run};
use super::target::Target;
use crate::sys;
use proofload_model::error::Error;

/// What is wanted: Linux's native asynchronous interface. Source: SNIA PTS asks for many requests in flight, fio's documentation
/// names this engine for Linux.
pub(super) const WANTED_ENGINE: &str = "libaio";

/// Requests kept in flight.
pub(super) const WANTED_DEPTH: u32 = 32;

/// Engines in the order in which they are tried.
const ENGINES: &[&str] = &[WANTED_ENGINE, "io_uring", "psync"];

/// A way to write to the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Access {
    /// fio's engine.
    pub(super) engine: &'static str,
    /// Whether it goes around the page cache.
    pub(super) direct: bool,
    /// Asked for and accepted, but the file system buffers all the same.
    pub(super) buffered_all_the_same: bool,
    /// What was tried before it and what came back.
    pub(super) refused: Vec<String>,
}

impl Access {
    /// Requests in flight: synchronous engines have one.
    pub(super) fn depth(&self) -> u32 {
        if self.engine == "psync" { 1 } else { WANTED_DEPTH }
    }
}

/// Tries direct writes with each engine, then buffered ones. Fails with everything that came back when no way works.
pub(super) fn find(fio: &Fio, target: &Target) -> Result<(Access, JobOutput), Error> {
    let mut refused = Vec::new();
    for direct in [true, false] {
        for engine in ENGINES {
            let access = Access { engine, direct, buffered_all_the_same: false, refused: refused.clone() };
            let how = if direct { "direct" } else { "buffered" };
            let job = Job { name: "one-block", number: 0, pattern: Pattern::OneBlock, access: &access, target };
            match run(fio, &job, &|_| ()) {
                Ok(kept) => {
                    // Asked after the first write: until then there is no file.
                    let buffered_all_the_same = direct && matches!(sys::takes_direct(target.path()), Ok(Some(false)));
                    return Ok((Access { buffered_all_the_same, ..access }, kept));
                }
                Err(error) => refused.push(format!("{engine}, {how}: {error}")),
            }
        }
    }
    Err(Error::new(format!("no I/O engine can write to {}: {}", target.path().display(), refused.join("; "))))
}
