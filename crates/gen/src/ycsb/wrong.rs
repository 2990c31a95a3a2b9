//! Faults of a value that was read.

use std::fmt;

/// Why a value is not what its writer wrote into this field of this record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrong {
    /// The first eleven characters name no writer, or there are fewer than twelve.
    NoWriter,
    /// The writer named by the value wrote another number of characters.
    Length {
        /// Characters that the writer wrote.
        expected: u32,
        /// Characters that were read.
        found: usize,
    },
    /// A character differs; the first one that does.
    Character {
        /// Its place, from 0.
        place: usize,
        /// Byte that the writer wrote.
        expected: u8,
        /// Byte that was read.
        found: u8,
    },
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWriter => f.write_str("the value does not start with the number of its writer"),
            Self::Length { expected, found } => {
                write!(f, "the value has {found} characters, but {expected} were written")
            }
            Self::Character { place, expected, found } => {
                let (expected, found) = (expected.escape_ascii(), found.escape_ascii());
                write!(f, "character {place} of the value is '{found}', but '{expected}' was written")
            }
        }
    }
}

impl std::error::Error for Wrong {}
