//! What figures are figures of, in the same words wherever a report says it: first screen, method, terminal. May not judge.

use super::disturbance::Estimand;
use crate::findings::{Findings, PointFindings};

impl Estimand {
    /// The host on which figures of this kind hold, behind "hold"; `None` of those as given.
    pub(crate) fn holds(&self) -> Option<String> {
        match self {
            Self::AsGiven => None,
            Self::QuietHost => Some("on a quiet host".to_owned()),
            Self::QuietBySpin => Some("on a quiet host, by the spin probe".to_owned()),
            Self::BoundBy(setting) => {
                Some(format!("on a quiet host too, as far as {setting} decides (it was always reached)"))
            }
        }
    }
}

/// What the figures of all valid points are figures of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimKind {
    /// Nothing is told of any of them.
    Untold,
    /// All are as given by this host.
    AsGiven,
    /// All are those of a quiet host.
    Quiet,
    /// All are those of a quiet host, as far as the spin probe can tell.
    QuietBySpin,
    /// A limit of the study was always reached at each, so that what others took mattered less.
    Bound,
    /// Some are as given, the others those of a quiet host.
    Both,
}

/// Valid points with what their figures may claim; those of which that is not told are left out.
pub(crate) struct HostClaims<'f> {
    told: Vec<(&'f PointFindings, &'f Estimand)>,
    /// Whether a table shows figures of another kind, of a void point.
    has_void_of_another: bool,
}

impl<'f> HostClaims<'f> {
    /// Collects them.
    pub(crate) fn of(findings: &'f Findings<'_>) -> Self {
        let told: Vec<(&PointFindings, &Estimand)> =
            findings.valid().filter_map(|point| Some((point, point.estimand.as_ref()?))).collect();
        let is_another = |name: &str| told.iter().all(|(_, estimand)| estimand.name() != name);
        let mut void = findings.points.iter().filter(|point| !point.verdict.is_valid());
        let has_void_of_another = void.any(|point| point.estimand_name().is_some_and(is_another));
        Self { told, has_void_of_another }
    }

    /// Every point with its claim.
    pub(crate) fn told(&self) -> &[(&'f PointFindings, &'f Estimand)] {
        &self.told
    }

    /// What all of them are.
    pub(crate) fn kind(&self) -> ClaimKind {
        let all = |is_of: fn(&Estimand) -> bool| self.told.iter().all(|(_, estimand)| is_of(estimand));
        if self.told.is_empty() {
            ClaimKind::Untold
        } else if all(|of| *of == Estimand::AsGiven) {
            ClaimKind::AsGiven
        } else if all(|of| matches!(of, Estimand::BoundBy(_))) {
            ClaimKind::Bound
        } else if all(|of| *of == Estimand::QuietBySpin) {
            ClaimKind::QuietBySpin
        } else if all(|of| *of != Estimand::AsGiven) {
            ClaimKind::Quiet
        } else {
            ClaimKind::Both
        }
    }

    /// How a sentence about all of them begins; empty where they are of both kinds, or nothing is told.
    pub(crate) fn lead(&self) -> &'static str {
        match (self.kind(), self.has_void_of_another) {
            (ClaimKind::Untold | ClaimKind::Both, _) => "",
            (ClaimKind::AsGiven, false) => "Figures are as given by this host",
            (ClaimKind::AsGiven, true) => "Figures of valid points are as given by this host",
            (ClaimKind::Quiet, false) => "Figures are those of a quiet host",
            (ClaimKind::Quiet, true) => "Figures of valid points are those of a quiet host",
            (ClaimKind::QuietBySpin, false) => "Figures are those of a quiet host, by the spin probe",
            (ClaimKind::QuietBySpin, true) => "Figures of valid points are those of a quiet host, by the spin probe",
            (ClaimKind::Bound, false) => {
                "A limit of the study was always reached, so that other load on the host had less effect"
            }
            (ClaimKind::Bound, true) => {
                "At valid points a limit of the study was always reached, so that other load on the host had less effect there"
            }
        }
    }

    /// What they are, for the method behind its rule; empty where nothing is told.
    pub(crate) fn behind_the_rule(&self) -> &'static str {
        match self.kind() {
            ClaimKind::Untold => "",
            ClaimKind::AsGiven => " Here they are as given by this host.",
            ClaimKind::Quiet => " Here they are those of a quiet host.",
            ClaimKind::QuietBySpin => " Here they are those of a quiet host, by the spin probe.",
            ClaimKind::Bound => " Here such a limit was always reached.",
            ClaimKind::Both => " Here those of some points are as given by this host.",
        }
    }
}
