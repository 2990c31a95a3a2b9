//! The live page beside a study that runs: bound before anything is made, so that a port in use stops nothing half-way.

use crate::live::{Program, View};
use crate::output;
use crate::page::{PageServer, PageShare, PageView, bind};
use proofload_model::time::Clock;
use std::sync::Arc;

/// A page that is served, and what it shows.
pub(super) struct LivePage {
    share: Arc<PageShare>,
    _server: PageServer,
}

impl LivePage {
    /// Serves it where it was asked for, and says where.
    pub(super) fn of(listen: Option<&str>) -> Result<Option<Self>, String> {
        let Some(listen) = listen else { return Ok(None) };
        let (listener, access, address) = bind(listen)?;
        let share = Arc::new(PageShare::new());
        let server = PageServer::start(listener, access, Arc::clone(&share))
            .map_err(|error| format!("failed to serve the live page: {error}"))?;
        output::note(&format!("live page: {address}"));
        Ok(Some(Self { share, _server: server }))
    }

    /// The view that tells it of a study.
    pub(super) fn view(&self, program: Program<'_>, clock: Arc<dyn Clock>) -> Box<dyn View> {
        Box::new(PageView::new(program, clock, Arc::clone(&self.share)))
    }

    /// What it shows.
    pub(super) fn share(&self) -> &PageShare {
        &self.share
    }
}
