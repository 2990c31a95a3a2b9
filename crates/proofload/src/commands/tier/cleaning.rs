//! What the command line says of cleaning and of parts of a cache: read as the settings of a study that its options are named for, with the
//! same limits.

use super::words::{Faults, OriginPlace, for_volume};
use crate::cli_tier::CleaningArguments;
use proofload_model::settings::{STANDARD, Settings, Value};
use proofload_model::tier::QUOTAS;
use proofload_model::tier_cleaning::{CLEAN_AFTER, CLEAN_AGE, CLEAN_DEPTH, CachePart, CleaningPlan, DirtyMark};
use proofload_tier::machine::CacheMode;

/// When and how fast dirty lines are cleaned.
pub(super) fn plan(arguments: &CleaningArguments, faults: &mut Faults) -> CleaningPlan {
    let given = [
        ("--clean-after".to_owned(), CLEAN_AFTER, arguments.clean_after.as_str()),
        ("--clean-age".to_owned(), CLEAN_AGE, arguments.clean_age.as_str()),
        ("--clean-depth".to_owned(), CLEAN_DEPTH, arguments.clean_depth.as_str()),
        mark(DirtyMark::Target, &arguments.dirty_target),
        mark(DirtyMark::CleanTo, &arguments.clean_to),
        mark(DirtyMark::CleanFrom, &arguments.clean_from),
        mark(DirtyMark::BypassFrom, &arguments.bypass_from),
    ];
    let mut settings = Settings::default();
    for (option, path, text) in given {
        if let Some(value) = faults.take(&option, read(path, text)) {
            settings.0.insert(path.to_owned(), value);
        }
    }
    let plan = CleaningPlan::of(&settings);
    for (mark, fault) in plan.faults(option_of) {
        faults.add(format!("{}: {fault}", option_of(mark)));
    }
    plan
}

fn mark(mark: DirtyMark, text: &str) -> (String, &'static str, &str) {
    (option_of(mark), mark.setting(), text)
}

fn option_of(mark: DirtyMark) -> String {
    format!("--{}", mark.word().replace('_', "-"))
}

/// Reads a text as the value of a setting of a study.
fn read(path: &str, text: &str) -> Result<Value, String> {
    let spec = STANDARD.iter().find(|spec| spec.path == path);
    spec.ok_or_else(|| format!("unknown setting {path}"))?.kind.read_text(text)
}

/// Parts of the cache that the volumes may hold at most. When one has a part, every one that is cached has: the last one the rest.
pub(super) fn quotas(
    texts: &[String],
    (places, modes): (&[OriginPlace], &[CacheMode]),
    faults: &mut Faults,
) -> Vec<Option<CachePart>> {
    let mut parts: Vec<Option<CachePart>> = vec![None; places.len()];
    let mut is_read = true;
    for text in texts {
        let of = format!("--quota {text}");
        let read = for_volume(text, places).and_then(|(place, share)| Ok((place, part(share)?)));
        match faults.take(&of, read) {
            Some((place, part)) if modes[place] != CacheMode::Pass => {
                if parts[place].replace(part).is_some() {
                    faults.add(format!("{of}: the volume has a quota already"));
                }
            }
            Some(_) => {
                faults.add(format!("{of}: a volume of mode pass is not cached"));
                is_read = false;
            }
            None => is_read = false,
        }
    }
    if is_read && !texts.is_empty() {
        share_rest(&mut parts, (places, modes), faults);
    }
    parts
}

/// Gives the one volume without a part the rest.
fn share_rest(parts: &mut [Option<CachePart>], (places, modes): (&[OriginPlace], &[CacheMode]), faults: &mut Faults) {
    let cached = modes.iter().filter(|mode| **mode != CacheMode::Pass).count();
    let open: Vec<usize> =
        (0..parts.len()).filter(|place| parts[*place].is_none() && modes[*place] != CacheMode::Pass).collect();
    let sum: u32 = parts.iter().flatten().map(|part| part.parts()).sum();
    let rest = CachePart::WHOLE.parts().checked_sub(sum);
    match (rest, open.as_slice()) {
        _ if cached < 2 => faults.add("--quota: only used with several cached volumes; remove it"),
        (None, _) => faults.add(format!("--quota: together {} of the cache; use at most 100%", per_cent(sum))),
        (Some(0), [place, ..]) => {
            faults.add(format!("--quota: nothing is left for {}; use less than 100%", places[*place].class.name()));
        }
        (Some(rest), [place]) => parts[*place] = Some(CachePart::of_parts(rest)),
        (Some(_), []) => {}
        (Some(_), [_, ..]) => {
            let names: Vec<&str> = open.iter().map(|place| places[*place].class.name()).collect();
            faults.add(format!("--quota: {} have none; give one to all volumes but one", names.join(" and ")));
        }
    }
}

fn per_cent(parts: u32) -> String {
    format!("{}%", f64::from(parts) / 100.0)
}

fn part(text: &str) -> Result<CachePart, String> {
    let value = read(QUOTAS[0].1, text)?;
    let share = if let Value::Number(share) = value { share } else { 0.0 };
    Ok(CachePart::of(share))
}

#[cfg(test)]
mod tests {
    use super::super::words::origins;
    use super::*;

    /// Quotas of three volumes, the last of which has mode pass; all faults.
    fn found(texts: &[&str]) -> Result<Vec<Option<u32>>, String> {
        let strings = |texts: &[&str]| -> Vec<String> { texts.iter().map(|text| (*text).to_owned()).collect() };
        let mut faults = Faults::default();
        let places = origins(&strings(&["data=/a", "log=/b", "temp=/c"]), &mut faults);
        let modes = [CacheMode::WriteBack, CacheMode::WriteThrough, CacheMode::Pass];
        let parts = quotas(&strings(texts), (&places, &modes), &mut faults);
        let told = faults.text();
        if told.is_empty() { Ok(parts.iter().map(|part| part.map(CachePart::parts)).collect()) } else { Err(told) }
    }

    #[test]
    fn the_last_volume_without_a_quota_has_the_rest() {
        assert_eq!(found(&[]), Ok(vec![None, None, None]));
        assert_eq!(found(&["log=10%"]), Ok(vec![Some(9000), Some(1000), None]));
        assert_eq!(found(&["log=0.1", "data=50%"]), Ok(vec![Some(5000), Some(1000), None]));
    }

    #[test]
    fn quotas_that_cannot_be_are_refused_with_their_limits() {
        let check = |texts: &[&str], expected: &str| {
            let told = found(texts).unwrap_err();
            assert!(told.contains(expected), "{texts:?}: {told}");
        };
        check(&["log=100%"], "a share from 0.01 to 0.99");
        check(&["log=60%", "data=50%"], "together 110% of the cache; use at most 100%");
        check(&["temp=5%"], "a volume of mode pass is not cached");
        check(&["log=5%", "log=6%"], "has a quota already");
        check(&["5%"], "add the volume");
    }
}
