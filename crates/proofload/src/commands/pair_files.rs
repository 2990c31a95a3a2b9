//! What `compare --run` and `gate --run` are given, looked at before anything is measured: whether the two files can be studies, whether a record
//! of them will have the metrics that are asked for, and whether the result may be written. Measures nothing.

use super::compare::Failure;
use super::duet::expect_judged_windows;
use super::study_file::read_with;
use super::target;
use super::turns::record_of;
use crate::cli::PairArguments;
use crate::exit::Exit;
use proofload_record::is_record;
use proofload_report::findings::comparison::{Level, are_throughput, expect_directed, expect_levels, expect_metrics};
use std::path::Path;

/// What is asked of two studies.
pub(super) struct PairQuestion<'a> {
    /// Names of metrics.
    pub(super) metrics: &'a [String],
    /// Levels of the points.
    pub(super) levels: &'a [Level],
    /// Whether a gate judges the metrics, each of which then needs a better direction.
    pub(super) is_judged: bool,
}

/// Refuses what would fail only after both studies were measured.
pub(super) fn expect_answerable(pair: &PairArguments, question: &PairQuestion<'_>) -> Result<(), Failure> {
    if !pair.run {
        return Ok(());
    }
    expect_study_files(&pair.baseline, &pair.candidate)?;
    let output = pair.output.as_deref().filter(|path| path.as_os_str() != "-");
    output.map_or(Ok(()), |path| target::expect_free(path, pair.overwrite)).map_err(|text| (Exit::Failure, text))?;
    // A pipe can be read once; what is wrong with a study is told when it is read to be measured.
    let study = |path: &Path| path.is_file().then(|| read_with(path, &pair.set).ok().map(|file| file.study)).flatten();
    let (baseline, candidate) = (study(&pair.baseline), study(&pair.candidate));
    if let Some(study) = &baseline {
        expect_metrics(question.metrics, &study.settings).map_err(|error| (Exit::Failure, error.to_string()))?;
        if question.is_judged {
            expect_directed(question.metrics, &study.settings).map_err(|error| (Exit::Usage, error.to_string()))?;
        }
    }
    let Some(studies) = baseline.as_ref().zip(candidate.as_ref()) else { return Ok(()) };
    // A duet refuses such windows whatever is judged.
    let is_measured = record_of(&pair.baseline).exists() && record_of(&pair.candidate).exists();
    if question.is_judged && !pair.duet && !is_measured && are_throughput(question.metrics, &studies.0.settings) {
        expect_judged_windows(studies.0).and_then(|()| expect_judged_windows(studies.1))?;
    }
    expect_levels(question.levels, studies.into()).map_err(|error| (Exit::Failure, error.to_string()))
}

/// Refuses files that are not there or are no studies, both at once.
fn expect_study_files(baseline: &Path, candidate: &Path) -> Result<(), Failure> {
    let faults: Vec<String> =
        [("A", baseline), ("B", candidate)].into_iter().filter_map(|(side, path)| no_study(side, path)).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err((Exit::Failure, format!("nothing was measured, because --run needs two studies:\n  {}", faults.join("\n  "))))
}

/// Why a file is no study, and what to do; `None` where it may be one.
fn no_study(side: &str, path: &Path) -> Option<String> {
    let shown = path.display();
    if path.is_dir() {
        return Some(format!("{side}: {shown} is a folder; name the study file in it"));
    }
    if path.is_file() {
        let is_record = is_record(path).unwrap_or(false);
        return is_record.then(|| {
            format!("{side}: {shown} is a record, not a study; give the study file, or compare records without --run")
        });
    }
    match std::fs::metadata(path) {
        // A pipe that was handed over.
        Ok(_) => None,
        Err(error) => {
            let looked_at = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
            Some(format!(
                "{side}: failed to read the study {shown}: looked for {}: {error}; check the path, or write a built-in study with \
                 proofload studies --copy NAME (proofload studies lists them)",
                looked_at.display()
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_that_is_no_study_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("there.toml"), "[study]\n").expect("the folder takes a file");
        std::fs::write(path("old.proof"), b"SQLite format 3\0").expect("the folder takes a file");
        let told = |one: &str, other: &str| expect_study_files(&path(one), &path(other)).err().map(|(_, text)| text);
        assert_eq!(told("there.toml", "there.toml"), None);
        let text = told("none.toml", "gone.toml").expect("both are missing");
        for (side, name) in [("A", "none.toml"), ("B", "gone.toml")] {
            let wanted = format!("{side}: failed to read the study {}: looked for", path(name).display());
            assert!(text.contains(&wanted) && text.contains("check the path"), "{text}");
        }
        let text = told("there.toml", "old.proof").expect("a record is no study");
        assert!(text.contains("B: ") && text.contains("compare records without --run"), "{text}");
        assert!(!text.contains("there.toml"), "{text}");
        let text = told(".", "there.toml").expect("a folder is no study");
        assert!(text.contains("is a folder; name the study file in it"), "{text}");
    }
}
