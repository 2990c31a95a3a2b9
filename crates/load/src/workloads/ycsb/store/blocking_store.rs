//! A store with a runtime of its own, for work outside the hot path: loads and checks. Blocking.

use super::any::Store;
use super::dialect::StoreDialect;
use super::documents::DocumentStore;
use super::sql::SqlStore;
use crate::workloads::blocking_session::runtime;
use crate::workloads::ycsb::settings::YcsbSettings;
use proofload_engine::{Engine, Target};
use proofload_model::error::Error;
use tokio::runtime::Runtime;

/// A store and its runtime.
pub(crate) struct BlockingStore {
    runtime: Runtime,
    /// The session.
    pub(crate) store: Store,
}

/// Everything needed to open a session.
#[derive(Clone, Copy)]
pub(crate) struct StoreAccess<'a> {
    pub(crate) engine: &'static dyn Engine,
    pub(crate) target: &'a Target,
    pub(crate) dialect: &'a StoreDialect,
    pub(crate) settings: &'a YcsbSettings,
}

impl StoreAccess<'_> {
    /// A session without prepared statements: the table may not be there yet.
    pub(crate) async fn connect(self) -> Result<Store, Error> {
        let fields = self.settings.shape.fields;
        if self.dialect.suite.is_none() {
            let session = self.target.connect(async |target| self.engine.connect_documents(target).await).await?;
            return Ok(Store::Documents(DocumentStore::new(session, fields).await?));
        }
        let session = self.target.connect(async |target| self.engine.connect(target).await).await?;
        Ok(Store::Sql(Box::new(SqlStore::new(session, self.dialect, fields)?)))
    }

    /// A session that is ready for operations.
    pub(crate) async fn connect_for_operations(self) -> Result<Store, Error> {
        let mut store = self.connect().await?;
        if let Store::Sql(sql) = &mut store {
            sql.prepare().await?;
        }
        Ok(store)
    }
}

impl BlockingStore {
    /// Connects; the table may not be there yet.
    pub(crate) fn open(access: StoreAccess<'_>) -> Result<Self, Error> {
        let runtime = runtime()?;
        let store = runtime.block_on(access.connect())?;
        Ok(Self { runtime, store })
    }

    /// Connects and prepares for operations.
    pub(crate) fn open_for_operations(access: StoreAccess<'_>) -> Result<Self, Error> {
        let runtime = runtime()?;
        let store = runtime.block_on(access.connect_for_operations())?;
        Ok(Self { runtime, store })
    }

    /// Does work on the store.
    pub(crate) fn work<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Store) -> Result<T, proofload_engine::Error>,
    ) -> Result<T, Error> {
        let Self { runtime, store } = self;
        Ok(runtime.block_on(work(store))?)
    }
}
