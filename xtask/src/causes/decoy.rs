//! A limit that looks busy beside a planted cause and does not bind: it is set to little more than what was used without it. A step below that
//! use takes something away: where 85 % is used, one of 20 % has an elasticity of 0.27, one of 30 % of 0.54. Neither is a cause, but the second
//! is told from one less easily.

/// Use from which on a limit binds by itself.
const FULL: f64 = 0.95;
/// CPU seconds per second below which a quota is no decoy: two slices of 5 ms in each period of 0.1 s. A core takes its share by such
/// slices, so that threads on two cores are stopped before less than that is used up. Source: kernel documentation, "CFS Bandwidth Control",
/// `sched_cfs_bandwidth_slice_us`.
const LEAST_CPU: f64 = 0.1;

/// A limit of which a share is used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Decoy {
    /// Path of the limit, which the study sets with room above what is used.
    pub(super) limit: &'static str,
    /// Share of it that is used once it is set.
    pub(super) used: f64,
}

impl Decoy {
    /// A study with the limit so low that its share is used, where `reached` is the share that was used of the limit as the study has it; or
    /// why the study has no decoy.
    pub(super) fn text(self, study: &str, reached: f64) -> Result<String, String> {
        let Self { limit, used } = self;
        if !(f64::MIN_POSITIVE..FULL).contains(&reached) {
            return Err(format!("{:.0} % of {limit} was used without a decoy", 100.0 * reached));
        }
        let (table, key) = limit.split_once('.').ok_or_else(|| format!("{limit} is no path of a setting"))?;
        let (mut lines, mut is_inside, mut is_set) = (Vec::new(), false, false);
        for line in study.lines() {
            if line.starts_with('[') {
                is_inside = line == format!("[{table}]");
            }
            let had = line.split_once(" = ").filter(|(name, _)| is_inside && *name == key);
            if let Some((_, had)) = had {
                lines.push(format!("{key} = {}", lowered(limit, had, reached / used)?));
                is_set = true;
            } else {
                lines.push(line.to_owned());
            }
        }
        if is_set { Ok(lines.join("\n") + "\n") } else { Err(format!("the study does not set {limit}")) }
    }
}

/// A value times a factor; requests per second are whole.
fn lowered(limit: &str, had: &str, factor: f64) -> Result<String, String> {
    let value: f64 = had.parse().map_err(|_| format!("{limit} = {had} is no number"))?;
    let value = value * factor;
    if !limit.ends_with("cpu") {
        return Ok(format!("{:.0}", value.ceil()));
    }
    if value < LEAST_CPU {
        return Err(format!("too little CPU time is used for a decoy: {limit} would be {value:.3}"));
    }
    Ok(format!("{value:.3}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str =
        "[study]\nname = \"a\"\n[clients]\ncpu = 2.0\n[limits]\ncpu = 1.2\nwrite_iops = 1000\n[procedure]\n";

    #[track_caller]
    fn check(limit: &'static str, reached: f64, expected: Result<&str, &str>) {
        let found = Decoy { limit, used: 0.85 }.text(STUDY, reached);
        match (&found, expected) {
            (Ok(text), Ok(part)) => assert!(text.contains(part) && text.lines().count() == 8, "{text}"),
            (Err(text), Err(part)) => assert!(text.contains(part), "{text}"),
            _ => panic!("{found:?} is not {expected:?}"),
        }
    }

    #[test]
    fn a_decoy_is_the_limit_of_its_own_table() {
        // 1.2 · 0.17 / 0.85, 2 · 0.34 / 0.85 and 1000 · 0.4 / 0.85.
        check("limits.cpu", 0.17, Ok("[clients]\ncpu = 2.0\n[limits]\ncpu = 0.240\nwrite_iops = 1000\n"));
        check("clients.cpu", 0.34, Ok("[clients]\ncpu = 0.800\n[limits]\ncpu = 1.2\n"));
        check("limits.write_iops", 0.4, Ok("cpu = 1.2\nwrite_iops = 471\n[procedure]\n"));
    }

    #[test]
    fn a_limit_that_would_bind_is_no_decoy() {
        check("limits.cpu", 0.97, Err("97 % of limits.cpu was used"));
        check("limits.cpu", 0.0, Err("0 % of limits.cpu was used"));
        check("limits.cpu", f64::NAN, Err("was used without a decoy"));
        check("limits.cpu", 0.03, Err("limits.cpu would be 0.042"));
        check("limits.read_iops", 0.5, Err("does not set limits.read_iops"));
    }
}
