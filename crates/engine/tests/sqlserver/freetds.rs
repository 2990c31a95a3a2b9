//! FreeTDS's `tsql` as another client of the server of the tests: what the server makes of the protocol's document, a client that knows real
//! servers understands.

use crate::places::integers;
use crate::tds_server::{Part, Setup, TdsServer};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Tells what `tsql` writes of these lines, on both its outputs; `None` where it is not installed.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn tsql(server: &TdsServer, lines: &str) -> Option<String> {
    let port = server.port().to_string();
    let mut command = Command::new("timeout");
    command.args(["60", "tsql", "-o", "q", "-H", "127.0.0.1", "-p", &port, "-U", "me", "-P", "733363726574"]);
    command.env("TDSVER", "7.4").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let is_there = Command::new("tsql").arg("-C").output().is_ok();
    if !is_there {
        println!("SKIPPED: tsql of FreeTDS is not installed (freetds-bin)");
        return None;
    }
    let mut child = command.spawn().expect("timeout runs");
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("it reads");
    let written = child.wait_with_output().expect("it ends");
    Some(format!("{}{}", String::from_utf8_lossy(&written.stdout), String::from_utf8_lossy(&written.stderr)))
}

#[test]
fn another_client_logs_on_reads_rows_and_the_number_of_an_error() {
    let server = TdsServer::start(Setup { packet_size: 4096, ..Setup::default() }, |sql, _| match sql.trim() {
        "SELECT 7, 12345" => integers(&[&[7, 12_345], &[8, -1]]),
        "SELECT wrong" => {
            vec![Part::Error { number: 207, severity: 16, procedure: "", line: 3, message: "Invalid column name." }]
        }
        _ => Vec::new(),
    });
    let Some(told) = tsql(&server, "SELECT 7, 12345\ngo\nSELECT wrong\ngo\nexit\n") else { return };
    assert!(told.contains("7\t12345") && told.contains("8\t-1"), "{told}");
    assert!(told.contains("Msg 207") && told.contains("Invalid column name."), "{told}");
    let log = server.log();
    assert!(log.iter().any(|line| line.starts_with("login of me ")), "{log:?}");
}
