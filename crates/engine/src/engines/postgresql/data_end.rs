//! Where the log of a stopped instance ends, as its control file says. Source: PostgreSQL manual, "`pg_controldata`".

use super::installation;
use crate::contract::Error;
use crate::engines::program::{ANSWERS_WITHIN, said_within};
use proofload_model::wire::host::DataEnd;
use std::path::Path;
use std::process::Command;

/// What a cleanly stopped primary or standby says of its state.
const STOPPED: &[&str] = &["shut down", "shut down in recovery"];

/// Reads it by `pg_controldata`.
pub(super) fn read(folder: &Path) -> Result<DataEnd, Error> {
    let program = installation::with(&["pg_controldata"])?.join("pg_controldata");
    let failed = |text: &str| Error::other(format!("failed to read the control file of {}: {text}", folder.display()));
    let mut command = Command::new(&program);
    command.arg(folder).env("LC_ALL", "C");
    let said = said_within(command, ANSWERS_WITHIN);
    let said = said.map_err(|error| failed(&format!("{}: {error}", program.display())))?;
    if !said.status.success() {
        return Err(failed(said.stderr.trim()));
    }
    of(&said.stdout).map_err(|text| failed(&text))
}

fn of(text: &str) -> Result<DataEnd, String> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(|value| value.trim().to_owned()).ok_or_else(|| format!("pg_controldata does not print {name:?}"))
    };
    let state = value("Database cluster state")?;
    if !STOPPED.contains(&state.as_str()) {
        return Err(format!("the server was not stopped cleanly: {state:?}"));
    }
    let (place, timeline) = (value("Latest checkpoint location")?, value("Latest checkpoint's TimeLineID")?);
    Ok(DataEnd { system: value("Database system identifier")?, checkpoint: format!("{place} of timeline {timeline}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "pg_control version number:            1300\nDatabase system identifier:           7\nDatabase cluster state:               STATE\n\
                        Latest checkpoint location:           0/3000028\nLatest checkpoint's TimeLineID:       1\n";

    #[test]
    fn the_end_of_a_stopped_instance_is_read() {
        let end = DataEnd { system: "7".to_owned(), checkpoint: "0/3000028 of timeline 1".to_owned() };
        for state in STOPPED {
            assert_eq!(of(&TEXT.replace("STATE", state)), Ok(end.clone()));
        }
        assert!(of(&TEXT.replace("STATE", "in production")).unwrap_err().contains("not stopped cleanly"));
        assert!(of("").is_err());
    }
}
