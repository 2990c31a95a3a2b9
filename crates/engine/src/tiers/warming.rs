//! Fills a new cache from a list of lines before anything is served through it, at the speed of the files of its volumes. May not know a
//! database.

use super::cache_file::{open_cache, tier_error};
use super::plan::settings;
use super::warm_list::{NamedLines, WarmList};
use crate::contract::Error;
use proofload_model::tier::{TierPlan, TierVolume};
use proofload_model::tier_warming::{WARM, WRITE_LIST, WarmedList};
use proofload_model::units::Bytes;
use proofload_tier::device::{Clock, Device};
use proofload_tier::tier::{CacheInspection, Maintenance, Tier, TierDevices};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A cache that was just made.
pub struct NewCache<'a> {
    /// Its file.
    pub path: &'a Path,
    /// The plan that it was made by.
    pub plan: &'a TierPlan,
    /// Its volumes, in the order of their numbers.
    pub volumes: &'a [TierVolume],
    /// Bytes of each that hold something, from its first; `u64::MAX` where all may.
    pub contents: &'a [Bytes],
    /// Files of them, without the drives that a study models.
    pub origins: Vec<Arc<dyn Device>>,
    /// The clock that bounds it.
    pub clock: Arc<dyn Clock>,
}

/// Fills a cache from the list of its plan, and closes it again; `None` where its plan has no list.
///
/// # Errors
/// There is no such list, it is of other lines or volumes, one of its lines is none, or a device fails.
pub fn warm_cache(cache: NewCache<'_>) -> Result<Option<WarmedList>, Error> {
    let NewCache { path, plan, volumes, contents, origins, clock } = cache;
    let Some(warm) = plan.cache.warming() else { return Ok(None) };
    let mut list = WarmList::open(Path::new(&warm.list)).map_err(of_setting)?;
    let device = open_cache(path)?.device;
    let lines = CacheInspection::lines_in_use(&*device).map_err(tier_error)?;
    let devices = TierDevices { cache: device, origins };
    let tier = Arc::new(Tier::open(devices, settings(plan, volumes, lines), Arc::clone(&clock)).map_err(tier_error)?);
    let filled = expect_fitting(&list, &tier).and_then(|()| {
        let end = clock.now() + warm.within;
        fill(&tier, (plan, volumes, contents), &mut list, (&*clock, end))
    });
    let closed = Arc::into_inner(tier).map_or(Ok(()), Tier::close).map_err(tier_error);
    let filled = filled?;
    closed.map(|()| Some(filled))
}

/// Reads the list of a plan to its end, so that what is wrong with it is told before anything is built; fills nothing.
///
/// # Errors
/// There is no such list, it is of other lines, one of its lines is none, or it names none.
pub fn check_list(plan: &TierPlan) -> Result<(), Error> {
    let Some(warm) = plan.cache.warming() else { return Ok(()) };
    let mut list = WarmList::open(Path::new(&warm.list)).map_err(of_setting)?;
    // How large volumes are is known when they are there.
    expect_same(&list, plan.cache.line, &[])?;
    let named = list.by_ref().count();
    list.expect_whole().map_err(of_setting)?;
    if named > 0 {
        return Ok(());
    }
    let path = list.path().display();
    let text = format!("read the list of lines {path}: it names no line; write another one with `{WRITE_LIST}`");
    Err(of_setting(Error::other(text)))
}

/// An error of the list of a study, which names its setting.
fn of_setting(error: Error) -> Error {
    error.context(WARM)
}

/// Refuses a list of other lines or volumes than those of an open tier.
fn expect_fitting(list: &WarmList, tier: &Tier) -> Result<(), Error> {
    let volumes: Vec<Bytes> = (0..tier.volumes()).map(|volume| Bytes(tier.volume_bytes(volume))).collect();
    expect_same(list, Bytes(tier.status().line_bytes.into()), &volumes)
}

/// Refuses a list of other lines or volumes than those of these sizes.
fn expect_same(list: &WarmList, line: Bytes, volumes: &[Bytes]) -> Result<(), Error> {
    let Some(why) = list.head().mismatch(line, volumes) else { return Ok(()) };
    Err(of_setting(Error::other(format!(
        "failed to fill the cache from the list of lines {}: {why}; use a list of a cache with such lines and volumes",
        list.path().display()
    ))))
}

/// Reads lines until the list ends, the cache is full or the time is over; all of the list is counted.
fn fill(
    tier: &Arc<Tier>,
    (plan, volumes, contents): (&TierPlan, &[TierVolume], &[Bytes]),
    list: &mut WarmList,
    (clock, end): (&dyn Clock, Duration),
) -> Result<WarmedList, Error> {
    let line = u64::from(tier.status().line_bytes);
    let (mut named, mut fitting, mut left_out) = (NamedLines::of(Bytes(line)), 0_u64, WarmedList::default());
    let mut fits = |&(volume, at): &(u8, u64)| {
        let number = usize::from(volume);
        let is_beyond_data = contents.get(number).is_some_and(|content| at - at % line >= content.0);
        // The size of the data says nothing of places in another volume.
        let at_data = if volumes.get(number) == Some(&TierVolume::Data) { at } else { 0 };
        let is_cached = volumes.get(number).map(|volume| plan.cache.accelerates(*volume));
        let left = if is_cached.is_none() {
            &mut left_out.no_volume
        } else if is_cached == Some(false) {
            &mut left_out.not_cached
        } else if at >= tier.volume_bytes(volume) {
            left_out.farthest = left_out.farthest.max(at_data);
            &mut left_out.beyond_volume
        } else if is_beyond_data {
            left_out.farthest = left_out.farthest.max(at_data);
            &mut left_out.beyond_data
        } else if named.add(volume, at) {
            fitting += 1;
            return true;
        } else {
            // The tier would count it as one more line that is there.
            &mut left_out.repeated
        };
        *left += 1;
        false
    };
    let maintenance = Maintenance::start(tier);
    let found = tier.warm(list.by_ref().filter(&mut fits), u64::MAX, || clock.now() < end).map_err(tier_error)?;
    // The rest is only counted.
    let _counted = list.by_ref().filter(&mut fits).count();
    list.expect_whole().map_err(of_setting)?;
    // What it gives up for lines that come is given up by now.
    drop(maintenance);
    let now = tier.snapshot();
    let there: u64 = now.volumes.iter().map(|volume| u64::from(volume.lines)).sum();
    // All that its own volumes refuse was left out before.
    let refused = found.no_volume + found.not_cached + found.beyond_volume;
    let is_full = found.loaded + found.present >= u64::from(now.status.active_lines);
    let left = fitting.saturating_sub(found.loaded + found.present + refused + found.beyond_quota);
    let filled = there.min(found.loaded);
    Ok(WarmedList {
        named: list.named(),
        filled,
        repeated: left_out.repeated + found.present,
        no_volume: left_out.no_volume + found.no_volume,
        not_cached: left_out.not_cached + found.not_cached,
        beyond_volume: left_out.beyond_volume + found.beyond_volume,
        beyond_data: left_out.beyond_data,
        beyond_quota: found.beyond_quota,
        // What was given up again for a later line had no room beside it.
        no_room: found.loaded - filled + if is_full { left } else { 0 },
        out_of_time: if is_full { 0 } else { left },
        farthest: left_out.farthest,
    })
}

#[cfg(test)]
mod tests {
    use super::super::cache_file::make_cache;
    use super::*;
    use proofload_model::settings::{Settings, Value};
    use proofload_model::tier::{TIER, tier_plan};
    use proofload_model::tier_warming::{WARM, WARM_WITHIN};
    use proofload_tier::device::{FileDevice, MachineClock, PageCache};
    use std::fmt::Write as _;
    use std::path::PathBuf;

    const LINE: u64 = 8192;
    /// Lines of each cache.
    const ROOM: u64 = 64;
    /// Bytes of each volume; 4 KiB more are its label.
    const VOLUME: u64 = 1 << 20;
    const VOLUMES: [TierVolume; 2] = [TierVolume::Data, TierVolume::Log];

    struct Scene {
        folder: tempfile::TempDir,
        plan: TierPlan,
        /// Bytes of each volume that hold something.
        contents: [Bytes; 2],
    }

    impl Scene {
        /// A cache of 64 lines before data alone, or with a part for the log.
        fn new(log_quota: Option<f64>, within: Duration) -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let text = |text: &str| Value::Text(text.to_owned());
            let mut given = vec![
                ("storage.kind", text(TIER)),
                ("storage.cache.size", Value::Bytes(Bytes(ROOM * LINE))),
                (WARM, Value::Text(folder.path().join("list").display().to_string())),
                (WARM_WITHIN, Value::Duration(within)),
            ];
            if let Some(quota) = log_quota {
                let both = Value::List(vec!["data".to_owned(), "log".to_owned()]);
                given.extend([("storage.cache.accelerate", both), ("storage.cache.log_quota", Value::Number(quota))]);
            }
            let given = given.into_iter().map(|(path, value)| (path.to_owned(), value)).collect();
            let plan = tier_plan(&Settings(given)).expect("words").expect("a tier");
            Self { folder, plan, contents: [Bytes(u64::MAX); 2] }
        }

        fn cache(&self) -> PathBuf {
            self.folder.path().join("cache")
        }

        /// Files of both volumes, made where they are not there.
        fn origins(&self) -> Vec<Arc<dyn Device>> {
            let open = |volume: &TierVolume| -> Arc<dyn Device> {
                let path = self.folder.path().join(volume.word());
                if !path.exists() {
                    let file = std::fs::File::create(&path).expect("creates");
                    file.set_len(VOLUME + 4096).expect("grows");
                }
                Arc::new(FileDevice::open(&path, PageCache::Used).expect("opens"))
            };
            VOLUMES.iter().map(open).collect()
        }

        /// Makes a cache and fills it from a list with a first object.
        fn warm(&self, head: &str, lines: impl IntoIterator<Item = (u8, u64)>) -> Result<WarmedList, Error> {
            let mut list = format!("{head}\n");
            for (volume, at) in lines {
                writeln!(list, r#"{{"volume":{volume},"at":{at}}}"#).expect("writes");
            }
            std::fs::write(self.folder.path().join("list"), list).expect("writes");
            make_cache(&self.cache(), &self.plan, Bytes(VOLUME), &self.origins()).expect("makes");
            let cache = NewCache {
                path: &self.cache(),
                plan: &self.plan,
                volumes: &VOLUMES,
                contents: &self.contents,
                origins: self.origins(),
                clock: Arc::new(MachineClock::new()),
            };
            warm_cache(cache).map(|warmed| warmed.expect("its plan has a list"))
        }

        /// Opens the cache; lines that are there, and whether it has the lines at these places.
        fn opened(&self, places: &[(u8, u64)]) -> (u64, bool) {
            let devices =
                TierDevices { cache: open_cache(&self.cache()).expect("opens").device, origins: self.origins() };
            let pool = settings(&self.plan, &VOLUMES, ROOM as u32);
            let tier = Tier::open(devices, pool, Arc::new(MachineClock::new())).expect("opens");
            assert!(!tier.status().after_crash, "it was closed");
            let lines = tier.snapshot().volumes.iter().map(|volume| u64::from(volume.lines)).sum();
            (lines, places.iter().all(|(volume, at)| tier.is_resident(*volume, *at, LINE)))
        }
    }

    const HEAD: &str = r#"{"form":1,"line_bytes":8192,"volumes":[{"bytes":1048576},{"bytes":1048576}]}"#;
    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn a_new_cache_has_the_lines_of_its_list_and_tells_what_it_left() {
        let scene = Scene::new(None, LONG);
        let places = [(0, 9 * LINE), (0, 3 * LINE), (0, 70 * LINE)];
        // Named again, of the log, which is not cached, of no volume, and behind the end.
        let others = [(0, 9 * LINE + 1), (1, 0), (2, 0), (7, 0), (0, VOLUME)];
        let warmed = scene.warm(HEAD, places.into_iter().chain(others)).expect("fills");
        let left = WarmedList { repeated: 1, no_volume: 2, not_cached: 1, beyond_volume: 1, ..WarmedList::default() };
        assert_eq!(warmed, WarmedList { named: 8, filled: 3, farthest: VOLUME, ..left });
        assert_eq!(scene.opened(&places), (3, true));
    }

    #[test]
    fn a_list_longer_than_the_cache_or_a_quota_or_the_time_leaves_the_rest() {
        let scene = Scene::new(None, LONG);
        let warmed = scene.warm(HEAD, (0..100).map(|block| (0, block * LINE))).expect("fills");
        assert_eq!((warmed.named, warmed.filled + warmed.no_room, warmed.out_of_time), (100, 100, 0));
        assert!(warmed.filled > ROOM / 2 && warmed.filled <= ROOM && warmed.is_as_asked(), "{warmed:?}");
        assert!(scene.opened(&[]).0 >= warmed.filled.min(ROOM / 2), "it is as warm when it is opened");

        let scene = Scene::new(Some(0.25), LONG);
        let warmed = scene.warm(HEAD, (0..20).map(|block| (1, block * LINE))).expect("fills");
        assert_eq!((warmed.named, warmed.beyond_quota), (20, 4), "a quarter of 64 lines is 16: {warmed:?}");
        assert_eq!(warmed.filled + warmed.no_room, 16);

        let scene = Scene::new(None, Duration::ZERO);
        let warmed = scene.warm(HEAD, (0..5).map(|block| (0, block * LINE))).expect("ends");
        assert_eq!(warmed, WarmedList { named: 5, out_of_time: 5, ..WarmedList::default() });
        assert!(!warmed.is_as_asked());
    }

    #[test]
    fn lines_that_are_named_again_take_no_room_from_others() {
        let scene = Scene::new(None, LONG);
        // Steps of half a line, as those of a trace.
        let warmed = scene.warm(HEAD, (0..200).map(|step| (0, step * LINE / 2))).expect("fills");
        assert_eq!((warmed.named, warmed.repeated), (200, 100));
        assert_eq!((warmed.filled + warmed.no_room, warmed.out_of_time), (100, 0), "{warmed:?}");
        assert!(warmed.filled > ROOM / 2 && warmed.is_as_asked(), "{warmed:?}");

        let scene = Scene::new(Some(0.25), LONG);
        let warmed = scene.warm(HEAD, (0..40).map(|step| (1, step * LINE / 2))).expect("fills");
        assert_eq!((warmed.repeated, warmed.beyond_quota), (20, 4), "nor of a quota: {warmed:?}");
    }

    #[test]
    fn lines_behind_the_end_of_the_data_are_told_and_are_not_filled() {
        let mut scene = Scene::new(None, LONG);
        // The fourth line has a single byte of the data.
        scene.contents[0] = Bytes(3 * LINE + 1);
        let lines = (0..10).map(|block| (0, block * LINE)).chain([(0, 3 * LINE + 7), (0, VOLUME)]);
        let warmed = scene.warm(HEAD, lines).expect("fills");
        let some = WarmedList { named: 12, filled: 4, repeated: 1, beyond_data: 6, ..WarmedList::default() };
        assert_eq!(warmed, WarmedList { beyond_volume: 1, farthest: VOLUME, ..some });
        assert_eq!(scene.opened(&[(0, 0), (0, 3 * LINE)]), (4, true));
    }

    #[test]
    fn a_place_behind_the_end_of_the_log_is_not_compared_with_the_size_of_the_data() {
        let scene = Scene::new(Some(0.25), LONG);
        let warmed = scene.warm(HEAD, [(0, 0), (1, VOLUME)]).expect("fills");
        assert_eq!(warmed, WarmedList { named: 2, filled: 1, beyond_volume: 1, ..WarmedList::default() });
        let told = warmed.fault(Bytes(3 << 30)).expect("a line lies behind the end of its volume");
        assert!(told.contains("behind the end of a volume") && !told.contains("other data"), "{told}");
    }

    #[test]
    fn a_list_of_other_lines_or_volumes_is_refused_and_so_is_one_that_breaks_off() {
        let scene = Scene::new(None, LONG);
        for (head, why) in [
            (HEAD.replace("8192", "4096"), "its lines are of 4 KiB"),
            (HEAD.replacen("1048576", "2097152", 1), "its volume 0 has 2 MiB"),
            ("{}".to_owned(), "line 1: it begins no list"),
            (format!("{HEAD}\nlines"), "line 2: it is no JSON object: expected value at column 1"),
            (format!("{HEAD}\n{{\"volume\":0,\"at\":0}}\n{{\"volume\":0}}"), "line 3: `at` must be a number of bytes"),
        ] {
            let error = scene.warm(&head, [(0, 0)]).expect_err("no such list").to_string();
            let list = scene.folder.path().join("list").display().to_string();
            let is_named = error.starts_with("storage.cache.warm: failed to ") && error.contains(&list);
            assert!(is_named && error.contains("list of lines") && error.contains(why), "{error}");
        }
        std::fs::remove_file(scene.folder.path().join("list")).expect("removes");
        let missing = WarmList::open(&scene.folder.path().join("list")).expect_err("it is missing").to_string();
        assert!(missing.starts_with("failed to read the list of lines"), "{missing}");
    }

    #[test]
    fn a_list_is_read_to_its_end_before_anything_is_made() {
        let scene = Scene::new(None, LONG);
        let list = scene.folder.path().join("list");
        let told = |text: Option<&str>| {
            let _none = std::fs::remove_file(&list);
            if let Some(text) = text {
                std::fs::write(&list, text).expect("writes");
            }
            check_list(&scene.plan).err().map(|error| error.to_string())
        };
        let (line, small) = (r#"{"volume":0,"at":0}"#, HEAD.replace("8192", "4096"));
        assert_eq!(told(Some(&format!("{HEAD}\n{line}\n"))), None);
        for (text, why) in [
            (None, "(os error 2); check the path, or write one with `proofload tier dump"),
            (Some(String::new()), "line 1: it is missing: the file is empty; write one with"),
            (Some(format!("{HEAD}\n")), "it names no line; write another one"),
            (Some(format!("{small}\n{line}\n")), "its lines are of 4 KiB"),
            (Some(format!("{HEAD}\n{line}\n{line}\n{{\"vol")), "line 4: it is no JSON object: EOF while parsing"),
        ] {
            let told = told(text.as_deref()).unwrap_or_default();
            let is_named = told.starts_with("storage.cache.warm: ") && told.contains(&list.display().to_string());
            assert!(is_named && told.contains(why), "{told}");
        }
        assert!(!scene.cache().exists(), "nothing was made");
    }
}
