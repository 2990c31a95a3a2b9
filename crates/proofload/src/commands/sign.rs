//! `sign`: a signature over a closed record, or over the result of a self-test, beside it.

use super::{selftest_result, ssh_keygen, target, verify};
use crate::cli::SignArguments;
use crate::exit::Exit;
use crate::output;
use crate::selftest::check;
use std::path::Path;

/// Signs a record or a result that holds.
pub(crate) fn run(arguments: &SignArguments) -> Exit {
    match sign(arguments) {
        Ok(()) => Exit::Good,
        Err((exit, text)) => {
            output::error(&text);
            exit
        }
    }
}

fn sign(arguments: &SignArguments) -> Result<(), (Exit, String)> {
    let failure = |text: String| (Exit::Failure, text);
    let record = &arguments.record;
    let faults: Vec<String> = match selftest_result::found(record) {
        Some(Ok(result)) => check(&result).into_iter().collect(),
        Some(Err(fault)) => return Err((fault.exit(), fault.text(record))),
        None => faults_of(record)?,
    };
    if !faults.is_empty() {
        let text = format!("{} was changed after it was written: {}", record.display(), faults.join("; "));
        return Err((Exit::NotProved, text));
    }
    let file = arguments.output.clone().unwrap_or_else(|| verify::signature_of(record));
    // Looked at first: a key may ask its owner for a passphrase or a touch.
    target::expect_free(&file, arguments.overwrite).map_err(failure)?;
    let signature = ssh_keygen::sign(record, &arguments.key).map_err(failure)?;
    target::write_file(&file, arguments.overwrite, &signature).map_err(failure)
}

/// What is not as it was written in a record, which must be closed.
fn faults_of(record: &Path) -> Result<Vec<String>, (Exit, String)> {
    closed(record).map_err(|text| (Exit::Failure, text))?;
    let proof = proofload_record::prove(record)
        .map_err(|error| (if error.is_damaged() { Exit::NotProved } else { Exit::Failure }, error.to_string()))?;
    Ok(proof.faults)
}

/// A signature is over the file: nothing of the record may stand beside it.
pub(super) fn closed(record: &Path) -> Result<(), String> {
    let beside = |suffix: &str| {
        let mut name = record.as_os_str().to_owned();
        name.push(suffix);
        Path::new(&name).exists()
    };
    if beside("-wal") || beside("-lock") {
        return Err(format!(
            "{} is being written, or its conductor was killed; finish it with `proofload resume` before signing",
            record.display()
        ));
    }
    Ok(())
}
