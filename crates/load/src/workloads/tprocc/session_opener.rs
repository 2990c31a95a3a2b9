//! Opens sessions for users: connected, with the statements of the study's form prepared. May not run transactions.

use proofload_engine::{AnySession, Engine, Error, Session as _, Statement, Target};

/// Everything needed to open sessions of users, at first and after a lost connection.
pub(super) struct SessionOpener {
    pub(super) engine: &'static dyn Engine,
    pub(super) target: Target,
    pub(super) statements: Vec<Statement>,
    /// Whether the statements have New-Order and Payment in one flight.
    pub(super) in_one_flight: bool,
}

impl SessionOpener {
    /// A session that is ready for transactions.
    pub(super) async fn session(&self) -> Result<AnySession, Error> {
        let mut session = self.target.connect(async |target| self.engine.connect(target).await).await?;
        session.prepare(&self.statements).await?;
        Ok(session)
    }
}
