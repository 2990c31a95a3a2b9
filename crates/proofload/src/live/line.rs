//! A line of parts that fits a width: what counts least goes first, nothing wraps. Pure.

use console::{measure_text_width, truncate_str};

/// How a part is set off, where colours are wanted. No colour carries a meaning alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Emphasis {
    Plain,
    Good,
    Bad,
    Warning,
    Strong,
    Faint,
}

impl Emphasis {
    /// The code of ECMA-48 (select graphic rendition); `None` for plain text.
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
            Self::Warning => Some("33"),
            Self::Strong => Some("1"),
            Self::Faint => Some("2"),
        }
    }
}

/// Part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LinePart {
    text: String,
    emphasis: Emphasis,
    /// The larger, the sooner it is left out; 0: never.
    rank: u8,
}

/// A line, from left to right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScreenLine(Vec<LinePart>);

/// Gap between two parts.
const GAP: &str = "  ";

impl ScreenLine {
    /// Adds a part that is never left out.
    pub(crate) fn with(self, text: impl Into<String>, emphasis: Emphasis) -> Self {
        self.ranked(text, emphasis, 0)
    }

    /// Adds a part that is left out before those of a smaller rank.
    pub(crate) fn ranked(mut self, text: impl Into<String>, emphasis: Emphasis, rank: u8) -> Self {
        let text = crate::output::harmless(&text.into()).replace(['\n', '\t'], " ");
        if !text.is_empty() {
            self.0.push(LinePart { text, emphasis, rank });
        }
        self
    }

    /// Its width with all parts.
    pub(crate) fn width(&self) -> usize {
        width(&self.0)
    }

    /// The text in at most so many columns, with colours or without.
    pub(crate) fn fitted(&self, columns: usize, colours: bool) -> String {
        let mut parts = self.0.clone();
        while width(&parts) > columns {
            let Some(least) = parts.iter().map(|part| part.rank).max().filter(|rank| *rank > 0) else { break };
            let place = parts.iter().rposition(|part| part.rank == least);
            parts.remove(place.unwrap_or_default());
        }
        let mut left = columns;
        let mut text = String::new();
        for part in &parts {
            let gap = if text.is_empty() { "" } else { GAP };
            let Some(room) = left.checked_sub(gap.len()).filter(|room| *room > 0) else { break };
            let told = truncate_str(&part.text, room, "…");
            left = room - measure_text_width(&told);
            text += gap;
            match part.emphasis.code().filter(|_| colours) {
                Some(code) => text += &format!("\u{1b}[{code}m{told}\u{1b}[0m"),
                None => text += &told,
            }
        }
        text
    }
}

fn width(parts: &[LinePart]) -> usize {
    let texts: usize = parts.iter().map(|part| measure_text_width(&part.text)).sum();
    texts + GAP.len() * parts.len().saturating_sub(1)
}

/// A text in exactly so many columns: filled up, or cut with an ellipsis.
pub(crate) fn column(text: &str, columns: usize) -> String {
    let text = crate::output::harmless(text);
    let told = truncate_str(&text, columns, "…").into_owned();
    let fill = columns.saturating_sub(measure_text_width(&told));
    told + &" ".repeat(fill)
}

/// A bar of blocks of which a share is full.
pub(crate) fn bar(share: f64, columns: usize) -> String {
    let full = (share.clamp(0.0, 1.0) * columns as f64).floor() as usize;
    "█".repeat(full) + &"░".repeat(columns - full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_least_goes_first_and_nothing_is_wider() {
        let line = ScreenLine::default()
            .with("▶ 64 MiB", Emphasis::Strong)
            .ranked("██░░", Emphasis::Plain, 2)
            .with("488/s", Emphasis::Plain)
            .ranked("steal 3 %", Emphasis::Plain, 3);
        let told: Vec<String> = [40, 30, 20, 12, 4].map(|columns| line.fitted(columns, false)).to_vec();
        let expected =
            ["▶ 64 MiB  ██░░  488/s  steal 3 %", "▶ 64 MiB  ██░░  488/s", "▶ 64 MiB  488/s", "▶ 64 MiB  4…", "▶ 6…"];
        assert_eq!(told, expected);
        assert_eq!(line.fitted(15, true), "\u{1b}[1m▶ 64 MiB\u{1b}[0m  488/s");
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal_and_wide_letters_count_twice() {
        let line = ScreenLine::default().with("a\u{1b}[2Jb\nc", Emphasis::Plain);
        assert_eq!(line.fitted(80, false), "a\u{fffd}[2Jb c");
        assert_eq!(column("内存大小", 6), "内存… ");
        assert_eq!((column("ab", 4).as_str(), bar(0.5, 4).as_str()), ("ab  ", "██░░"));
    }
}
