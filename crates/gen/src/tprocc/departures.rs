//! Departures from the clauses that another client makes and that a study may turn on, each one switch.
//!
//! They are those of HammerDB 6.0 (commit 5725747, June 2026), by the numbers of
//! `docs/guides/profiles.md`, as far as they can be reproduced without losing data. Numbers and
//! names are pinned: a further departure gets a further number.

use crate::Error;

/// One departure. Its discriminant is its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Departure {
    /// c_id and ol_i_id are uniform.
    UniformIds = 1,
    /// C is 123 for every field, at load and in runs.
    C123 = 2,
    /// Half of the customers have bad credit.
    HalfBadCredit = 3,
    /// Counters of stock and customer stay as they were loaded.
    CountersNotKept = 4,
    /// The shuffle of customers over the orders at load loses half of them.
    CustomersLost = 5,
    /// An order with an unused item is committed.
    UnusedItemKept = 6,
    /// Among an odd number of rows of one last name the row below the middle is taken.
    MiddleRowLow = 8,
    /// A remote line's warehouse may be home.
    RemoteMayBeHome = 10,
    /// Homes are drawn, so that users may share one.
    HomesAtRandom = 11,
    /// Amounts at load stand in the delivered orders instead of the open ones.
    AmountsSwapped = 13,
    /// Sums, rates and marks of appendix A.
    SumsAndTexts = 14,
}

impl Departure {
    /// Every departure, by number.
    pub const ALL: [Self; 11] = [
        Self::UniformIds,
        Self::C123,
        Self::HalfBadCredit,
        Self::CountersNotKept,
        Self::CustomersLost,
        Self::UnusedItemKept,
        Self::MiddleRowLow,
        Self::RemoteMayBeHome,
        Self::HomesAtRandom,
        Self::AmountsSwapped,
        Self::SumsAndTexts,
    ];

    /// The number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The name in studies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UniformIds => "uniform-ids",
            Self::C123 => "c-123",
            Self::HalfBadCredit => "half-bad-credit",
            Self::CountersNotKept => "counters-not-kept",
            Self::CustomersLost => "customers-lost",
            Self::UnusedItemKept => "unused-item-kept",
            Self::MiddleRowLow => "middle-row-low",
            Self::RemoteMayBeHome => "remote-may-be-home",
            Self::HomesAtRandom => "homes-at-random",
            Self::AmountsSwapped => "amounts-swapped",
            Self::SumsAndTexts => "sums-and-texts",
        }
    }

    /// The departure in words for reports: what is done, and what which clause says instead.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::UniformIds => "c_id and ol_i_id are uniform instead of NURand (2.4.1)",
            Self::C123 => "C is 123 for every field, at load and in runs, instead of drawn separately (2.1.6.1)",
            Self::HalfBadCredit => "half of the customers have bad credit instead of a tenth (4.3.3)",
            Self::CountersNotKept => {
                "s_ytd, s_order_cnt, s_remote_cnt, c_ytd_payment, c_payment_cnt and c_delivery_cnt are never updated (2.4 to 2.7)"
            }
            Self::CustomersLost => {
                "the shuffle of customers over the orders at load loses about half of them, so that Order-Status finds no order (4.3.3)"
            }
            Self::UnusedItemKept => {
                "an order with an unused item is committed, its line with 0.00, instead of rolled back (2.4.2.3)"
            }
            Self::MiddleRowLow => "by last name, an odd number of rows gives the row below the middle (2.5.2)",
            Self::RemoteMayBeHome => {
                "the other warehouse of a remote line is drawn from all and may be the home warehouse (2.4.1.5)"
            }
            Self::HomesAtRandom => {
                "home warehouse and Stock-Level district of a user are drawn, so that users may share them (2.4.1.1, 2.8.1)"
            }
            Self::AmountsSwapped => {
                "at load the lines of delivered orders have amounts of 0.10 to 100.00 and the open ones 0.00, instead of the reverse (4.3.3)"
            }
            Self::SumsAndTexts => {
                "line amounts with tax and discount, stock refilled at 0 instead of below 10, payments in whole units (2.4.2, 2.5.1); taxes of \
                 0.10 to 0.20, \"original\" in lower case and in 9.5 % of stock (4.3.3)"
            }
        }
    }

    /// Whether it changes the rows at load.
    #[must_use]
    pub const fn is_of_load(self) -> bool {
        matches!(
            self,
            Self::C123 | Self::HalfBadCredit | Self::CustomersLost | Self::AmountsSwapped | Self::SumsAndTexts
        )
    }

    /// The departure of this name or number, or an error that lists the known names.
    pub fn from_word(word: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|known| known.name() == word || known.number().to_string() == word);
        known.ok_or_else(|| Error::unknown_name("departure", word, &Self::ALL.map(Self::name)))
    }
}

/// A set of departures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Departures(u16);

impl Departures {
    /// No departure.
    pub const NONE: Self = Self(0);

    /// Whether this departure is on.
    #[inline]
    #[must_use]
    pub const fn has(self, departure: Departure) -> bool {
        self.0 >> departure as u8 & 1 == 1
    }

    /// True if none is on.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The departures that are on, by number.
    pub fn iter(self) -> impl Iterator<Item = Departure> {
        Departure::ALL.into_iter().filter(move |departure| self.has(*departure))
    }

    /// The departures that change the rows at load.
    #[must_use]
    pub fn of_load(self) -> Self {
        self.iter().filter(|departure| departure.is_of_load()).collect()
    }

    /// The numbers, with commas.
    #[must_use]
    pub fn numbers(self) -> String {
        self.iter().map(|departure| departure.number().to_string()).collect::<Vec<_>>().join(", ")
    }
}

impl FromIterator<Departure> for Departures {
    fn from_iter<T: IntoIterator<Item = Departure>>(departures: T) -> Self {
        Self(departures.into_iter().fold(0, |set, departure| set | 1 << departure as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_back_to_departures() {
        for departure in Departure::ALL {
            for word in [departure.name(), &departure.number().to_string()] {
                assert_eq!(Departure::from_word(word), Ok(departure));
            }
        }
        for word in ["7", "9", "quoted-name", ""] {
            assert!(Departure::from_word(word).is_err(), "{word}");
        }
    }

    #[test]
    fn sets_hold_what_they_were_made_of() {
        let set: Departures =
            [Departure::SumsAndTexts, Departure::UniformIds, Departure::UniformIds].into_iter().collect();
        assert_eq!((set.numbers().as_str(), set.of_load().numbers().as_str()), ("1, 14", "14"));
        assert_eq!(set.iter().collect::<Departures>(), set);
        assert!(Departures::NONE.is_empty() && !set.is_empty() && !set.has(Departure::C123));
    }
}
