//! Fetches the text of an endpoint. May not understand it.

use proofload_model::error::Error;

/// An exporter that does not answer in this time leaves a gap, seconds.
const PATIENCE: u64 = 5;

/// The most bytes that an exporter may serve; a node_exporter serves about 100 kB.
const MOST_BYTES: usize = 64 << 20;

/// What an endpoint serves now.
///
/// # Errors
/// What came back instead.
pub(super) fn fetch(url: &str) -> Result<String, Error> {
    let failed =
        |why: String| Error::new(format!("failed to scrape {url}: {why}; is the exporter running, and its port open?"));
    let request = minreq::get(url).with_header("Accept", "text/plain; version=0.0.4").with_timeout(PATIENCE);
    let response = request.with_max_headers_size(64 << 10).send().map_err(|error| failed(error.to_string()))?;
    if response.status_code != 200 {
        return Err(failed(format!("it answered {} {}", response.status_code, response.reason_phrase)));
    }
    if response.as_bytes().len() > MOST_BYTES {
        return Err(failed(format!("it serves {} bytes, more than {MOST_BYTES}", response.as_bytes().len())));
    }
    response.as_str().map(str::to_owned).map_err(|error| failed(error.to_string()))
}
