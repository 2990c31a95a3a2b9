//! Our own client in both forms and by the rules of HammerDB, as a child process, so that its CPU is counted as that of
//! the others.

use super::client::{self, Work};
use super::measure::Ran;
use super::peer::{Completed, Load, Peer, in_its_schema};
use super::server::{Server, ServerKind};
use std::process::Command;

/// Where our build puts its data, for us and for pgbench.
pub(crate) const DATABASE: &str = "proofload";
pub(crate) const DISTRICTS: &str = "proofload.district";
/// The same for the data by the rules of HammerDB.
const COMPATIBLE: &str = "proofload_compatible";

/// What the names of ours begin with.
pub(crate) const NAME: &str = "Proofload, ";

struct Ours {
    form: &'static str,
    profile: Profile,
    name: String,
}

/// Rules of data and transactions.
#[derive(Debug, Clone, Copy)]
enum Profile {
    Clauses,
    HammerDb,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Clauses => "spec",
            Self::HammerDb => "hammerdb-compatible",
        }
    }

    fn database(self) -> &'static str {
        match self {
            Self::Clauses => DATABASE,
            Self::HammerDb => COMPATIBLE,
        }
    }
}

fn work(form: &'static str, profile: Profile, server: &Server, load: Load) -> Work {
    Work {
        engine: server.kind.engine(),
        address: server.address(profile.database()),
        form,
        profile: profile.name(),
        warehouses: load.warehouses,
        users: load.users,
        seconds: load.seconds,
    }
}

fn find(form: &'static str, server: &Server, load: Load) -> Box<dyn Peer> {
    // Ends at once when the data are there.
    client::build(&work(form, Profile::Clauses, server, load));
    Box::new(Ours { form, profile: Profile::Clauses, name: format!("{NAME}{form}") })
}

/// The rules of HammerDB, with procedures as it has them.
pub(crate) fn compatible(server: &Server, load: Load) -> Result<Box<dyn Peer>, String> {
    let (form, profile) = ("procedures", Profile::HammerDb);
    server.create_database(COMPATIBLE)?;
    client::build(&work(form, profile, server, load));
    Ok(Box::new(Ours { form, profile, name: format!("{NAME}{}", profile.name()) }))
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
        self.profile.database()
    }

    /// Our schema in PostgreSQL has our name, whatever the database's.
    fn districts(&self, kind: ServerKind) -> String {
        match kind {
            ServerKind::PostgreSql => DISTRICTS.to_owned(),
            ServerKind::MariaDb => in_its_schema(self.database(), kind, "district"),
        }
    }

    fn command(&self, server: &Server, load: Load) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        command.args(work(self.form, self.profile, server, load).words());
        command
    }

    fn completed(&self, ran: &Ran, load: Load) -> Option<Completed> {
        let count = ran.output.lines().find_map(|line| line.strip_prefix("completed "))?;
        Completed::within(load, count.parse().ok()?)
    }
}
