//! BenchBase, its jar in the folder that the variable `BENCHBASE` names, as its package for PostgreSQL unpacks; started
//! by the `java` of `JAVA_HOME`, else of the PATH. Over TCP, because its driver takes no socket. Read committed instead
//! of its sample's serializable, as all others; as fast as it can. No wrapper script: there is none in the package.

use super::measure::Ran;
use super::peer::{Completed, Load, Peer, build, folder_of, version};
use super::server::Server;
use std::path::{Path, PathBuf};
use std::process::Command;

struct BenchBase {
    version: String,
    java: String,
    folder: PathBuf,
    settings: PathBuf,
}

/// Its database.
const DATABASE: &str = "benchbase";

pub(crate) fn find(server: &Server, load: Load) -> Result<Box<dyn Peer>, String> {
    let folder = folder_of("BENCHBASE", "benchbase.jar")?;
    let java = std::env::var("JAVA_HOME").map_or_else(|_| "java".to_owned(), |home| format!("{home}/bin/java"));
    let version = version(&java, &["--version"])?;
    let place = server.folder.with_file_name("benchbase");
    let settings = place.join("tpcc.xml");
    std::fs::create_dir_all(&place).map_err(|error| format!("making {}: {error}", place.display()))?;
    std::fs::write(&settings, text(server, load))
        .map_err(|error| format!("writing {}: {error}", settings.display()))?;
    build(server, DATABASE, command(&java, &folder, &settings).args(["--create=true", "--load=true"]))?;
    Ok(Box::new(BenchBase { version: format!("no version told, on {version}"), java, folder, settings }))
}

fn command(java: &str, folder: &Path, settings: &Path) -> Command {
    let mut command = Command::new(java);
    // It looks for its own configuration where it is started.
    command.current_dir(folder).args(["-jar", "benchbase.jar", "--bench", "tpcc"]);
    command.arg("--config").arg(settings).arg("--directory").arg(settings.with_file_name("results"));
    command
}

/// Its settings, by the names that its samples use.
fn text(server: &Server, load: Load) -> String {
    let kinds = ["NewOrder", "Payment", "OrderStatus", "Delivery", "StockLevel"];
    let kinds = kinds.map(|name| format!("<transactiontype><name>{name}</name></transactiontype>")).concat();
    format!(
        "<?xml version=\"1.0\"?>\n<parameters>
<type>POSTGRES</type><driver>org.postgresql.Driver</driver>
<url>jdbc:postgresql://127.0.0.1:{}/{DATABASE}?sslmode=disable&amp;reWriteBatchedInserts=true</url>
<username>proofload</username><password>none</password>
<isolation>TRANSACTION_READ_COMMITTED</isolation><batchsize>128</batchsize>
<scalefactor>{}</scalefactor><terminals>{}</terminals>
<works><work><time>{}</time><rate>unlimited</rate><weights>45,43,4,4,4</weights></work></works>
<transactiontypes>{kinds}</transactiontypes>\n</parameters>\n",
        server.port, load.warehouses, load.users, load.seconds
    )
}

impl Peer for BenchBase {
    fn name(&self) -> &str {
        "BenchBase, statements, TCP"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn database(&self) -> &str {
        DATABASE
    }

    fn command(&self, _: &Server, _: Load) -> Command {
        let mut run = command(&self.java, &self.folder, &self.settings);
        run.arg("--execute=true");
        run
    }

    /// Counts by kind such as `….procedures.NewOrder/01      [2980] ****` under `Completed Transactions` and `Aborted
    /// Transactions`: all of the first, and the New-Orders of the second, which end at an unused item. The rate is its
    /// own: it loads for a second or two more than it is told, and begins to count late.
    fn completed(&self, ran: &Ran, _: Load) -> Option<Completed> {
        let (_, tables) = ran.output.split_once("Completed Transactions:")?;
        let (completed, rest) = tables.split_once("Aborted Transactions:")?;
        let (aborted, _) = rest.split_once("Rejected Transactions")?;
        let count = |line: &str| line.split_once('[')?.1.split_once(']')?.0.trim().parse::<u64>().ok();
        let sum = |table: &str, of: &str| table.lines().filter(|line| line.contains(of)).filter_map(count).sum::<u64>();
        let transactions = sum(completed, ".procedures.") + sum(aborted, ".procedures.NewOrder");
        let (before, _) = ran.output.split_once(" requests/sec (throughput)")?;
        let per_second = before.rsplit(' ').next()?.parse().ok()?;
        (transactions > 0).then_some(Completed { transactions, per_second })
    }
}
