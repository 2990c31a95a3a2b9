//! Text of foreign files before it is kept: no control characters, no endless lines.

/// The most characters of a foreign line that an error or a note repeats.
const MOST: usize = 80;

/// A foreign text fit to be repeated.
pub(super) fn quoted(text: &str) -> String {
    let clean: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(MOST).collect();
    if text.chars().count() > MOST { format!("{clean}…") } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_endless_lines_are_not_repeated() {
        assert_eq!(quoted("a\u{1b}[31mb"), "a [31mb");
        assert_eq!(quoted(&"x".repeat(81)), format!("{}…", "x".repeat(80)));
        assert_eq!(quoted(&"x".repeat(80)), "x".repeat(80));
    }
}
