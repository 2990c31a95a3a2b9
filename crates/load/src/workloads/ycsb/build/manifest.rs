//! The manifest: what the data is and which chunks of it are loaded, kept in the database beside the data.

use crate::workloads::manifest::{self, COMPLETE};
use crate::workloads::ycsb::store::{BlockingStore, TABLE};
use proofload_engine::DocumentBuffer;
use proofload_gen::ycsb::Plan;
use proofload_model::error::Error;
use std::collections::BTreeMap;

/// What the entry of a loaded chunk begins with.
const CHUNK: &str = "chunk ";

/// Records whose bytes the manifest knows the hash of.
const SAMPLE: usize = 100;

/// The manifest of a database, read whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manifest {
    entries: BTreeMap<String, String>,
}

impl Manifest {
    /// Reads it; `None` when the database has none.
    pub(crate) fn read(session: &mut BlockingStore) -> Result<Option<Self>, Error> {
        let entries: BTreeMap<String, String> = session.work(async |store| store.notes().await)?.into_iter().collect();
        Ok((!entries.is_empty()).then_some(Self { entries }))
    }

    /// An error unless the data are those that are wanted; it names each difference and what to do.
    pub(crate) fn fits(&self, wanted: &[(String, String)]) -> Result<(), Error> {
        let remedy = format!(
            "give the study another name, storage.path or database, or remove {TABLE} and the manifest to load again"
        );
        manifest::fits(|name| self.text(name), wanted, &remedy)
    }

    /// Whether this is noted, with this text.
    pub(super) fn holds(&self, (entry, content): &(String, String)) -> bool {
        self.text(entry) == Some(content)
    }

    fn text(&self, entry: &str) -> Option<&str> {
        self.entries.get(entry).map(String::as_str)
    }

    /// Whether the load is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.entries.contains_key(COMPLETE)
    }

    /// Whether a chunk is loaded.
    pub(super) fn has(&self, chunk: u64) -> bool {
        self.entries.contains_key(&chunk_entry(chunk))
    }
}

/// Everything that must agree: the settings of the data and the hash of its first records.
pub(crate) fn wanted(data: Vec<(String, String)>, plan: &Plan) -> Vec<(String, String)> {
    let mut entries = data;
    entries.push(("hash of the first records".to_owned(), format!("{:016x}", sample_hash(plan))));
    entries
}

/// The entry of a chunk.
pub(super) fn chunk_entry(chunk: u64) -> String {
    format!("{CHUNK}{chunk}")
}

/// The entry of the end.
pub(super) fn complete_entry(records: u64) -> (String, String) {
    (COMPLETE.to_owned(), format!("{records} records"))
}

/// FNV-1a, 64 bits, over keys and values of the first records, each preceded by its length.
/// Source: Fowler, Noll, Vo, IETF draft-eastlake-fnv.
fn sample_hash(plan: &Plan) -> u64 {
    let mut buffer = DocumentBuffer::new();
    super::chunk::RecordSource::new(plan, 0, SAMPLE).next(&mut buffer);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for record in buffer.iter() {
        add(record.key().as_bytes());
        record.values().for_each(|(_, value)| add(value));
    }
    hash
}
