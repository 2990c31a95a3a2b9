//! A Debian package: the binary, manual pages, completions, licences. What libraries it needs is read from the binary.

use super::paperwork::{Paperwork, SHELLS};
use super::product::DistProduct;
use super::run::Release;
use super::target::DistTarget;
use crate::files::{copy, write};
use crate::program::{output, text};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Libraries that the binary may need, and the packages that have them.
const LIBRARIES: &[(&str, &str)] = &[
    ("libc.so.6", "libc6"),
    ("libm.so.6", "libc6"),
    ("libdl.so.2", "libc6"),
    ("libpthread.so.0", "libc6"),
    ("ld-linux-x86-64.so.2", "libc6"),
    ("ld-linux-aarch64.so.1", "libc6"),
    ("libgcc_s.so.1", "libgcc-s1"),
];

/// Folders of completions, by shell.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "usr/share/bash-completion/completions"),
    ("zsh", "usr/share/zsh/vendor-completions"),
    ("fish", "usr/share/fish/vendor_completions.d"),
];

/// A program that is packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct DebContent<'p> {
    pub(super) product: DistProduct,
    pub(super) program: &'p Path,
    /// Its manual pages and completions, if it has any.
    pub(super) paperwork: Option<&'p Paperwork>,
}

/// Makes the package in `dist`; its path.
pub(super) fn make(
    release: &Release,
    target: &DistTarget,
    architecture: &str,
    content: DebContent<'_>,
    work: &Path,
) -> Result<PathBuf, String> {
    let DebContent { product, program, paperwork } = content;
    let root = work.join(format!("deb-{}", product.name));
    copy(program, &root.join("usr/bin").join(product.name))?;
    if let Some(paperwork) = paperwork {
        manual_pages(&root, &paperwork.man)?;
        for ((shell, file), (_, folder)) in SHELLS.iter().zip(COMPLETIONS) {
            copy(&paperwork.completions.join(shell).join(file), &root.join(folder).join(file))?;
        }
    }
    documents(&root, release, product, target)?;
    let depends = if target.is_static() { String::new() } else { format!("Depends: {}\n", depends(program)?) };
    let installed = text(Command::new("du").args(["-ks", "--apparent-size"]).arg(root.join("usr")))?;
    let kibibytes = installed.split_ascii_whitespace().next().unwrap_or("0").to_owned();
    write(&root.join("DEBIAN/control"), control(release, product, (architecture, &depends, &kibibytes)))?;
    let file = release.dist.join(format!("{}_{}-1_{architecture}.deb", product.name, release.version));
    let mut dpkg = Command::new("dpkg-deb");
    dpkg.args(["--root-owner-group", "-Zxz", "--build"]).arg(&root).arg(&file);
    output(dpkg.env("SOURCE_DATE_EPOCH", &release.seconds))?;
    Ok(file)
}

fn manual_pages(root: &Path, from: &Path) -> Result<(), String> {
    let entries = std::fs::read_dir(from).map_err(|error| format!("read {}: {error}", from.display()))?;
    for page in entries.flatten().map(|entry| entry.path()) {
        let packed = output(Command::new("gzip").args(["-9nc"]).arg(&page))?;
        let name = page.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        write(&root.join("usr/share/man/man1").join(format!("{name}.gz")), packed)?;
    }
    Ok(())
}

fn documents(root: &Path, release: &Release, product: DistProduct, target: &DistTarget) -> Result<(), String> {
    let folder = root.join("usr/share/doc").join(product.name);
    let (year, of_debian) = (&release.date[..4], of_debian(release, product)?);
    let copyright = format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: proofload\nSource: {}\n\n\
         Files: *\nCopyright: {year} the authors of Proofload\nLicense: MIT or Apache-2.0\n\n\
         License: MIT\n{}\nLicense: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n\n\
         Comment: Crates that are compiled in have licences of their own, see LICENSES-THIRD-PARTY.txt.gz.\n",
        release.repository,
        paragraphs(&std::fs::read_to_string("LICENSE-MIT").map_err(|error| format!("read LICENSE-MIT: {error}"))?),
    );
    write(&folder.join("copyright"), copyright)?;
    write(&folder.join("changelog.Debian"), of_debian)?;
    copy(Path::new("CHANGELOG.md"), &folder.join("changelog"))?;
    write(&folder.join("LICENSES-THIRD-PARTY.txt"), super::licences::text(product, target)?)?;
    let packed = ["changelog.Debian", "changelog", "LICENSES-THIRD-PARTY.txt"].map(|name| folder.join(name));
    output(Command::new("gzip").args(["-9nf"]).args(packed)).map(|_| ())
}

/// Text as paragraphs of a field: a blank before each line, and a full stop for an empty one.
fn paragraphs(text: &str) -> String {
    text.trim().lines().map(|line| if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") }).collect()
}

fn of_debian(release: &Release, product: DistProduct) -> Result<String, String> {
    let date = text(Command::new("date").args(["-u", "-R", "-d", &format!("@{}", release.seconds)]))?;
    let (name, version) = (product.name, &release.version);
    Ok(format!(
        "{name} ({version}-1) unstable; urgency=medium\n\n  * Version {version}; see changelog.gz.\n\n -- {}  {date}\n",
        release.maintainer
    ))
}

fn control(release: &Release, product: DistProduct, (architecture, depends, kibibytes): (&str, &str, &str)) -> String {
    format!(
        "Package: {}\nVersion: {}-1\nArchitecture: {architecture}\nMaintainer: {}\nInstalled-Size: {kibibytes}\n{depends}\
         {}Section: database\nPriority: optional\nHomepage: {}\nDescription: {}",
        product.name, release.version, release.maintainer, product.relations, release.repository, product.description
    )
}

/// Packages that have the libraries of a binary, libc6 with the least version that has all symbols.
fn depends(program: &Path) -> Result<String, String> {
    let needed = text(Command::new("objdump").arg("-p").arg(program))?;
    let symbols = text(Command::new("objdump").arg("-T").arg(program))?;
    packages(&needed, &symbols)
}

fn packages(needed: &str, symbols: &str) -> Result<String, String> {
    let mut packages = Vec::new();
    for library in needed.lines().filter_map(|line| line.trim().strip_prefix("NEEDED")).map(str::trim) {
        let known = LIBRARIES.iter().find(|(name, _)| *name == library);
        let (_, package) = known.ok_or(format!("the binary needs {library}, and no package is known that has it"))?;
        packages.push(*package);
    }
    packages.sort_unstable();
    packages.dedup();
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let (major, minor) = digits.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.split('.').next()?.parse::<u32>().ok()?))
    });
    let (major, minor) = versions.max().ok_or("no symbol of glibc was found in the binary")?;
    let named = packages.iter().map(|package| match *package {
        "libc6" => format!("libc6 (>= {major}.{minor})"),
        other => other.to_owned(),
    });
    Ok(named.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_become_packages_and_an_unknown_one_is_refused() {
        let needed = "  NEEDED               libgcc_s.so.1\n  NEEDED               libm.so.6\n  NEEDED               libc.so.6\n";
        let symbols =
            "0 DF *UND* 0 (GLIBC_2.2.5) read\n0 DF *UND* 0 (GLIBC_2.34) dlsym\n0 DF *UND* 0 (GLIBC_2.9) pipe2\n";
        assert_eq!(packages(needed, symbols).as_deref(), Ok("libc6 (>= 2.34), libgcc-s1"));
        let error = packages("NEEDED libssl.so.3", symbols).expect_err("it is in no list");
        assert!(error.contains("libssl.so.3"), "{error}");
    }

    #[test]
    fn a_licence_becomes_paragraphs_of_a_field() {
        assert_eq!(paragraphs("MIT\n\nPermission\n"), " MIT\n .\n Permission\n");
    }
}
