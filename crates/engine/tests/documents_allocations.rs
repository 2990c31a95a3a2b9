//! A call of a session of documents allocates nothing once its memory has grown. A binary of its own, because the allocator counts
//! a process; the server is another process.

#[path = "support/op_msg_server/mod.rs"]
mod op_msg_server;

use op_msg_server::{Behaviour, Process, serve_if_asked};
use proofload_engine::{AnyDocuments, Collection, DocumentBuffer, Documents, ENGINES, Engine, Error, Fields, Target};
use proofload_model::wire::DataLocation;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Rounds counted, each of one find of all fields, one of one field, one update, one scan and one insertion.
const ROUNDS: usize = 200;

#[test]
fn a_call_allocates_nothing() {
    if serve_if_asked(Behaviour::null_target()) {
        return;
    }
    let server = Process::start(&["--exact", "a_call_allocates_nothing", "--nocapture"]);
    for engine in ENGINES.iter().filter(|engine| engine.facts().capabilities.documents) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let allocations = runtime.block_on(count(*engine, &server.url)).expect("calls");
        assert_eq!(allocations, 0, "{}: in {ROUNDS} rounds", engine.facts().name);
    }
}

async fn count(engine: &dyn Engine, url: &str) -> Result<usize, Error> {
    let url = engine.facts().capabilities.url.then(|| url.to_owned());
    let place = DataLocation {
        engine: engine.facts().name.to_owned(),
        folder: String::new(),
        url,
        settings: Vec::new(),
        tier: None,
    };
    let mut session = engine.connect_documents(&Target::new(place, None)).await?;
    let fields = (0..10).map(|field| format!("field{field}")).collect();
    session.open(&Collection { name: "usertable".to_owned(), fields }).await?;
    let (mut batch, mut found) = (DocumentBuffer::new(), DocumentBuffer::new());
    for _ in 0..10 {
        round(&mut session, &mut batch, &mut found).await?;
    }
    let region = Region::new(ALLOCATOR);
    for _ in 0..ROUNDS {
        round(&mut session, &mut batch, &mut found).await?;
    }
    let change = region.change();
    Ok(change.allocations + change.reallocations)
}

async fn round(
    session: &mut AnyDocuments,
    batch: &mut DocumentBuffer,
    found: &mut DocumentBuffer,
) -> Result<(), Error> {
    found.clear();
    session.find("user0", Fields::All, found).await?;
    session.find("user0", Fields::One(7), found).await?;
    session.scan("user0", 30, Fields::All, found).await?;
    assert_eq!(found.len(), 32);
    batch.clear();
    for key in ["user1", "user2"] {
        batch.begin(key);
        (0..10).for_each(|field| batch.put_with(field, 100, |value| value.fill(b'x')));
    }
    assert_eq!(session.update(batch.get(0).expect("two documents")).await?, 1);
    assert_eq!(session.insert(batch).await?.count, 2);
    Ok(())
}
