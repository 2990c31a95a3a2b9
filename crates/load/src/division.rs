//! Helpers of workloads whose load is divided between load agents. May not know any workload.

use proofload_model::catalogue::Contradiction;
use proofload_model::error::Error;
use proofload_model::load_share::{LOAD_HOSTS, LoadShare, load_hosts};
use proofload_model::settings::Settings;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The shares of a point's load agents. One share, the whole, where nothing is divided or the setting is faulty; the
/// fault is reported elsewhere.
pub(crate) fn parts(settings: &Settings) -> Vec<LoadShare> {
    LoadShare::all(&load_hosts(settings).unwrap_or_default())
}

/// Contradiction of an agent whose share would have none of `all` things, such as virtual users.
pub(crate) fn each_has_one(settings: &Settings, all: u32, things: &str) -> Option<Contradiction> {
    let parts = parts(settings);
    let empty = parts.iter().find(|part| !part.is_whole() && part.range(all).is_empty())?;
    let name = settings.list(LOAD_HOSTS).get(empty.agent as usize).map_or("", String::as_str);
    let reason = format!("{name} would get none of the {all} {things}; use more of them, fewer hosts or other shares");
    Some(Contradiction::new(LOAD_HOSTS, reason))
}

/// Contradiction of a load that must not be divided but is; `why` says why not.
pub(crate) fn indivisible(settings: &Settings, why: &str) -> Option<Contradiction> {
    (parts(settings).len() > 1).then(|| Contradiction::new(LOAD_HOSTS, why))
}

/// Encodes evidence for another agent.
pub(crate) fn to_bytes<T: Serialize>(evidence: &T) -> Result<Vec<u8>, Error> {
    postcard::to_allocvec(evidence)
        .map_err(|error| Error::new(format!("failed to encode the results of users: {error}")))
}

/// Decodes evidence of another agent.
pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    postcard::from_bytes(bytes)
        .map_err(|error| Error::new(format!("failed to decode the results of another agent's users: {error}")))
}
