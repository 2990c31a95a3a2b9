//! Errors of the server by their code, and those of the connection, as classes. May not retry.
//! Source: MongoDB's list of error codes, and its specification "Retryable Writes" for the codes that may be tried again.

use super::bson::Document;
use crate::contract::{Error, ErrorClass};

/// The code of a command that the server does not know.
pub(super) const COMMAND_NOT_FOUND: &str = "59";
/// The code of a login that the server did not accept.
pub(super) const AUTHENTICATION_FAILED: i64 = 18;
/// Codes by which a server refuses somebody: not allowed, not accepted, and what MongoDB Atlas says in the place of both.
const REFUSALS: [i64; 3] = [13, AUTHENTICATION_FAILED, 8000];
/// The code of a document that is too large.
pub(super) const DOCUMENT_TOO_LARGE: i64 = 10334;

/// The class of a server's error code.
fn class(code: i64) -> ErrorClass {
    match code {
        // Write conflict, lock timeout, lock busy, exceeded time limit: nothing was done.
        112 | 24 | 46 | 262 | 50 => ErrorClass::Retryable,
        // Not primary any more or not yet, stepped down, transaction aborted, stale routing.
        10107 | 13435 | 13436 | 189 | 11602 | 251 | 63 | 150 | 13388 => ErrorClass::Retryable,
        // Shuts down, host unreachable, network.
        91 | 11600 | 6 | 7 | 89 | 9001 => ErrorClass::ConnectionLost,
        // Out of disk space; memory of an operation used up.
        14031 | 146 | 292 => ErrorClass::OutOfSpace,
        // Duplicate key (three numbers), document too large, failed validation, too deep, bad value in a document.
        11000 | 11001 | 12582 | 10334 | 17280 | 121 | 15 | 66 | 2 => ErrorClass::Data,
        _ => ErrorClass::Other,
    }
}

/// An error that a document of the server tells: `code`, `codeName`, `errmsg`.
pub(super) fn told(document: Document<'_>) -> Error {
    let code = document.get("code").and_then(|code| code.integer()).unwrap_or(0);
    let text = document.get("errmsg").and_then(|text| text.text()).unwrap_or("the server gave no reason");
    let name =
        document.get("codeName").and_then(|name| name.text()).map(|name| format!("{name}: ")).unwrap_or_default();
    let advice = match code {
        code if REFUSALS.contains(&code) => {
            "; a server with authentication needs engine.path = \"driver\" with MONGODB_USER and MONGODB_PASSWORD"
        }
        10107 | 13435 | 13436 => {
            "; this member is not the primary: use the primary in engine.url, or set engine.path = \"driver\""
        }
        _ => "",
    };
    with_code(code, format!("{name}{text}{advice}"))
}

/// Tells whether an error is the server's own word that it does not let somebody in, or not this far.
pub(super) fn is_refusal(error: &Error) -> bool {
    error.code().parse::<i64>().is_ok_and(|code| REFUSALS.contains(&code))
}

/// An error with a server's code.
pub(super) fn with_code(code: i64, text: String) -> Error {
    Error::new(class(code), if code == 0 { String::new() } else { code.to_string() }, text)
}

/// This program has the lean path only.
#[cfg(not(feature = "mongodb-driver"))]
pub(super) fn not_built_in() -> Error {
    Error::other(
        "engine.path is \"driver\", but this program was built without the official MongoDB driver; build it with \
         --features mongodb-driver",
    )
}

/// The connection cannot be used any more; what was on its way has an unknown outcome.
pub(super) fn lost(text: impl Into<String>) -> Error {
    Error::new(ErrorClass::ConnectionLost, "", text)
}

#[cfg(test)]
mod tests {
    use super::super::bson::Writer;
    use super::*;

    #[test]
    fn codes_have_classes() {
        let cases = [
            (11000, ErrorClass::Data),
            (112, ErrorClass::Retryable),
            (251, ErrorClass::Retryable),
            (10107, ErrorClass::Retryable),
            (14031, ErrorClass::OutOfSpace),
            (91, ErrorClass::ConnectionLost),
            (59, ErrorClass::Other),
            (0, ErrorClass::Other),
        ];
        for (code, expected) in cases {
            assert_eq!(class(code), expected, "{code}");
        }
    }

    #[test]
    fn a_refusal_is_the_word_of_the_server() {
        for (code, expected) in [(13, true), (18, true), (8000, true), (59, false), (13435, false), (0, false)] {
            assert_eq!(is_refusal(&with_code(code, "no".to_owned())), expected, "{code}");
        }
    }

    #[test]
    fn an_error_says_name_text_code_and_what_to_do() {
        let bytes = Writer::bytes(|document| {
            document.int32("code", 13);
            document.text("codeName", "Unauthorized");
            document.text("errmsg", "not allowed");
        });
        let text = told(Document::whole(&bytes).unwrap()).to_string();
        assert!(text.starts_with("Unauthorized: not allowed; ") && text.ends_with("MONGODB_PASSWORD (13)"), "{text}");
    }
}
