//! The objects for Kubernetes against its published schemas. No cluster is asked: they are *untested on the real thing*.

use super::processes::output_of;
use super::run::{Found, case};
use crate::work_folder::WorkFolder;
use std::path::Path;

/// Where they lie.
const OBJECTS: &str = "packaging/kubernetes";

/// Versions of Kubernetes whose schemas are asked.
const VERSIONS: [&str; 3] = ["1.27", "1.30", "1.33"];

/// Validates them, and one that is wrong on purpose.
pub(super) fn run(_program: &Path) -> Result<(), String> {
    let folder = WorkFolder::below(Path::new("/var/tmp"), "proofload-hosts-kubernetes-")?;
    let python = folder.path("python");
    let place = python.display().to_string();
    output_of(&["python3", "-m", "venv", &place])?;
    output_of(&[
        &format!("{place}/bin/pip"),
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "kubernetes-validate",
    ])?;
    let validator = format!("{place}/bin/kubernetes-validate");
    case("objects fit the schemas", || fit(&validator))?;
    case("an object that is wrong is found", || {
        let text = std::fs::read_to_string(format!("{OBJECTS}/agents-job.yaml")).map_err(|error| error.to_string())?;
        let wrong = folder.write("wrong.yaml", &text.replace("completionMode:", "completionMood:"))?;
        match output_of(&[&validator, "--strict", "-k", VERSIONS[0], &wrong.display().to_string()]) {
            Ok(told) => Err(format!("it passed: {told}")),
            Err(_) => Ok("refused".to_owned()),
        }
    })
}

fn fit(validator: &str) -> Found {
    let entries = std::fs::read_dir(OBJECTS).map_err(|error| format!("{OBJECTS}: {error}"))?;
    let paths: Vec<String> = entries
        .flatten()
        .map(|entry| entry.path().display().to_string())
        .filter(|path| path.ends_with(".yaml"))
        .collect();
    for path in &paths {
        for version in VERSIONS {
            output_of(&[validator, "--strict", "-k", version, path])?;
        }
    }
    if paths.is_empty() { Err(format!("{OBJECTS} is empty")) } else { Ok(format!("{} files", paths.len())) }
}
