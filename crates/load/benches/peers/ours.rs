//! Our own client in both forms, as a child process, so that its CPU is counted as that of the others.

use super::client::{self, Work};
use super::measure::Ran;
use super::peer::{Completed, Load, Peer};
use super::server::{Server, ServerKind};
use std::process::Command;

/// Where our build puts its data, for us and for pgbench.
pub(crate) const DATABASE: &str = "proofload";
pub(crate) const DISTRICTS: &str = "proofload.district";

/// What the names of ours begin with.
pub(crate) const NAME: &str = "Proofload, ";

struct Ours {
    form: &'static str,
    name: String,
}

fn work(form: &'static str, server: &Server, load: Load) -> Work {
    let address = server.place.target.address().expect("a started server has one").to_owned();
    Work {
        engine: server.kind.engine(),
        address,
        form,
        warehouses: load.warehouses,
        users: load.users,
        seconds: load.seconds,
    }
}

fn find(form: &'static str, server: &Server, load: Load) -> Box<dyn Peer> {
    // Ends at once when the data are there.
    client::build(&work(form, server, load));
    Box::new(Ours { form, name: format!("{NAME}{form}") })
}

#[expect(clippy::unnecessary_wraps, reason = "its type is that of the list")]
pub(crate) fn procedures(server: &Server, load: Load) -> Result<Box<dyn Peer>, String> {
    Ok(find("procedures", server, load))
}

#[expect(clippy::unnecessary_wraps, reason = "its type is that of the list")]
pub(crate) fn statements(server: &Server, load: Load) -> Result<Box<dyn Peer>, String> {
    Ok(find("statements", server, load))
}

impl Peer for Ours {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn database(&self) -> &str {
        DATABASE
    }

    fn districts(&self, _kind: ServerKind) -> String {
        DISTRICTS.to_owned()
    }

    fn command(&self, server: &Server, load: Load) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        command.args(work(self.form, server, load).words());
        command
    }

    fn completed(&self, ran: &Ran, load: Load) -> Option<Completed> {
        let count = ran.output.lines().find_map(|line| line.strip_prefix("completed "))?;
        Completed::within(load, count.parse().ok()?)
    }
}
