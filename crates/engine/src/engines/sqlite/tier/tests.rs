//! Databases on a tier: what SQLite wrote is there, through the tier and, once that is clean, without it.

use super::MountGuard;
use crate::contract::Target;
use crate::engines::sqlite::database;
use crate::tiers::{self, ReadTier};
use proofload_model::facts::tier;
use proofload_model::tier::{
    CONTROL_SOCKET, CachePlan, CacheSize, DriveModel, DriveScheduling, EvictionPolicy, RaidLevel, SlowMedium, Stroke,
    TierPlan, TierVolume, WriteMode,
};
use proofload_model::tier_cleaning::{CachePart, CleanDepth, CleaningPlan, DirtyMark};
use proofload_model::tier_warming::{WarmPlan, WarmedList};
use proofload_model::units::Bytes;
use proofload_model::wire::DataLocation;
use proofload_tier::control::ControlClient;
use proofload_tier::machine::VolumeClass;
use rusqlite::Connection;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// A plan of a cache before modelled drives.
pub(super) fn plan(size: CacheSize, accelerate: &[TierVolume]) -> TierPlan {
    let slow = SlowMedium {
        drive: DriveModel::Rpm15k,
        raid: RaidLevel::Raid0,
        drives: 8,
        write_cache: Bytes::mebi(64),
        stroke: Stroke::default(),
        scheduling: DriveScheduling::default(),
    };
    let cache = CachePlan {
        size,
        mode: WriteMode::WriteBack,
        policy: EvictionPolicy::S3Fifo1,
        cleaning: CleaningPlan::usual(),
        line: Bytes(8192),
        accelerate: accelerate.to_vec(),
        quotas: Vec::new(),
        prewarm: false,
        warm: None,
        folder: None,
    };
    TierPlan { slow, cache, flush_delay: None }
}

fn target(folder: &Path, tier: Option<TierPlan>) -> Target {
    let (engine, folder) = ("sqlite".to_owned(), folder.display().to_string());
    // Few pages in memory, so that the volumes are read.
    let settings = vec![("cache_size".to_owned(), "20".to_owned()), ("wal_autocheckpoint".to_owned(), "50".to_owned())];
    Target::new(DataLocation { engine, folder, url: None, settings, tier: tier.map(Box::new) }, None)
}

/// Rows of about a kilobyte.
fn built(folder: &Path, rows: u32) {
    let target = target(folder, None);
    database::create(&target).expect("creates");
    let connection = database::open(&target).expect("opens");
    connection.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, pad TEXT); BEGIN").expect("creates");
    let mut insert = connection.prepare("INSERT INTO t VALUES (?1, 0, ?2)").expect("prepares");
    for row in 0..rows {
        insert.execute((row, "x".repeat(1000))).expect("inserts");
    }
    drop(insert);
    connection.execute_batch("COMMIT").expect("commits");
    drop(connection);
    database::settle(&target).expect("settles");
}

fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).expect(sql)
}

fn check_whole(connection: &Connection, sum: i64) {
    let text: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checks");
    assert_eq!((text.as_str(), number(connection, "SELECT sum(n) FROM t")), ("ok", sum));
}

#[test]
fn commits_wait_for_flushes_that_are_delayed_and_an_opening_delays_them_as_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 20);
    let delay = Duration::from_millis(30);
    let mut plan = plan(CacheSize::Bytes(Bytes(0)), &[TierVolume::Data]);
    (plan.slow.drive, plan.flush_delay) = (DriveModel::NotModelled, Some(delay));
    let mut target = target(folder.path(), Some(plan));
    target.place.settings.push(("synchronous".to_owned(), "FULL".to_owned()));
    let socket = folder.path().join(CONTROL_SOCKET);
    let times = || ControlClient::connect(&socket).expect("listens").reading().expect("answers").pool.flush_times;
    let commit = |connection: &Connection| {
        let (before, begun) = (times().flushes, Instant::now());
        connection.execute("UPDATE t SET n = n + 1 WHERE id = 3", []).expect("updates");
        (times().flushes - before, begun.elapsed())
    };
    let connection = database::open(&target).expect("opens");
    commit(&connection);
    let (flushes, took) = commit(&connection);
    assert!(flushes >= 1 && took >= delay * u32::try_from(flushes).expect("few"), "{flushes} {took:?}");
    assert!(times().mean_delay() >= Some(delay) && times().delay == delay, "{:?}", times());
    let longer = 4 * delay;
    ControlClient::connect(&socket).expect("listens").delay_flushes(longer).expect("changes");
    assert!(commit(&connection).1 >= longer && times().delay == longer);
    drop(connection);
    let again = database::open(&target).expect("opens again");
    assert_eq!(times().delay, delay, "what was changed has ended with the tier");
    check_whole(&again, 3);
}

#[test]
fn what_was_written_through_a_tier_is_there_again_and_the_cache_is_warm() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 500);
    let both = plan(CacheSize::PercentOfData(300), &[TierVolume::Data, TierVolume::Log]);
    let mut cleaning = CleaningPlan::usual();
    cleaning.depth = CleanDepth::Fixed(32);
    cleaning.set_mark(DirtyMark::BypassFrom, CachePart::of(0.8));
    let quotas = vec![(TierVolume::Log, CachePart::of(0.2))];
    let cache = CachePlan { cleaning, quotas, ..both.cache.clone() };
    let deeper = target(folder.path(), Some(TierPlan { cache, ..both.clone() }));
    let target = target(folder.path(), Some(both));
    let connection = database::open(&target).expect("opens");
    let second = database::open(&target).expect("opens beside it");
    for row in 0..300 {
        connection.execute("UPDATE t SET n = n + 1 WHERE id = ?1", [row]).expect("updates");
    }
    assert_eq!(number(&second, "SELECT count(*) FROM t"), 500);
    second.execute_batch("DELETE FROM t WHERE id >= 400; VACUUM").expect("shrinks");
    let mount =
        MountGuard::open(&database::file(&target), target.place.tier.as_ref().expect("a tier")).expect("shares");
    let socket = Path::new(&target.place.folder).join(CONTROL_SOCKET);
    let reading = ControlClient::connect(&socket).expect("listens").reading().expect("answers");
    let (data, log) = (reading.pool.volumes[0].counters, reading.pool.volumes[1].counters);
    assert_eq!((reading.pool.volumes[0].class, reading.disks.len()), (VolumeClass::Data, 1));
    assert!(data.reads > 100 && data.read_hits > 0, "{data:?}");
    assert!(log.writes >= 300 && log.writes_absorbed == log.writes, "{log:?}");
    assert!(mount.facts().iter().all(|fact| fact.holds != Some(false)), "{:?}", mount.facts());
    drop((connection, second, mount));
    assert!(ControlClient::connect(&socket).is_err(), "the last connection has closed the tier");
    // The way of cleaning makes no other cache.
    let again = database::open(&deeper).expect("opens again");
    check_whole(&again, 300);
    let mount =
        MountGuard::open(&database::file(&deeper), deeper.place.tier.as_ref().expect("a tier")).expect("shares");
    let facts = mount.facts();
    assert_eq!(tier::CLEAN_DEPTH.text(&facts), Some("32"));
    assert!(tier::CLEAN_MARKS.text(&facts).is_some_and(|marks| marks.ends_with("bypass from 80%")), "{facts:?}");
    assert!(["data", "log"].iter().all(|volume| tier::QUOTA.of(volume).text(&facts).is_some()), "{facts:?}");
    assert!(facts.iter().all(|fact| fact.holds != Some(false)), "{facts:?}");
    let at_start: u32 = mount.snapshots().0.volumes.iter().map(|volume| volume.lines).sum();
    assert!(at_start > 20, "{at_start} lines are warm");
}

#[test]
fn a_database_behind_a_tier_is_not_opened_without_it_until_another_size_has_set_it_free() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 200);
    let small = plan(CacheSize::Bytes(Bytes::mebi(1)), &[TierVolume::Data, TierVolume::Log]);
    let through = target(folder.path(), Some(small));
    database::open(&through).expect("opens").execute_batch("UPDATE t SET n = 1").expect("updates");
    let plain = target(folder.path(), None);
    let error = database::open(&plain).expect_err("its file may be old").to_string();
    assert!(error.contains("behind a cache tier"), "{error}");
    assert!(database::create(&plain).is_err());
    // Another size: the old cache is cleaned and goes.
    let none = target(folder.path(), Some(plan(CacheSize::PercentOfData(0), &[TierVolume::Data])));
    let connection = database::open(&none).expect("opens");
    check_whole(&connection, 200);
    drop(connection);
    let copy = folder.path().join("copy.sqlite");
    std::fs::copy(database::file(&none), &copy).expect("copies");
    check_whole(&Connection::open(&copy).expect("the file alone is a database"), 200);
}

#[test]
fn data_that_were_put_in_the_place_of_others_meet_an_empty_cache() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 200);
    let kept = folder.path().join("kept");
    std::fs::copy(database::file(&target(folder.path(), None)), &kept).expect("copies");
    let through =
        target(folder.path(), Some(plan(CacheSize::PercentOfData(200), &[TierVolume::Data, TierVolume::Log])));
    database::open(&through).expect("opens").execute_batch("UPDATE t SET n = 1").expect("updates");
    // A restore removes the folder of the data with the label in it.
    let data = database::file(&through);
    std::fs::remove_dir_all(data.parent().expect("a folder")).expect("removes");
    std::fs::create_dir(data.parent().expect("a folder")).expect("makes");
    std::fs::copy(&kept, &data).expect("restores");
    let connection = database::open(&through).expect("opens");
    check_whole(&connection, 0);
}

#[test]
fn a_warmed_cache_of_all_data_misses_nothing_and_an_unaccelerated_log_is_not_absorbed() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 300);
    let mut asked = plan(CacheSize::PercentOfData(200), &[TierVolume::Data]);
    asked.cache.prewarm = true;
    let target = target(folder.path(), Some(asked.clone()));
    let connection = database::open(&target).expect("opens");
    let mount = MountGuard::open(&database::file(&target), &asked).expect("shares");
    let before = mount.snapshots().1;
    connection.execute_batch("UPDATE t SET n = 1 WHERE id % 10 = 0").expect("updates");
    let after = mount.snapshots().1;
    let since = |volume: usize| after.volumes[volume].counters.since(&before.volumes[volume].counters);
    assert_eq!((since(0).reads, since(0).read_misses), (since(0).read_hits, 0), "{:?}", since(0));
    assert!(since(0).reads > 10 && since(1).writes > 0, "{:?}", since(1));
    assert_eq!((since(1).writes_absorbed, since(1).writes_to_origin), (0, since(1).writes), "{:?}", since(1));
}

/// Writes a list of lines of 8 KiB.
fn write_list(path: &Path, lines: impl IntoIterator<Item = (u8, u64)>) {
    let mut text = "{\"form\":1,\"line_bytes\":8192,\"volumes\":[]}\n".to_owned();
    text.extend(lines.into_iter().map(|(volume, at)| format!("{{\"volume\":{volume},\"at\":{at}}}\n")));
    std::fs::write(path, text).expect("writes");
}

#[test]
fn a_new_cache_has_the_lines_of_a_list_and_its_facts_tell_how_many_also_when_it_is_opened_again() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 300);
    let list = folder.path().join("list");
    // Ten lines of the data, one behind their end, and one of the log, which is not cached.
    write_list(&list, (0..10_u64).map(|block| (0, block * 2 * 8192)).chain([(0, 1 << 30), (1, 0)]));
    let mut asked = plan(CacheSize::PercentOfData(200), &[TierVolume::Data]);
    asked.cache.warm = Some(WarmPlan { list: list.display().to_string(), within: Duration::from_secs(600) });
    let file = database::file(&target(folder.path(), None));
    for opening in ["made", "opened again"] {
        let mount = MountGuard::open(&file, &asked).expect("opens");
        let facts = mount.facts();
        assert_eq!(tier::WARM_NAMED.number(&facts), Some(12.0), "{opening}: {facts:?}");
        assert_eq!(tier::WARMED.number(&facts), Some(10.0), "{opening}: {facts:?}");
        for why in ["not_cached", "beyond_data"] {
            assert_eq!(tier::NOT_WARMED.of(why).number(&facts), Some(1.0), "{opening}, {why}: {facts:?}");
        }
        assert!(facts.iter().all(|fact| fact.holds != Some(false)), "{opening}: {facts:?}");
        assert_eq!(mount.snapshots().0.volumes[0].lines, 10, "{opening}: they are there before the first request");
    }
    std::fs::remove_file(&list).expect("removes");
    asked.cache.line = Bytes(16_384);
    // What is wrong with a list is told with its setting.
    let missing = MountGuard::open(&file, &asked).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(missing.contains("storage.cache.warm: failed to read the list of lines"), "{missing}");
    write_list(&list, []);
    let other = MountGuard::open(&file, &asked).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(other.contains("its lines are of 8 KiB, and those of the cache of 16 KiB"), "{other}");
}

#[test]
fn a_list_of_other_data_fills_nothing_and_the_fact_tells_both_sizes_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 300);
    let list = folder.path().join("list");
    write_list(&list, [(0, 1 << 30), (0, 3 << 30), (7, 0)]);
    let mut asked = plan(CacheSize::PercentOfData(200), &[TierVolume::Data]);
    asked.cache.warm = Some(WarmPlan { list: list.display().to_string(), within: Duration::from_secs(600) });
    let mount = MountGuard::open(&database::file(&target(folder.path(), None)), &asked).expect("opens");
    let facts = mount.facts();
    let fact = tier::WARMED.last(&facts).expect("it is told");
    assert_eq!((fact.holds, fact.number), (Some(false), Some(0.0)), "{fact:?}");
    for part in [
        "lines not filled: 1 of no volume of this database, 2 beyond the end of the data; ",
        "the list names bytes up to 3 GiB, and the data have ",
        "so it is of other data: write one of a cache of these with `proofload tier dump CACHE --lines --json`",
    ] {
        assert!(fact.source.contains(part), "{part}: {}", fact.source);
    }
    assert_eq!(tier::NOT_WARMED.of("no_volume").number(&facts), Some(1.0), "{facts:?}");
}

/// The lines with which a cache was filled when it was made, by the tier's facts, and whether all of them hold.
fn warmed_when_opened(file: &Path, plan: &TierPlan) -> (Option<f64>, bool) {
    // A process that another test is starting holds copies of open files until it becomes its program.
    let opened = (0..1500).find_map(|_| match MountGuard::open(file, plan) {
        Err(error) if error.to_string().contains("another process") => {
            std::thread::sleep(Duration::from_millis(20));
            None
        }
        opened => Some(opened.expect("opens")),
    });
    let facts = opened.expect("it is free").facts();
    (tier::WARMED.number(&facts), facts.iter().all(|fact| fact.holds != Some(false)))
}

#[test]
fn a_kept_cache_is_made_again_where_it_was_not_filled_as_asked_or_its_list_was_written_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 300);
    let (list, note) = (folder.path().join("list"), folder.path().join(CONTROL_SOCKET).with_file_name("warmed"));
    write_list(&list, [16_384, 24_576, 32_768].map(|at| (0, at)));
    let mut asked = plan(CacheSize::PercentOfData(200), &[TierVolume::Data]);
    asked.cache.warm = Some(WarmPlan { list: list.display().to_string(), within: Duration::from_secs(600) });
    let file = database::file(&target(folder.path(), None));
    let warmed = || warmed_when_opened(&file, &asked);
    assert_eq!(warmed(), (Some(3.0), true));
    let noted = |found: WarmedList| std::fs::write(&note, found.note()).expect("writes");
    let full = WarmedList { named: 3, filled: 2, no_room: 1, ..WarmedList::default() };
    noted(full);
    assert_eq!(warmed(), (Some(2.0), true), "it is kept with its note");
    noted(WarmedList { no_room: 0, out_of_time: 1, ..full });
    assert_eq!(warmed(), (Some(3.0), true), "it is filled again after the time was over");
    std::fs::remove_file(&note).expect("removes");
    assert_eq!(warmed(), (Some(3.0), true), "it is filled again where nobody knows");
    write_list(&list, [16_384, 24_576].map(|at| (0, at)));
    assert_eq!(warmed(), (Some(2.0), true), "the list is shorter");
    write_list(&list, [16_384, 16_384].map(|at| (0, at)));
    let written = std::fs::File::options().write(true).open(&list).expect("opens");
    written.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1)).expect("sets its time");
    assert_eq!(warmed(), (Some(1.0), true), "the list is as long, and of another time");
}

#[test]
fn what_a_tier_does_not_carry_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 10);
    let mut through = target(folder.path(), Some(plan(CacheSize::PercentOfData(100), &[TierVolume::Data])));
    through.place.settings.push(("journal_mode".to_owned(), "DELETE".to_owned()));
    let error = database::open(&through).expect_err("no write-ahead log").to_string();
    assert!(error.contains("journal_mode"), "{error}");
    // A process that another test is starting holds copies of open files until it becomes its program.
    let is_free = || MountGuard::open(&database::file(&through), through.place.tier.as_ref().expect("a tier")).is_ok();
    let waited = || std::thread::sleep(std::time::Duration::from_millis(20));
    let free = (0..1500).any(|_| {
        is_free() || {
            waited();
            false
        }
    });
    assert!(free, "it is free");
}

/// Names the folder of the child of [`what_was_acknowledged_survives_the_end_of_the_process`].
const CHILD: &str = "PROOFLOAD_TEST_TIER_FOLDER";

/// The plan of the child: a cache before the data alone, or before the log too.
fn child_plan(folder: &Path) -> TierPlan {
    let both = folder.to_string_lossy().ends_with("both");
    let volumes: &[TierVolume] = if both { &[TierVolume::Data, TierVolume::Log] } else { &[TierVolume::Data] };
    plan(CacheSize::PercentOfData(30), volumes)
}

/// The process that is killed: it commits rows one after the other, and tells the number of each once it is durable.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(CHILD).map(std::path::PathBuf::from) else { return };
    let connection = database::open(&target(&folder, Some(child_plan(&folder)))).expect("opens");
    let first = number(&connection, "SELECT coalesce(max(id), 0) + 1 FROM t");
    for row in first.. {
        let changed = "INSERT INTO t VALUES (?1, 1, ?2)";
        connection.execute(changed, (row, "y".repeat(700))).expect("inserts");
        connection.execute("UPDATE t SET n = n + 1 WHERE id = ?1", [row % 200]).expect("updates");
        println!("acknowledged {row}");
    }
}

#[test]
fn what_was_acknowledged_survives_the_end_of_the_process() {
    for name in ["data", "both"] {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join(name);
        std::fs::create_dir(&folder).expect("makes");
        built(&folder, 200);
        let mut last = 0;
        for round in 0..5 {
            last = last.max(killed_after(&folder, 20 + 15 * round));
            let connection = database::open(&target(&folder, Some(child_plan(&folder)))).expect("opens after a kill");
            let text: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checks");
            assert_eq!(text, "ok", "{name}, round {round}");
            let (count, most) =
                (number(&connection, "SELECT count(*) FROM t"), number(&connection, "SELECT max(id) FROM t"));
            assert_eq!(count, most + 1, "{name}, round {round}: no row is missing");
            assert!(most >= last, "{name}, round {round}: {last} was acknowledged and {most} is there");
        }
        assert!(last > 250, "{name}: {last}");
    }
}

/// Starts the child, kills it after so many acknowledgements, and returns the number of the last.
fn killed_after(folder: &Path, acknowledgements: usize) -> i64 {
    use std::io::BufRead as _;
    let test = "engines::sqlite::tier::tests::child";
    let mut child = std::process::Command::new(std::env::current_exe().expect("it runs"))
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, folder)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    let output = std::io::BufReader::new(child.stdout.take().expect("it is piped"));
    let acknowledged = |line: String| line.strip_prefix("acknowledged ")?.parse::<i64>().ok();
    let mut told = output.lines().map_while(Result::ok).filter_map(acknowledged);
    let last = told.by_ref().take(acknowledgements).last().expect("it commits");
    child.kill().expect("it is ours");
    // What it told before it ended counts as well.
    let last = told.last().unwrap_or(last);
    child.wait().expect("it is ours");
    last
}

#[test]
fn connections_that_come_and_go_at_once_share_one_tier() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 100);
    let target = target(folder.path(), Some(plan(CacheSize::PercentOfData(100), &[TierVolume::Data, TierVolume::Log])));
    std::thread::scope(|scope| {
        for thread in 0..4_i64 {
            let target = &target;
            scope.spawn(move || {
                for round in 0..10 {
                    let connection = database::open(target).expect("opens");
                    let changed = connection.execute("UPDATE t SET n = n + 1 WHERE id = ?1", [thread * 10 + round]);
                    assert_eq!(changed.expect("updates"), 1);
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
    });
    check_whole(&database::open(&target).expect("opens"), 40);
}

#[test]
fn a_volume_that_failed_is_told_although_its_mode_is_as_it_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    built(folder.path(), 10);
    let asked = plan(CacheSize::PercentOfData(100), &[TierVolume::Data]);
    let target = target(folder.path(), Some(asked.clone()));
    let _connection = database::open(&target).expect("opens");
    let mount = MountGuard::open(&database::file(&target), &asked).expect("shares");
    let (first, mut now) = mount.snapshots();
    now.volumes[0].failed = true;
    let facts = tiers::facts(&ReadTier {
        plan: &asked,
        volumes: tiers::volumes(true),
        asked_size: Bytes(0),
        data: Bytes(0),
        export: tier::EXPORT.observed("a test", tiers::SOURCE),
        is_direct: true,
        warmed: None,
        first,
        now: &now,
    });
    assert_eq!(tier::MODE.of("data").text(&facts), Some("failed"));
    let told = facts.iter().find(|fact| fact.effective.as_deref() == Some("failed")).expect("it is told");
    assert_eq!(told.holds, Some(false));
}
