//! Blocking questions to a server, for work beside the load: a runtime of their own, and a connection that is kept. May not know any engine
//! by name.

use crate::contract::Error;
use std::time::Duration;
use tokio::runtime::Runtime;

/// Longest wait of a probe or an observer for an answer.
pub(in crate::engines) const PATIENCE: Duration = Duration::from_secs(3);

/// A runtime for one blocking task.
pub(in crate::engines) fn runtime() -> Result<Runtime, Error> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| Error::other(format!("failed to start the async runtime: {error}")))
}

/// Awaits work; an error where it takes longer.
pub(in crate::engines) async fn in_time<T>(
    patience: Duration,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let late = |_| Err(Error::other(format!("no answer within {patience:?}")));
    tokio::time::timeout(patience, work).await.unwrap_or_else(late)
}

/// Asks on a thread of its own, because a runtime may not be started inside another.
pub(in crate::engines) fn asked_apart<F>(ask: impl FnOnce() -> F + Send + 'static) -> Result<(), Error>
where
    F: Future<Output = Result<(), Error>>,
{
    let asked = std::thread::spawn(move || runtime()?.block_on(ask())).join();
    asked.unwrap_or_else(|_| Err(Error::other("the probe of the server panicked")))
}

/// A connection that the first question opens, and the next one after it was lost, with the runtime on which it lives.
pub(in crate::engines) struct KeptLink<L> {
    /// Declared before the runtime, on which it is registered.
    link: Option<L>,
    runtime: Runtime,
}

impl<L> std::fmt::Debug for KeptLink<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptLink").finish_non_exhaustive()
    }
}

impl<L> KeptLink<L> {
    /// A link that is not open yet.
    pub(in crate::engines) fn new() -> Result<Self, Error> {
        Ok(Self { link: None, runtime: runtime()? })
    }

    /// The runtime, for other connections beside this one.
    pub(in crate::engines) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Closes the connection, so that the next question opens another.
    pub(in crate::engines) fn close(&mut self) {
        self.link = None;
    }

    /// Asks over the connection, which is opened where there is none and closed by an error. Both together are awaited for so long.
    pub(in crate::engines) fn ask<T>(
        &mut self,
        patience: Duration,
        open: impl AsyncFnOnce() -> Result<L, Error>,
        question: impl AsyncFnOnce(&mut L) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Self { link, runtime } = self;
        let asked = async {
            let link = match link {
                Some(link) => link,
                None => link.insert(open().await?),
            };
            question(link).await
        };
        let outcome = runtime.block_on(in_time(patience, asked));
        if outcome.is_err() {
            self.close();
        }
        outcome
    }
}
