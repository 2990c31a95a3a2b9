//! Customers' last names (clause 4.3.2.3).

use std::fmt;

use crate::Text;

const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The last name of `number`, 0 to 999: one syllable per decimal digit. 371 is PRICALLYOUGHT.
#[must_use]
pub fn last_name(number: i32) -> Text<16> {
    let number = usize::try_from(number).expect("name numbers are not negative");
    let mut name = Text::default();
    name.set(&[SYLLABLES[number / 100], SYLLABLES[number / 10 % 10], SYLLABLES[number % 10]]);
    name
}

/// A last name that was drawn: its number, for who counts them, and its text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LastName {
    number: u16,
    text: Text<16>,
}

impl LastName {
    /// The last name of `number`, 0 to 999.
    #[must_use]
    pub fn of(number: i32) -> Self {
        Self { number: u16::try_from(number).expect("name numbers are 0 to 999"), text: last_name(number) }
    }

    /// 0 to 999.
    #[must_use]
    pub const fn number(&self) -> u16 {
        self.number
    }

    /// The syllables.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.text.as_str()
    }
}

/// Prints the text.
impl fmt::Debug for LastName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn check(number: i32, name: &str) {
        assert_eq!(last_name(number).as_str(), name);
    }

    #[test]
    fn names_of_clause_4_3_2_3() {
        check(371, "PRICALLYOUGHT");
        check(40, "BARPRESBAR");
        check(0, "BARBARBAR");
        check(999, "EINGEINGEING");
    }

    #[test]
    fn every_name_is_different() {
        let names: HashSet<String> = (0..1_000).map(|n| last_name(n).to_string()).collect();
        assert_eq!(names.len(), 1_000);
    }
}
