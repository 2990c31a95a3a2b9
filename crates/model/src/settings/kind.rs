//! Kinds of settings and how a value of a study file becomes one. Errors say what would be right.

use super::value::Value;
use crate::units::{Bytes, PerSecond, parse_duration};
use std::time::Duration;
use toml_edit::Value as Toml;

/// What values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A name: letters, digits, `-` and `_`, at most 64.
    Name,
    /// One of some words.
    OneOf(&'static [&'static str]),
    /// Whole number of a range.
    Integer {
        /// Smallest.
        least: i64,
        /// Largest.
        most: i64,
    },
    /// Whole number of a range, or a word.
    IntegerOr {
        /// The word.
        word: &'static str,
        /// Smallest.
        least: i64,
        /// Largest.
        most: i64,
    },
    /// Number of a range.
    Number {
        /// Smallest.
        least: f64,
        /// Largest.
        most: f64,
    },
    /// Share of a whole: a number, or a text in per cent such as `"5%"`.
    Share {
        /// Smallest.
        least: f64,
        /// Largest.
        most: f64,
    },
    /// `true` or `false`.
    Boolean,
    /// Size with a unit, at least so many bytes.
    Bytes {
        /// Smallest.
        least: u64,
    },
    /// Bytes per second, written as a size; at least so many.
    Bandwidth {
        /// Smallest.
        least: u64,
    },
    /// Operations per time: a number (1/s), or a text such as `"500/s"`.
    Rate {
        /// Smallest, 1/s.
        least: f64,
        /// Largest, 1/s.
        most: f64,
    },
    /// Time span with a unit.
    Duration {
        /// Smallest, milliseconds.
        least_ms: u64,
        /// Largest, milliseconds.
        most_ms: u64,
    },
    /// A list of texts, or one text.
    List,
    /// A setting of the engine, handed on as text: text, number or boolean.
    Free,
}

impl Kind {
    /// What it takes, in words, for errors and pages.
    pub fn words(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Name => "a name of letters, digits, '-' and '_'".to_owned(),
            Self::OneOf(words) => format!("one of {}", quoted(words)),
            Self::Integer { least, most } => format!("a whole number from {least} to {most}"),
            Self::IntegerOr { word, least, most } => format!("a whole number from {least} to {most}, or \"{word}\""),
            Self::Number { least, most } => format!("a number from {least} to {most}"),
            Self::Share { least, most } => format!("a share from {least} to {most}, such as 0.05 or \"5%\""),
            Self::Rate { least, most } => {
                format!("a rate from {least} to {most} per second, such as \"500/s\", \"30000/min\" or 500")
            }
            Self::Boolean => "true or false".to_owned(),
            Self::Bytes { least } => format!("a size of at least {}, such as \"64MiB\"", Bytes(*least)),
            Self::Bandwidth { least } => {
                format!("a size (per second) of at least {}, such as \"200MiB\"", Bytes(*least))
            }
            Self::Duration { least_ms, most_ms } => format!(
                "a duration from {} to {}, such as \"30s\"",
                crate::units::duration_text(Duration::from_millis(*least_ms)),
                crate::units::duration_text(Duration::from_millis(*most_ms))
            ),
            Self::List => "a list of strings".to_owned(),
            Self::Free => "text, a number, true or false".to_owned(),
        }
    }

    /// Reads a value of a study file; the error says what is wrong and what would be right.
    pub fn read(&self, toml: &Toml) -> Result<Value, String> {
        self.convert(toml)
            .filter(|value| self.admits(value))
            .ok_or_else(|| format!("{} must be {}", shown(toml), self.words()))
    }

    /// Reads a default or a `--set` text written without quotes.
    pub fn read_text(&self, text: &str) -> Result<Value, String> {
        let toml = text.parse::<Toml>().ok().filter(|toml| !matches!(toml, Toml::Datetime(_) | Toml::InlineTable(_)));
        let as_text = Toml::from(text);
        toml.and_then(|toml| self.read(&toml).ok()).map_or_else(|| self.read(&as_text), Ok)
    }

    fn convert(&self, toml: &Toml) -> Option<Value> {
        Some(match (self, toml) {
            (Self::Text | Self::Name | Self::OneOf(_) | Self::IntegerOr { .. }, Toml::String(text)) => {
                Value::Text(text.value().clone())
            }
            (Self::Integer { .. } | Self::IntegerOr { .. }, Toml::Integer(number)) => Value::Integer(*number.value()),
            (Self::Number { .. } | Self::Rate { .. } | Self::Share { .. }, Toml::Integer(number)) => {
                Value::Number(*number.value() as f64)
            }
            (Self::Share { .. }, Toml::String(text)) => Value::Number(of_per_cent(text.value())?),
            (Self::Rate { .. }, Toml::String(text)) => Value::Number(PerSecond::parse(text.value()).ok()?.0),
            (Self::Number { .. } | Self::Rate { .. } | Self::Share { .. }, Toml::Float(number)) => {
                Value::Number(*number.value())
            }
            (Self::Boolean, Toml::Boolean(value)) => Value::Boolean(*value.value()),
            (Self::Bytes { .. } | Self::Bandwidth { .. }, Toml::String(text)) => {
                Value::Bytes(Bytes::parse(text.value()).ok()?)
            }
            (Self::Duration { .. }, Toml::String(text)) => Value::Duration(parse_duration(text.value()).ok()?),
            (Self::List, Toml::String(text)) => Value::List(vec![text.value().clone()]),
            (Self::List, Toml::Array(items)) => {
                Value::List(items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>()?)
            }
            (Self::Free, Toml::String(text)) => Value::Text(text.value().clone()),
            (Self::Free, Toml::Integer(number)) => Value::Text(number.value().to_string()),
            (Self::Free, Toml::Float(number)) => Value::Text(number.value().to_string()),
            (Self::Free, Toml::Boolean(value)) => Value::Text(value.value().to_string()),
            _ => return None,
        })
    }

    fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Name, Value::Text(text)) => {
                (1..=64).contains(&text.len())
                    && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            }
            (Self::OneOf(words), Value::Text(text)) => words.contains(&text.as_str()),
            (Self::Integer { least, most } | Self::IntegerOr { least, most, .. }, Value::Integer(number)) => {
                (least..=most).contains(&number)
            }
            (Self::IntegerOr { word, .. }, Value::Text(text)) => text == word,
            (
                Self::Number { least, most } | Self::Rate { least, most } | Self::Share { least, most },
                Value::Number(number),
            ) => (least..=most).contains(&number),
            (Self::Bytes { least } | Self::Bandwidth { least }, Value::Bytes(bytes)) => bytes.0 >= *least,
            (Self::Duration { least_ms, most_ms }, Value::Duration(time)) => {
                (u128::from(*least_ms)..=u128::from(*most_ms)).contains(&time.as_millis())
            }
            _ => true,
        }
    }
}

/// `"2.5%"` as 0.025; `None` for what is no plain number of per cent.
fn of_per_cent(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim();
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Some(number.parse::<f64>().ok().filter(|_| is_plain)? / 100.0)
}

/// Words in quotes, with commas.
fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
}

/// A value as the file writes it, on one line.
fn shown(toml: &Toml) -> String {
    let text = toml.to_string().trim().replace('\n', " ");
    if text.chars().count() > 60 { format!("{}…", text.chars().take(60).collect::<String>()) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_or_a_word_is_no_other_word() {
        let depth = Kind::IntegerOr { word: "auto", least: 1, most: 64 };
        assert_eq!(depth.read_text("8"), Ok(Value::Integer(8)));
        assert_eq!(depth.read_text("auto"), Ok(Value::Text("auto".to_owned())));
        assert_eq!(depth.read_text("many").unwrap_err(), "\"many\" must be a whole number from 1 to 64, or \"auto\"");
        assert!(["0", "65", "1.5", "\"8\""].iter().all(|text| depth.read_text(text).is_err()));
    }

    #[test]
    fn a_share_is_a_number_or_per_cent() {
        let share = Kind::Share { least: 0.0, most: 1.0 };
        let check = |text: &str, expected: Option<f64>| {
            assert_eq!(share.read_text(text).ok(), expected.map(Value::Number), "{text}");
        };
        check("0.05", Some(0.05));
        check("1", Some(1.0));
        check("5%", Some(0.05));
        check("2.5 %", Some(0.025));
        check("100%", Some(1.0));
        for wrong in ["101%", "-5%", "%", "5", "five", "1e1%", "NaN%", "0.05 %%"] {
            check(wrong, None);
        }
        assert_eq!(
            share.read_text("120%").unwrap_err(),
            "\"120%\" must be a share from 0 to 1, such as 0.05 or \"5%\""
        );
        assert!(Kind::Number { least: 0.0, most: 1.0 }.read_text("5%").is_err(), "a number is no share");
    }
}
