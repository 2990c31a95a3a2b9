//! `schema`: the JSON Schema of study files, or the reference of all settings.

use crate::catalogue::catalogue;
use crate::cli::SchemaArguments;
use crate::exit::Exit;
use crate::output;
use proofload_model::settings::{json_schema, reference_page};

/// Prints it.
pub(crate) fn run(arguments: &SchemaArguments) -> Exit {
    let catalogue = catalogue();
    let text = if arguments.reference { reference_page(&catalogue) } else { format!("{:#}", json_schema(&catalogue)) };
    output::conclude(false, &text, Exit::Good)
}
