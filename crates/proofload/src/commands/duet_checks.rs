//! `--prove`: duets whose true ratio is known, measured before the one that is asked for: the baseline beside a copy of itself, and beside a copy
//! with a tenth less CPU time. May not judge them.

use super::compare::{Failure, Records};
use super::duet_part::DuetPart;
use super::turns::{PairAsked, RecordFiles, StudyAsked};
use crate::exit::Exit;
use crate::output;
use proofload_model::duet_check::{DuetCheck, KNOWN_RATIO};
use proofload_model::study::Study;
use proofload_report::findings::comparison::{ComparisonFilter, contention_words, duet_check};
use proofload_report::workloads::workload;
use std::path::{Path, PathBuf};

/// The limit that makes the known difference.
const CPU: &str = "limits.cpu";

/// A duet of the baseline with a copy of itself.
struct CopyDuet {
    /// Which of all duets it is.
    part: DuetPart,
    /// Part of the names of its records.
    word: &'static str,
    /// True ratio.
    expected: f64,
    /// What the copy has otherwise.
    set: Vec<String>,
}

/// Measures both, or what is missing of them, and says what they tell. The studies are baseline and candidate.
pub(super) fn duet_checks(asked: &PairAsked<'_>, studies: [&Study; 2]) -> Result<Vec<DuetCheck>, Failure> {
    let lowered = known_limit(studies)?;
    let duets = [
        CopyDuet { part: DuetPart::Same, word: "same", expected: 1.0, set: Vec::new() },
        CopyDuet { part: DuetPart::Known, word: "known", expected: KNOWN_RATIO, set: vec![format!("{CPU}={lowered}")] },
    ];
    let checks = duets.iter().map(|duet| check(asked, studies[0], duet)).collect::<Result<Vec<_>, Failure>>()?;
    contention_words(&checks).iter().for_each(|words| output::note(words));
    Ok(checks)
}

fn check(asked: &PairAsked<'_>, baseline: &Study, duet: &CopyDuet) -> Result<DuetCheck, Failure> {
    let pair = asked.pair;
    let copy = StudyAsked { path: &pair.baseline, set: copied(&pair.set, baseline.name(), &duet.set) };
    let studies = [StudyAsked { path: &pair.baseline, set: pair.set.clone() }, copy];
    let files = files_of(&pair.baseline, duet.word);
    PairAsked { pair, studies, files: &files, part: Some(duet.part), interrupt: asked.interrupt }.measure()?;
    let records = Records::of_files(files)?;
    let throughput = workload(&records.baseline().study.settings).headline.name.to_owned();
    let comparison = records.compare(&ComparisonFilter { metrics: vec![throughput], levels: Vec::new() })?;
    Ok(duet_check(duet.expected, &comparison))
}

/// Changes that make a copy of a study: data of its own, below its own name.
fn copied(set: &[String], name: &str, more: &[String]) -> Vec<String> {
    let own_name = format!("study.name=\"{name}-copy\"");
    set.iter().cloned().chain([own_name]).chain(more.iter().cloned()).collect()
}

/// Records of a duet of a study with a copy of itself, in this folder.
fn files_of(study: &Path, word: &str) -> RecordFiles {
    let stem = study.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let file = |side: &str| PathBuf::from(format!("{stem}-{word}-{side}.proof"));
    RecordFiles { baseline: file("a"), candidate: file("b") }
}

/// The limit of the copy that has less CPU time, where the candidate has one limit for all points as well, of whatever size.
fn known_limit(studies: [&Study; 2]) -> Result<f64, Failure> {
    let [baseline, candidate] = studies.map(lowered_cpu);
    baseline.and_then(|lowered| candidate.map(|_| lowered)).map_err(|text| (Exit::StudyInvalid, text))
}

/// The limit of the copy that has less CPU time, to the millionth; an error where the study has not one limit for all points.
fn lowered_cpu(study: &Study) -> Result<f64, String> {
    let is_varied = study.factors.iter().any(|factor| factor.varies(CPU));
    match study.settings.number(CPU) {
        Ok(cpu) if !is_varied => Ok((KNOWN_RATIO * cpu * 1e6).round() / 1e6),
        _ => Err(format!(
            "--prove: the study {} has not one {CPU} for all points, of which the copy with a known difference has nine tenths; set it in both \
             studies so low that it binds the load, such as --set {CPU}=0.4",
            study.name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(limits: &str) -> Study {
        let text = format!(
            "[study]\nname = \"t\"\ntitle = \"t\"\nrepetitions = 2\n[workload]\nkind = \"tprocc\"\nwarehouses = 1\nvirtual_users = 1\n\
             [engine]\nkind = \"null\"\n{limits}"
        );
        proofload_model::study::validate(&text, &[], &crate::catalogue::catalogue()).expect("a valid study")
    }

    #[test]
    fn the_known_difference_is_a_tenth_of_one_limit() {
        assert_eq!(lowered_cpu(&study("[limits]\ncpu = 0.4\n")), Ok(0.36));
        let refused = lowered_cpu(&study("")).expect_err("there is no limit");
        assert!(refused.contains("the study t has not one limits.cpu") && refused.contains("--set limits.cpu=0.4"));
        let varied = "[[factor]]\nsetting = \"limits.cpu\"\nlevels = [0.2, 0.4]\n";
        assert!(lowered_cpu(&study(varied)).is_err());
    }

    #[test]
    fn the_candidate_has_one_limit_as_well() {
        let limited = |cpu: f64| study(&format!("[limits]\ncpu = {cpu}\n"));
        assert_eq!(known_limit([&limited(0.4), &limited(0.8)]), Ok(0.36), "limits that differ are what is compared");
        for studies in [[&limited(0.4), &study("")], [&study(""), &limited(0.4)]] {
            let (exit, text) = known_limit(studies).expect_err("one has no limit");
            assert!(exit == Exit::StudyInvalid && text.contains("has not one limits.cpu for all points"), "{text}");
        }
    }

    #[test]
    fn a_copy_has_data_and_records_of_its_own() {
        let set = copied(&["limits.cores=1".to_owned()], "t", &["limits.cpu=0.36".to_owned()]);
        assert_eq!(set, ["limits.cores=1", "study.name=\"t-copy\"", "limits.cpu=0.36"]);
        let files = files_of(Path::new("there/old.toml"), "known");
        assert_eq!(files.baseline, Path::new("old-known-a.proof"));
        assert_eq!(files.candidate, Path::new("old-known-b.proof"));
    }
}
