//! A host that we do not run on, watched through the text that an exporter serves: node_exporter, windows_exporter, or any other
//! endpoint of Prometheus' text format. Its readings stand under the names of the probes that would have read them on the host itself.
//! Lists and re-exports.

mod endpoint;
mod exposition;
mod hosts;
mod kept;
mod probe;

pub(super) use probe::open;
