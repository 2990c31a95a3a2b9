//! An ssh server on each host of a network, keys made for it, and the configuration of a client that knows them.

use super::lan::{Lan, LanHost};
use super::processes::{Daemons, output_of, until};
use crate::work_folder::WorkFolder;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

/// The servers, ended when this is dropped.
pub(super) struct SshServers<'f> {
    folder: &'f WorkFolder,
    running: Daemons,
}

impl<'f> SshServers<'f> {
    /// Makes keys and starts a server on each host.
    pub(super) fn start(folder: &'f WorkFolder, lan: &Lan) -> Result<Self, String> {
        make_key(folder, "client")?;
        let mut servers = Self { folder, running: Daemons::default() };
        for host in &lan.hosts {
            make_key(folder, &host.name)?;
            servers.serve(host)?;
        }
        servers.know(lan)?;
        Ok(servers)
    }

    /// Starts the server of a host, with the key that it has now.
    pub(super) fn serve(&mut self, host: &LanHost) -> Result<(), String> {
        std::fs::create_dir_all("/run/sshd").map_err(|error| format!("making /run/sshd: {error}"))?;
        let LanHost { name, address } = host;
        let here = self.folder.here().display();
        let text = format!(
            "ListenAddress {address}\nHostKey {here}/{name}\nAuthorizedKeysFile {here}/client.pub\nPidFile none\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
        );
        let settings = self.folder.write(&format!("sshd-{name}"), &text)?;
        let [first, second] = Lan::on(name);
        let mut command = Command::new(first);
        command.arg(second).args(["/usr/sbin/sshd", "-D", "-e", "-f"]).arg(settings);
        self.running.start(&mut command, &self.folder.path(&format!("sshd-{name}.log")))?;
        let at = format!("{address}:22");
        let address = at.parse().map_err(|error| format!("{at}: {error}"))?;
        let listens = || std::net::TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok();
        until(&format!("the ssh server of {name} listens"), PATIENCE, listens).map(drop)
    }

    /// Has the client know every host's key as it is now.
    pub(super) fn know(&self, lan: &Lan) -> Result<(), String> {
        let mut known = String::new();
        let mut settings = format!(
            "UserKnownHostsFile {0}/known\nIdentityFile {0}/client\nIdentitiesOnly yes\nStrictHostKeyChecking yes\nBatchMode yes\nUser root\n\
             ConnectTimeout 5\n",
            self.folder.here().display()
        );
        for LanHost { name, address } in &lan.hosts {
            let key = std::fs::read_to_string(self.folder.path(&format!("{name}.pub")));
            known += &format!("{address} {}", key.map_err(|error| format!("reading a key of {name}: {error}"))?);
            settings += &format!("Host {name}\n  HostName {address}\n");
        }
        self.folder.write("known", &known)?;
        self.folder.write("config", &settings).map(drop)
    }

    /// Gives a host another key, which the client does not know.
    pub(super) fn change_key(&self, name: &str) -> Result<(), String> {
        for file in [name.to_owned(), format!("{name}.pub")] {
            let path = self.folder.path(&file);
            std::fs::remove_file(&path).map_err(|error| format!("removing {}: {error}", path.display()))?;
        }
        make_key(self.folder, name).map(drop)
    }

    /// First words of a client's command, as a study has them.
    pub(super) fn client(&self) -> String {
        format!("\"ssh\", \"-F\", \"{}\", \"-T\"", self.folder.path("config").display())
    }
}

fn make_key(folder: &WorkFolder, name: &str) -> Result<PathBuf, String> {
    let path = folder.path(name);
    output_of(&["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", &path.display().to_string()])?;
    Ok(path)
}
