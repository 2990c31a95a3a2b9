//! How a local instance is made, started and stopped.
//!
//! The instance listens on no network, unless it has a binary log for standbys to follow; then at a port of the loopback interface, by which
//! only they come in, with passwords of their own. The socket of its users lies in its data folder, which has mode 0700, so that an account without a password
//! admits the instance's user and root alone and no password exists that could leak.

use super::flavour::{FamilyMember, Flavour};
use super::{configuration, installation, log_size, probe};
use crate::contract::{CommandLine, Error, FileToWrite, ServerRecipe};
use crate::engines::program::command_line;
use std::path::{Path, PathBuf};

impl<F: FamilyMember> ServerRecipe for F {
    fn unprivileged_users(&self) -> &'static [&'static str] {
        &["mysql", "postgres", "nobody"]
    }

    /// Temporary files stay in the folder too: a server that starts removes what others have left where it keeps its own.
    fn create(&self, folder: &Path) -> Result<Vec<CommandLine>, Error> {
        let programs = installation::find(F::FLAVOUR)?;
        let temporary = format!("--tmpdir={}", folder.display());
        let folder = format!("--datadir={}", folder.display());
        let options = ["--no-defaults", folder.as_str(), temporary.as_str()];
        let options = options.iter().chain(F::FLAVOUR.instance.create).map(|&option| option.to_owned()).collect();
        Ok(vec![command_line(programs.install, options)])
    }

    fn configure(&self, folder: &Path, settings: &[(String, String)], port: u16) -> Result<Vec<FileToWrite>, Error> {
        let content = configuration::my_cnf(F::FLAVOUR, folder, settings, port)?;
        let closed = F::FLAVOUR.replication.closed.to_owned();
        Ok(vec![
            FileToWrite { path: PathBuf::from(configuration::FILE), content },
            FileToWrite { path: PathBuf::from(configuration::START_FILE), content: closed },
        ])
    }

    fn log_after_build(&self, folder: &Path, settings: &[(String, String)]) -> Result<Option<FileToWrite>, Error> {
        let content = log_size::after_build(F::FLAVOUR, folder, settings)?;
        Ok(content.map(|content| FileToWrite { path: PathBuf::from(configuration::FILE), content }))
    }

    fn start(&self, folder: &Path) -> Result<CommandLine, Error> {
        let programs = installation::find(F::FLAVOUR)?;
        let defaults = format!("--defaults-file={}", folder.join(configuration::FILE).display());
        Ok(command_line(programs.server, vec![defaults]))
    }

    fn address(&self, folder: &Path, port: u16) -> String {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        address(F::FLAVOUR, &folder.join(F::FLAVOUR.instance.socket), port)
    }

    fn probe(&self, address: &str) -> Result<(), Error> {
        probe::probe(address)
    }

    fn running_pid(&self, folder: &Path) -> Option<u32> {
        std::fs::read_to_string(folder.join(F::FLAVOUR.instance.process_file)).ok()?.trim().parse().ok()
    }
}

/// Address by a socket, with the port at which standbys come.
pub(super) fn address(flavour: &Flavour, socket: &Path, port: u16) -> String {
    let socket = encoded(&socket.display().to_string());
    format!("{}://root@localhost:{port}/{}?socket={socket}", flavour.name, super::address::DATABASE)
}

/// A path as a value of a URL.
fn encoded(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_');
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::mysql::Mysql;
    use crate::engines::mysql_family::address::ServerAddress;

    #[test]
    fn any_folder_stands_in_an_address() {
        let address = Mysql.address(Path::new("/tmp/a b?&%ä"), 1);
        let parsed = ServerAddress::parse(&address).expect("it is an address");
        assert_eq!(parsed.in_words(), "proofload on /tmp/a b?&%ä/mysqld.sock");
    }
}
