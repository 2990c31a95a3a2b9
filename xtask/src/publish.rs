//! Packs every crate in the order of their imports as crates.io would get it, and says how large each is. Uploads nothing.

use crate::program::{cargo, output, target_folder, tell};

/// Largest package that crates.io takes, bytes.
const LARGEST: u64 = 10 * 1024 * 1024;

/// Packs all crates; with `verify` each is also unpacked and built from what the packages before it hold, minutes of work.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let verify = match arguments {
        [] => false,
        [word] if word == "verify" => true,
        other => return Err(format!("publish knows only verify, not {other:?}")),
    };
    let names = packages()?;
    let mut command = cargo();
    // What is not committed yet is packed, too: this is a trial.
    command.args(["publish", "--dry-run", "--allow-dirty", "--locked", "--workspace", "--exclude", "xtask"]);
    let mut pack = cargo();
    pack.args(["package", "--no-verify", "--allow-dirty", "--locked", "--workspace", "--exclude", "xtask", "--quiet"]);
    if !verify {
        command.arg("--no-verify");
    }
    for (words, command) in [("publish --dry-run", &mut command), ("package", &mut pack)] {
        let status = command.status().map_err(|error| format!("started cargo: {error}"))?;
        if !status.success() {
            return Err(format!("cargo {words} ended with {status}; its output above says why"));
        }
    }
    let target = target_folder();
    for name in &names {
        let file = target.join("package").join(format!("{name}.crate"));
        let size = std::fs::metadata(&file).map_err(|error| format!("looked at {}: {error}", file.display()))?.len();
        if size > LARGEST {
            return Err(format!("{} has {size} bytes, more than the {LARGEST} that crates.io takes", file.display()));
        }
        tell(&format!("{name}: {} kB", size / 1000));
    }
    tell(&format!("{} packages{}", names.len(), if verify { ", each built from the packages before it" } else { "" }));
    Ok(())
}

/// Names and versions of the crates that may be published.
fn packages() -> Result<Vec<String>, String> {
    let told = output(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&told).map_err(|error| format!("read cargo's metadata: {error}"))?;
    Ok(names(&metadata))
}

fn names(metadata: &serde_json::Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // An empty list of registries is how cargo tells `publish = false`.
    let public =
        packages.filter(|package| package["publish"].as_array().is_none_or(|registries| !registries.is_empty()));
    let word = |package: &serde_json::Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
    public.map(|package| format!("{}-{}", word(package, "name"), word(package, "version"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_crates_are_packed() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "a", "version": "0.1.0", "publish": null },
            { "name": "xtask", "version": "0.1.0", "publish": [] },
        ]});
        assert_eq!(names(&metadata), ["a-0.1.0"]);
        let error = run(&["upload".to_owned()]).expect_err("it is no word of the chore");
        assert!(error.contains("upload"), "{error}");
    }
}
