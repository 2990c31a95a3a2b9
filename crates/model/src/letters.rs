//! Letters of foreign text that readers must not meet.

/// Whether a letter steers a terminal or a page instead of being shown: control characters, and those that turn the direction of text around
/// (Unicode 16, UAX 9: marks, embeddings, overrides, isolates).
pub fn is_steering(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
