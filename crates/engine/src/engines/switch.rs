//! Switches among the values of settings. May not know any engine by name.

/// Reads a switch as servers do: on or off; `None` where it is neither.
pub(super) fn switch(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Some(true),
        "off" | "false" | "no" | "0" => Some(false),
        _ => None,
    }
}
