//! The first line of an agent, and the conductor's answer: magic, protocol version, program version. Noise of launchers before the agent's is skipped, up
//! to a bound; before the conductor's there is none, and an agent does nothing for whoever does not say it.

use proofload_model::error::Error;
use proofload_model::wire::PROTOCOL;
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

/// Begins the greeting line.
const MAGIC: &str = "PROOFLOAD-AGENT";

/// Begins the conductor's line.
const CONDUCTOR: &str = "PROOFLOAD-CONDUCTOR";

/// Noise before the greeting that is skipped: a login banner, not a stream of something else.
const NOISE: usize = 64 * 1024;

/// Writes the greeting.
pub(super) fn greet(output: &mut impl Write) -> std::io::Result<()> {
    writeln!(output, "{MAGIC} {PROTOCOL} {}", env!("CARGO_PKG_VERSION"))?;
    output.flush()
}

/// Answers an agent's greeting.
pub(super) fn answer(output: &mut impl Write) -> std::io::Result<()> {
    writeln!(output, "{}", conductor_line())?;
    output.flush()
}

fn conductor_line() -> String {
    format!("{CONDUCTOR} {PROTOCOL} {}", env!("CARGO_PKG_VERSION"))
}

/// Reads the conductor's answer; false when the stream ended before it.
pub(super) fn expect_conductor(input: &mut impl Read) -> Result<bool, Error> {
    let expected = conductor_line() + "\n";
    let mut line = Vec::new();
    // A byte at a time: what follows the line is not ours.
    for wanted in expected.bytes() {
        let mut byte = [0];
        match input.read(&mut byte) {
            Ok(0) => return Ok(false),
            Ok(_) => line.push(byte[0]),
            Err(error) => return Err(Error::new(format!("failed to wait for the conductor: {error}"))),
        }
        if byte[0] != wanted {
            return Err(Error::refused(format!(
                "unexpected input {:?} instead of a conductor's greeting; agents are started by `proofload run`",
                String::from_utf8_lossy(&line)
            )));
        }
    }
    Ok(true)
}

/// Reads up to and including the greeting line; refuses another protocol or program version. `late` tells for how long it was waited, where
/// the agent was ended for that.
pub(super) fn expect_greeting(input: &mut impl Read, late: impl Fn() -> Option<Duration>) -> Result<(), Error> {
    let mut line = Vec::new();
    let mut last = String::new();
    let mut skipped = 0;
    loop {
        let mut byte = [0];
        input.read_exact(&mut byte).map_err(|error| {
            let end = String::from_utf8_lossy(&line).trim().to_owned();
            let heard = if end.is_empty() { &last } else { &end };
            let end = no_greeting(&error, late(), heard);
            Error::new(format!(
                "failed to wait for an agent's greeting: {end}; does the command start `proofload agent`?"
            ))
        })?;
        if byte[0] != b'\n' {
            line.push(byte[0]);
        }
        if skipped + line.len() > NOISE {
            return Err(Error::new(format!(
                "no agent greeting in the first {NOISE} bytes; does the command start `proofload agent` without a terminal (ssh -T)?"
            )));
        }
        if byte[0] == b'\n' {
            let text = String::from_utf8_lossy(&line);
            if let Some(at) = text.find(MAGIC) {
                return check(text[at..].trim());
            }
            if !text.trim().is_empty() {
                last = text.trim().to_owned();
            }
            skipped += line.len() + 1;
            line.clear();
        }
    }
}

/// What came in the place of a greeting, in words.
fn no_greeting(error: &std::io::Error, late: Option<Duration>, heard: &str) -> String {
    let is_end = error.kind() == ErrorKind::UnexpectedEof;
    match (late.map(|within| within.as_secs()), heard) {
        (Some(seconds), "") => format!("its command said nothing for {seconds} s"),
        (Some(seconds), heard) => format!("none within {seconds} s, after {heard:?}"),
        (None, "") if is_end => "its output ended before it said anything".to_owned(),
        (None, heard) if is_end => format!("its output ended after {heard:?}"),
        (None, "") => error.to_string(),
        (None, heard) => format!("{error} after {heard:?}"),
    }
}

/// Same protocol, same version: a study is run by one program.
fn check(greeting: &str) -> Result<(), Error> {
    let ours = format!("{MAGIC} {PROTOCOL} {}", env!("CARGO_PKG_VERSION"));
    if greeting == ours {
        return Ok(());
    }
    Err(Error::new(format!(
        "the agent has a different version: {greeting:?} instead of {ours:?}; install the same Proofload on both machines"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_greeting(input: &str, fault: Option<&str>) {
        let found = expect_greeting(&mut input.as_bytes(), || None).map_err(|error| error.to_string());
        match fault {
            None => assert_eq!(found, Ok(())),
            Some(fault) => assert!(found.clone().is_err_and(|text| text.contains(fault)), "{found:?}"),
        }
    }

    #[test]
    fn banners_are_skipped_and_other_versions_refused() {
        let mut good = Vec::new();
        greet(&mut good).unwrap();
        let good = String::from_utf8(good).unwrap();
        check_greeting(&good, None);
        check_greeting(&format!("Welcome to db1.\n\nLast login: never\r\n{good}"), None);
        check_greeting(&format!("prompt> {good}"), None);
        check_greeting("PROOFLOAD-AGENT 999 0.1.0\n", Some("different version"));
        check_greeting("ssh: connect to host db1: refused\n", Some("does the command start"));
        check_greeting(&"noise\n".repeat(20_000), Some("without a terminal"));
    }

    #[test]
    fn silence_is_told_apart_from_an_end() {
        let told = |mut input: &[u8], late: Option<u64>| {
            let late = || late.map(Duration::from_secs);
            expect_greeting(&mut input, late).map_err(|error| error.to_string()).expect_err("no greeting")
        };
        for (input, late, words) in [
            ("", Some(60), "greeting: its command said nothing for 60 s; does the command"),
            ("Password:", Some(60), "greeting: none within 60 s, after \"Password:\"; does"),
            ("", None, "greeting: its output ended before it said anything; does"),
            ("hello\n", None, "greeting: its output ended after \"hello\"; does"),
        ] {
            let told = told(input.as_bytes(), late);
            assert!(told.contains(words), "{told}");
        }
    }

    #[test]
    fn an_agent_serves_conductors_of_its_version_only() {
        let mut good = Vec::new();
        answer(&mut good).unwrap();
        good.extend(b"rest");
        let mut input = good.as_slice();
        assert_eq!((expect_conductor(&mut input), input), (Ok(true), &b"rest"[..]));
        assert_eq!(expect_conductor(&mut &b""[..]), Ok(false), "the conductor has gone");
        for other in [&b"\x07\0\0\0 a frame of somebody"[..], b"PROOFLOAD-CONDUCTOR 999 0.1.0\n"] {
            assert!(expect_conductor(&mut &other[..]).is_err());
        }
    }
}
