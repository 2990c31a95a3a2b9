//! Customers' last names (clause 4.3.2.3).

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
