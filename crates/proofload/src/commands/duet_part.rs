//! Which of the duets of `--prove` goes on, in the words of progress. Measures nothing.

use proofload_model::duet_check::KNOWN_RATIO;

/// Number of duets of `--prove`.
const ALL: u32 = 3;

/// One of the duets of `--prove`, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DuetPart {
    /// The baseline beside a copy of itself.
    Same,
    /// The baseline beside a copy of itself with less CPU time.
    Known,
    /// The two studies that are compared.
    Result,
}

impl DuetPart {
    const fn number(self) -> u32 {
        match self {
            Self::Same => 1,
            Self::Known => 2,
            Self::Result => 3,
        }
    }

    /// Says which one it is in the head of the live view, which has the count and the time beside it: `duet 1 of 3: A and its copy`.
    pub(super) fn short_words(self) -> String {
        let what = match self {
            Self::Same => "A and its copy".to_owned(),
            Self::Known => format!("A and A at {KNOWN_RATIO} CPU"),
            Self::Result => "A and B".to_owned(),
        };
        format!("duet {} of {ALL}: {what}", self.number())
    }

    /// Says which one it is: `duet 1 of 3: A beside a copy of itself, which must read 1`.
    pub(super) fn words(self) -> String {
        let what = match self {
            Self::Same => "A beside a copy of itself, which must read 1".to_owned(),
            Self::Known => {
                format!("A beside a copy of itself with {KNOWN_RATIO} of its limits.cpu, which must read {KNOWN_RATIO}")
            }
            Self::Result => "A beside B, which is the result".to_owned(),
        };
        format!("duet {} of {ALL}: {what}", self.number())
    }

    /// What the two sides are called before the levels of a run.
    pub(super) fn sides(self) -> [String; 2] {
        let other = match self {
            Self::Same => "copy of A".to_owned(),
            Self::Known => format!("A {KNOWN_RATIO} CPU"),
            Self::Result => "B".to_owned(),
        };
        ["A".to_owned(), other].map(|side| format!("{}/{ALL} {side}", self.number()))
    }
}

/// What the two sides are called that are measured in turns, or as the only duet.
pub(super) fn side_names(part: Option<DuetPart>) -> [String; 2] {
    part.map_or_else(|| ["A", "B"].map(str::to_owned), DuetPart::sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_which_of_three_duets_goes_on() {
        let all = [DuetPart::Same, DuetPart::Known, DuetPart::Result];
        let words = [
            "duet 1 of 3: A beside a copy of itself, which must read 1",
            "duet 2 of 3: A beside a copy of itself with 0.9 of its limits.cpu, which must read 0.9",
            "duet 3 of 3: A beside B, which is the result",
        ];
        assert_eq!(all.map(DuetPart::words), words);
        let short = ["duet 1 of 3: A and its copy", "duet 2 of 3: A and A at 0.9 CPU", "duet 3 of 3: A and B"];
        assert_eq!(all.map(DuetPart::short_words), short);
        let expected = [["1/3 A", "1/3 copy of A"], ["2/3 A", "2/3 A 0.9 CPU"], ["3/3 A", "3/3 B"]];
        assert_eq!(all.map(|part| side_names(Some(part))), expected);
        assert_eq!(side_names(None), ["A", "B"]);
    }
}
