//! A Python wheel that only carries the binary: `pip install` and `pipx install` put it on the PATH. There is nothing to import in it.

use super::paperwork;
use super::product::PROOFLOAD;
use super::run::Release;
use super::target::DistTarget;
use crate::files::{copy, write};
use crate::program::output;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packs a folder into a wheel, with the record of hashes that a wheel must have.
const PACK: &str = include_str!("wheel.py");

/// Makes the wheel in `dist`; its path.
pub(super) fn make(
    release: &Release,
    target: &DistTarget,
    platform: &str,
    program: &Path,
    work: &Path,
) -> Result<PathBuf, String> {
    let (root, version) = (work.join("wheel"), &release.version);
    let info = root.join(format!("proofload-{version}.dist-info"));
    copy(program, &root.join(format!("proofload-{version}.data/scripts/proofload")))?;
    paperwork::texts(PROOFLOAD, target, &info.join("licenses"))?;
    for name in ["README.md", "CHANGELOG.md"] {
        let path = info.join("licenses").join(name);
        std::fs::remove_file(&path).map_err(|error| format!("removed {}: {error}", path.display()))?;
    }
    write(&info.join("METADATA"), metadata(release)?)?;
    write(&info.join("WHEEL"), tags(platform))?;
    let file = release.dist.join(format!("proofload-{version}-py3-none-{platform}.whl"));
    let mut python = Command::new("python3");
    python.args(["-c", PACK]).arg(&root).arg(&file).arg(&release.seconds);
    output(&mut python)?;
    Ok(file)
}

fn metadata(release: &Release) -> Result<String, String> {
    let readme = std::fs::read_to_string("README.md").map_err(|error| format!("read README.md: {error}"))?;
    Ok(format!(
        "Metadata-Version: 2.4\nName: proofload\nVersion: {}\nSummary: Proof loads for databases, with a record of what held\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-MIT\nLicense-File: LICENSE-APACHE\n\
         License-File: LICENSES-THIRD-PARTY.txt\nProject-URL: Repository, {}\nRequires-Python: >=3.7\n\
         Classifier: Environment :: Console\nClassifier: Operating System :: POSIX :: Linux\n\
         Classifier: Topic :: System :: Benchmark\nDescription-Content-Type: text/markdown\n\n{readme}",
        release.version, release.repository
    ))
}

/// What an installer asks: a tag for each platform.
fn tags(platform: &str) -> String {
    let each: String = platform.split('.').map(|one| format!("Tag: py3-none-{one}\n")).collect();
    format!("Wheel-Version: 1.0\nGenerator: proofload xtask\nRoot-Is-Purelib: false\n{each}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_platform_has_its_tag() {
        let text = tags("manylinux_2_17_x86_64.musllinux_1_1_x86_64");
        assert!(text.ends_with("Tag: py3-none-manylinux_2_17_x86_64\nTag: py3-none-musllinux_1_1_x86_64\n"), "{text}");
    }
}
