//! Probes of a host on which nothing of ours is measured.

use super::probe::{Probe, Subject};
use super::{cores, foreign};
use proofload_model::error::Error;

/// Probes of what everybody does with the processor, of which some cores may be in question; the processes of this program are our own.
pub(crate) fn host_probes(pid: u32, cores: Option<Vec<usize>>) -> Result<Vec<Box<dyn Probe>>, Error> {
    let mut subject = Subject { pid: Some(pid), cores, ..Subject::default() };
    let opened = [cores::open(&mut subject)?, foreign::open(&mut subject)?];
    Ok(opened.into_iter().flatten().collect())
}
