//! What a write waits for before it is acknowledged. Source: MongoDB manual, "Write Concern".

use super::bson::Writer;
use crate::contract::Error;

/// Members that must have a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acknowledgement {
    /// Number of members, at least one.
    By(u32),
    /// More than half of those that vote.
    ByMajority,
}

/// The write concern of a session. Always sent, because the default of a server from 5.0 on is another than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WriteConcern {
    /// Members that must have the write.
    pub(super) acknowledged: Acknowledgement,
    /// Whether it must be in the journal on the drive.
    pub(super) journal: bool,
}

impl WriteConcern {
    /// The most durable write concern, with which Proofload's own notes are written.
    pub(super) const DURABLE: Self = Self { acknowledged: Acknowledgement::ByMajority, journal: true };

    /// Writes it as an element of a command.
    #[inline]
    pub(super) fn write(self, command: &mut Writer<'_>) {
        command.nested("writeConcern", |concern| {
            match self.acknowledged {
                Acknowledgement::By(members) => concern.int32("w", i32::try_from(members).unwrap_or(i32::MAX)),
                Acknowledgement::ByMajority => concern.text("w", "majority"),
            }
            if self.journal {
                concern.boolean("j", true);
            }
        });
    }
}

impl Acknowledgement {
    /// Reads `engine.write_concern`.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        match (text, text.parse::<u32>()) {
            ("majority", _) => Ok(Self::ByMajority),
            (_, Ok(0)) => Err(Error::other(
                "engine.write_concern is 0: an unacknowledged write has no response time and may be lost unnoticed; \
                 use 1 or majority",
            )),
            (_, Ok(members)) if members <= 50 => Ok(Self::By(members)),
            _ => Err(Error::other(format!(
                "engine.write_concern is {text:?}; use a number of members from 1 to 50, or majority"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unacknowledged_write_is_refused_with_the_reason() {
        assert_eq!(Acknowledgement::parse("1").unwrap(), Acknowledgement::By(1));
        assert_eq!(Acknowledgement::parse("majority").unwrap(), Acknowledgement::ByMajority);
        assert!(Acknowledgement::parse("0").unwrap_err().to_string().contains("no response time"));
        for wrong in ["", "-1", "51", "most"] {
            Acknowledgement::parse(wrong).unwrap_err();
        }
    }
}
