//! The command that serves the volumes of a tier: `tier serve` of this program. May not run it.

use super::tier_place::TierPlace;
use proofload_engine::CommandLine;
use proofload_model::error::Error;
use proofload_model::tier::{DriveScheduling, SlowMedium, TierPlan, TierVolume};
use proofload_model::tier_cleaning::DirtyMark;
use proofload_model::units::{Bytes, duration_text};
use std::path::Path;

/// The command for volumes in the order of their numbers, behind which lie so many bytes of data.
///
/// # Errors
/// The agent has not told where this program is.
pub(super) fn server_command(
    program: Option<&Path>,
    place: &TierPlace,
    plan: &TierPlan,
    volumes: &[TierVolume],
    (size, is_direct): (Bytes, bool),
) -> Result<CommandLine, Error> {
    let program =
        program.ok_or_else(|| Error::new("failed to serve the cache tier: the path of this program is unknown"))?;
    let path = |path: &Path| path.display().to_string();
    let mut arguments = vec!["tier".to_owned(), "serve".to_owned(), path(&place.cache())];
    let mut option = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    for volume in volumes {
        let origin = match volume {
            TierVolume::Data => place.data_origin(),
            TierVolume::Log => place.log_origin(),
        };
        let mode = if plan.cache.accelerates(*volume) { plan.cache.mode.word() } else { "pass" };
        option("--origin", format!("{}={}", volume.word(), path(&origin)));
        option("--mode", format!("{}={mode}", volume.word()));
        if let Some(part) = plan.cache.quota(*volume) {
            option("--quota", format!("{}={part}", volume.word()));
        }
    }
    option("--policy", plan.cache.policy.word().to_owned());
    let cleaning = &plan.cache.cleaning;
    option("--clean-depth", cleaning.depth.to_string());
    for mark in DirtyMark::ALL {
        option(&format!("--{}", mark.word().replace('_', "-")), cleaning.mark(mark).to_string());
    }
    option("--clean-after", duration_text(cleaning.clean_after));
    option("--clean-age", duration_text(cleaning.age_limit));
    if plan.slow.is_modelled() {
        option("--slow", drives(&plan.slow));
    }
    if let Some(delay) = plan.flush_delay {
        option("--flush-delay", duration_text(delay));
    }
    option("--sample", size.to_string());
    option("--control", path(&place.control()));
    option("--fuse", path(&place.files()));
    arguments.push("--loop".to_owned());
    if !is_direct {
        arguments.push("--page-cache".to_owned());
    }
    Ok(CommandLine { program: program.to_owned(), arguments, environment: Vec::new() })
}

/// The word for the modelled drives, such as `raid-5:8x7.2k:64MiB`, `raid-5:8x7.2k:64MiB:0.03` for data over a share of their stroke, or
/// `raid-5:8x7.2k:64MiB:0:fcfs` for another scheduling than the usual one.
fn drives(slow: &SlowMedium) -> String {
    let usual = slow.scheduling == DriveScheduling::default();
    let scheduling = if usual { String::new() } else { format!(":{}", slow.scheduling.word()) };
    let is_plain = slow.stroke.is_contiguous() && usual;
    let stroke = if is_plain { String::new() } else { format!(":{}", slow.stroke.share()) };
    format!("{}:{}x{}:{}{stroke}{scheduling}", slow.raid.word(), slow.count(), slow.drive.word(), slow.write_cache)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::{Settings, Value};
    use proofload_model::tier::{TIER, tier_plan};
    use std::time::Duration;

    #[test]
    fn modelled_drives_are_one_word() {
        let word = |more: &[(&str, Value)]| {
            let storage = ("storage.kind", Value::Text(TIER.to_owned()));
            let given = more.iter().cloned().chain([storage]).map(|(path, value)| (path.to_owned(), value));
            drives(&tier_plan(&Settings(given.collect())).expect("words").expect("a tier").slow)
        };
        let in_order = ("storage.slow.scheduling", Value::Text("fcfs".to_owned()));
        let spread = ("storage.slow.stroke", Value::Number(0.03));
        assert_eq!(word(&[]), "raid-5:8x7.2k:0B");
        assert_eq!(word(std::slice::from_ref(&spread)), "raid-5:8x7.2k:0B:0.03");
        assert_eq!(word(std::slice::from_ref(&in_order)), "raid-5:8x7.2k:0B:0:fcfs");
        assert_eq!(word(&[spread, in_order]), "raid-5:8x7.2k:0B:0.03:fcfs");
    }

    #[test]
    fn a_server_cleans_and_parts_its_cache_as_its_study_says() {
        let given = [
            ("storage.kind", Value::Text(TIER.to_owned())),
            ("storage.cache.percent", Value::Integer(30)),
            ("storage.cache.clean_depth", Value::Integer(16)),
            ("storage.cache.dirty_target", Value::Number(0.125)),
            ("storage.cache.clean_after", Value::Duration(Duration::from_secs(30))),
            ("storage.cache.accelerate", Value::List(vec!["data".to_owned(), "log".to_owned()])),
            ("storage.cache.log_quota", Value::Number(0.1)),
        ];
        let settings = Settings(given.into_iter().map(|(path, value)| (path.to_owned(), value)).collect());
        let plan = tier_plan(&settings).expect("words").expect("a tier");
        let place = TierPlace::of(Path::new("/data/instance"));
        let program = Some(Path::new("/bin/proofload"));
        let volumes = [TierVolume::Data, TierVolume::Log];
        let command = server_command(program, &place, &plan, &volumes, (Bytes(1 << 20), true));
        let arguments = command.expect("the program is known").arguments;
        let given = |name: &str| -> Vec<String> {
            let pairs = arguments.windows(2).filter(|pair| pair[0] == name);
            pairs.map(|pair| pair[1].clone()).collect()
        };
        let found = ["--clean-depth", "--dirty-target", "--clean-to", "--bypass-from", "--clean-after", "--clean-age"];
        assert_eq!(found.map(given).concat(), ["16", "12.5%", "45%", "90%", "30s", "10m"], "{arguments:?}");
        assert_eq!(given("--quota"), ["data=90%", "log=10%"]);
    }
}
