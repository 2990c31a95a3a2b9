//! `verify` and `sign`: the answer first, its exit code, and signatures that `ssh-keygen` itself makes and checks.
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

mod support;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::synthetic::Synthetic;
use support::{Bench, text};

/// A folder with a record, keys and allowed signers. `None` without `ssh-keygen`, visibly.
fn with_keys(test: &str) -> Option<Bench> {
    let bench = Bench::new(test);
    Synthetic::of(40.0, 1).write(&bench.path("x.proof"));
    for name in ["vendor", "other"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
            .arg(bench.path(name))
            .stdin(Stdio::null())
            .status();
        if !made.is_ok_and(|status| status.success()) {
            println!("SKIPPED: {test}: ssh-keygen is not here");
            return None;
        }
    }
    let key = std::fs::read_to_string(bench.path("vendor.pub")).expect("the public key");
    std::fs::write(bench.path("allowed"), format!("vendor@example.com {key}")).expect("a file of signers");
    Some(bench)
}

fn first_line(output: &Output) -> String {
    text(&output.stdout).lines().next().unwrap_or_default().to_owned()
}

/// `ssh-keygen` with a file on its standard input.
fn ssh_keygen(bench: &Bench, arguments: &[&str], message: &str) -> Output {
    let message = std::fs::File::open(bench.path(message)).expect("the file is there");
    let mut command = Command::new("ssh-keygen");
    command.args(arguments).current_dir(bench.path(".")).stdin(message).output().expect("it starts")
}

#[test]
fn a_record_that_holds_says_so_first_and_a_changed_one_where_it_is_broken() {
    let bench = Bench::new("verify");
    Synthetic::of(40.0, 1).write(&bench.path("x.proof"));
    let whole = bench.run(&["verify", "x.proof"]);
    assert_eq!((whole.status.code(), first_line(&whole).as_str()), (Some(0), "intact: x.proof"));
    let told = text(&whole.stdout);
    let format = format!("format        {}\n", proofload_record::FORMAT);
    for expected in ["SHA-256 ", &format, "closed", "6 of 6 sealed; 6 planned", "signature     none"] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let json: serde_json::Value =
        serde_json::from_slice(&bench.run(&["verify", "x.proof", "--json"]).stdout).expect("JSON");
    assert_eq!((&json["holds"], &json["faults"]), (&true.into(), &serde_json::json!([])));

    let connection = rusqlite::Connection::open(bench.path("x.proof")).expect("it opens");
    let trigger: String = connection
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'fact_no_update'", [], |row| row.get(0))
        .expect("a trigger");
    let change = format!("DROP TRIGGER fact_no_update; UPDATE fact SET effective = '64'; {trigger}");
    connection.execute_batch(&change).expect("SQLite carries it out");
    drop(connection);
    let changed = bench.run(&["verify", "x.proof"]);
    assert_eq!(changed.status.code(), Some(10));
    assert!(first_line(&changed).starts_with("broken: x.proof: documents, sessions or other rows of the study"));
    let report = text(&bench.run(&["report", "x.proof", "--format", "text"]).stdout);
    assert!(report.contains("the seal does not match the stored rows"), "{report}");
    assert!(text(&bench.run(&["status", "x.proof"]).stdout).contains("CHANGED AFTER IT WAS WRITTEN"));
    let key = bench.run(&["sign", "x.proof", "--key", "absent"]);
    assert_eq!(key.status.code(), Some(10), "what does not hold is not signed");
    std::fs::write(bench.path("text"), "no record".repeat(100)).expect("a file");
    assert_eq!(bench.run(&["verify", "text"]).status.code(), Some(1));
}

#[test]
fn a_signature_of_ours_is_checked_by_ssh_keygen_and_the_other_way_round() {
    let Some(bench) = with_keys("a_signature_of_ours_is_checked_by_ssh_keygen_and_the_other_way_round") else { return };
    let signed = bench.run(&["sign", "x.proof", "--key", "vendor"]);
    assert_eq!(signed.status.code(), Some(0), "{}", text(&signed.stderr));
    let check = ["-Y", "verify", "-f", "allowed", "-I", "vendor@example.com", "-n", "proofload-record", "-s"];
    let by_others = ssh_keygen(&bench, &[&check[..], &["x.proof.sig"]].concat(), "x.proof");
    assert!(by_others.status.success(), "{}", text(&by_others.stderr));
    expect_signed(&bench, &["verify", "x.proof", "--allowed-signers", "allowed"]);

    let by_hand = ssh_keygen(&bench, &["-Y", "sign", "-q", "-n", "proofload-record", "-f", "vendor"], "x.proof");
    std::fs::write(bench.path("by-hand.sig"), by_hand.stdout).expect("a signature");
    let identity = ["--allowed-signers", "allowed", "--identity", "vendor@example.com"];
    expect_signed(&bench, &[&["verify", "x.proof", "--signature", "by-hand.sig"][..], &identity].concat());
    let unasked = text(&bench.run(&["verify", "x.proof"]).stdout);
    assert!(unasked.contains("SHA256:") && unasked.contains("the signer was not checked"), "{unasked}");
    assert_eq!(bench.run(&["sign", "x.proof", "--key", "vendor"]).status.code(), Some(1), "one stands there");
}

/// The result of a self-test is signed and verified like a record.
#[test]
fn a_result_of_a_self_test_is_signed_and_verified_like_a_record() {
    let Some(bench) = with_keys("a_result_of_a_self_test_is_signed_and_verified_like_a_record") else { return };
    let tested = bench.run(&["selftest", "--engine", "sqlite", "-o", "sqlite.json"]);
    assert_eq!(tested.status.code(), Some(0), "{}", text(&tested.stderr));
    let written = std::fs::read_to_string(bench.path("sqlite.json")).expect("a result");
    let document: serde_json::Value = serde_json::from_str(&written).expect("JSON");
    for name in ["cores", "memory", "kernel", "system"] {
        assert!(document["machine"][name].is_string(), "{name}: {document:#}");
    }
    let signed = bench.run(&["sign", "sqlite.json", "--key", "vendor"]);
    assert_eq!(signed.status.code(), Some(0), "{}", text(&signed.stderr));
    expect_signed(&bench, &["verify", "sqlite.json", "--allowed-signers", "allowed"]);
    expect_signed(&bench, &["selftest", "--check", "sqlite.json", "--allowed-signers", "allowed"]);
    // Told before the first step, so that no result is lost.
    for (file, key, why) in [("absent/x.json", "vendor", "absent"), ("late.json", "nokey", "the key nokey")] {
        let refused = bench.run(&["selftest", "--engine", "sqlite", "-o", file, "--key", key]);
        let told = text(&refused.stderr);
        assert!(refused.status.code() == Some(1) && told.contains(why), "{told}");
        assert!(!told.contains("passed") && !bench.path(file).exists(), "{told}");
    }
    let whole = bench.run(&["verify", "sqlite.json"]);
    assert_eq!((whole.status.code(), first_line(&whole).as_str()), (Some(0), "intact: sqlite.json"));
    let told = text(&whole.stdout);
    assert!(told.contains("self-test     passed: sqlite ") && told.contains("written by    proofload "), "{told}");
    let json: serde_json::Value =
        serde_json::from_slice(&bench.run(&["verify", "sqlite.json", "--json"]).stdout).expect("JSON");
    assert!(json["holds"] == true && json["self_test"].as_str().is_some_and(|told| told.starts_with("passed: ")));
    let reported = bench.run(&["report", "sqlite.json"]);
    assert_eq!(reported.status.code(), Some(1));
    assert!(text(&reported.stderr).contains("selftest --check sqlite.json"), "{}", text(&reported.stderr));

    std::fs::write(bench.path("changed.json"), written.replacen("\"passed\"", "\"skipped\"", 1)).expect("a file");
    let changed = bench.run(&["verify", "changed.json"]);
    assert_eq!(changed.status.code(), Some(10), "{}", text(&changed.stdout));
    assert!(first_line(&changed).starts_with("broken: changed.json: "), "{}", text(&changed.stdout));
    let refused = bench.run(&["sign", "changed.json", "--key", "vendor"]);
    assert!(refused.status.code() == Some(10) && !bench.path("changed.json.sig").exists(), "{}", text(&refused.stderr));
}

#[track_caller]
fn expect_signed(bench: &Bench, arguments: &[&str]) {
    let output = bench.run(arguments);
    let told = text(&output.stdout);
    assert!(output.status.code() == Some(0) && told.contains("signature for vendor@example.com"), "{told}");
}

#[test]
fn a_record_in_which_nothing_is_missing_is_resumed_without_a_change() {
    let test = "a_record_in_which_nothing_is_missing_is_resumed_without_a_change";
    let Some(bench) = with_keys(test) else { return };
    Synthetic::of(400.0, 1).write_anew(&bench.path("x.proof"));
    assert_eq!(bench.run(&["sign", "x.proof", "--key", "vendor"]).status.code(), Some(0));
    let before = std::fs::read(bench.path("x.proof")).expect("it is there");
    for (arguments, said) in [
        (&["resume", "x.proof"][..], "nothing is missing in x.proof; the file was not changed"),
        (&["resume", "x.proof", "--void"], "nothing is missing in x.proof, and no point is void because of the host"),
        (&["resume", "x.proof", "--progress", "json"], "{\"event\":\"note\",\"text\":\"nothing is missing in x.proof;"),
    ] {
        let told = text(&bench.run(arguments).stderr);
        assert!(told.contains(said) && told.contains("x.html"), "{arguments:?}: {told}");
        let after = std::fs::read(bench.path("x.proof")).expect("it is there");
        assert!(before == after, "{arguments:?} changed the record");
        expect_signed(&bench, &["verify", "x.proof", "--allowed-signers", "allowed"]);
    }
}

#[test]
fn signatures_that_do_not_fit_are_faults() {
    let Some(bench) = with_keys("signatures_that_do_not_fit_are_faults") else { return };
    let allowed = ["verify", "x.proof", "--allowed-signers", "allowed"];
    let unsigned = bench.run(&allowed);
    assert_eq!(unsigned.status.code(), Some(10), "{}", text(&unsigned.stdout));
    // Somebody who is not allowed, another purpose, another record.
    for (key, purpose, message) in [
        ("other", "proofload-record", "x.proof"),
        ("vendor", "file", "x.proof"),
        ("vendor", "proofload-record", "allowed"),
    ] {
        let signature = ssh_keygen(&bench, &["-Y", "sign", "-q", "-n", purpose, "-f", key], message).stdout;
        std::fs::write(bench.path("x.proof.sig"), signature).expect("a signature");
        let output = bench.run(&allowed);
        assert_eq!(output.status.code(), Some(10), "{key}, {purpose}, {message}: {}", text(&output.stdout));
        assert!(first_line(&output).starts_with("broken: x.proof: "), "{}", text(&output.stdout));
    }
    let told = text(&bench.run(&allowed).stdout);
    assert!(told.contains("incorrect signature; Could not verify signature.") && !told.contains('\u{fffd}'), "{told}");
    std::fs::remove_file(bench.path("x.proof.sig")).expect("it was written");
    assert_eq!(bench.run(&["sign", "x.proof", "--key", "vendor"]).status.code(), Some(0));
    let other = bench.run(&[&allowed[..], &["--identity", "other@example.com"]].concat());
    assert_eq!(other.status.code(), Some(10));
    let told = first_line(&other);
    let expected = "broken: x.proof: not signed by other@example.com: x.proof.sig is made with ED25519 key SHA256:";
    assert!(told.starts_with(expected), "{told}");
    let absent = bench.run(&["sign", "x.proof", "--key", "absent", "-o", "new.sig"]);
    assert!(absent.status.code() == Some(1) && !Path::new(&bench.path("new.sig")).exists());
}
