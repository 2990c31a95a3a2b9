//! Tests of what experiments change and of how long that takes. No record, no host.

use super::*;

#[test]
fn things_are_whole_and_one_row_becomes_two() {
    assert_eq!((changed(HOT_ROWS, 1.0, 0.2), changed(HOT_ROWS, 4.0, 0.2)), (2.0, 3.0));
    assert_eq!((changed(POOL, 2.0, 0.2), changed(POOL, 10.0, 0.3), changed(USERS, 8.0, 0.25)), (1.0, 7.0, 6.0));
    assert!((changed(HOLD, 250.0, 0.2) - 200.0).abs() < 1e-9);
    // A device takes whole requests per second: 9.6 become 10, and 0.8 stay 1.
    assert!((changed("limits.read_iops", 12.0, 0.2) - 10.0).abs() < 1e-12);
    assert!((changed("limits.read_iops", 1.0, 0.2) - 1.0).abs() < 1e-12);
    assert!((changed("limits.cpu", 0.4, 0.2) - 0.32).abs() < 1e-12);
}

#[test]
fn settings_of_the_load_are_resources_where_the_study_sets_them() {
    let load = PointLoad { users: 8, is_embedded: false };
    let planned = |lines: &[(&str, crate::settings::Value)]| {
        let mut settings = Settings::default();
        settings.0.extend(lines.iter().map(|(path, value)| ((*path).to_owned(), value.clone())));
        resources(&settings, load)
    };
    let (none, _) = planned(&[]);
    assert!(none.iter().all(|plan| !plan.name.starts_with("workload.")));
    let (found, not_tried) =
        planned(&[(HOT_ROWS, crate::settings::Value::Integer(1)), (POOL, crate::settings::Value::Integer(1))]);
    let names: Vec<&str> =
        found.iter().map(|plan| plan.name.as_str()).filter(|name| name.starts_with("workload.")).collect();
    assert_eq!((names, not_tried.contains_key(POOL)), (vec![HOT_ROWS], true));
}

#[test]
fn commits_without_a_flush_are_tried_alone_only() {
    let load = PointLoad { users: 1, is_embedded: false };
    let mut settings = Settings::default();
    settings.0.insert("confirm.engine".to_owned(), crate::settings::Value::List(vec!["durability".to_owned()]));
    let (found, _) = resources(&settings, load);
    assert!(found.iter().any(|plan| plan.name == DURABILITY && plan.class == ResourceClass::Bound));
    settings.0.insert("replication.mode".to_owned(), crate::settings::Value::Text("remote_flush".to_owned()));
    let (found, not_tried) = resources(&settings, load);
    assert!(found.iter().all(|plan| plan.name != DURABILITY));
    assert_eq!(not_tried[DURABILITY], WITH_STANDBYS);
}

#[test]
fn page_flushing_is_off_for_a_visit_and_waited_for() {
    let mut settings = Settings::default();
    settings.0.insert("confirm.engine".to_owned(), crate::settings::Value::List(vec!["page_flushing".to_owned()]));
    let (found, _) = resources(&settings, PointLoad { users: 1, is_embedded: false });
    let plan = found.iter().find(|plan| plan.name == PAGE_FLUSHING).expect("it is asked for");
    assert!(plan.class == ResourceClass::Bound && !plan.class.is_time_like());
    assert!(changed(PAGE_FLUSHING, 1.0, 0.2).abs() < 1e-12);
    assert!(settles_at_most(PAGE_FLUSHING, &settings) >= WORK_ENDS);
}

#[test]
fn flushes_are_a_resource_where_the_study_delays_them() {
    let load = PointLoad { users: 1, is_embedded: true };
    let mut settings = Settings::default();
    let (none, not_tried) = resources(&settings, load);
    assert!(none.iter().all(|plan| plan.name != FLUSH_DELAY));
    assert_eq!(not_tried[FLUSH_DELAY], NO_DELAY);
    settings.0.insert(FLUSH_DELAY.to_owned(), crate::settings::Value::Duration(Duration::from_millis(5)));
    let (found, not_tried) = resources(&settings, load);
    assert!(found.iter().any(|plan| plan.name == FLUSH_DELAY && plan.class == ResourceClass::Speed));
    assert!(!not_tried.contains_key(FLUSH_DELAY));
}

#[test]
fn memory_is_waited_for_as_long_as_the_step_needs() {
    let of = |all: u64, step: f64| memory_settles(Duration::from_secs(all), step).as_secs_f64();
    assert!((of(50, 0.2) - 10.0).abs() < 1e-6 && (of(50, 0.5) - 25.0).abs() < 1e-6);
    assert_eq!((of(5, 0.2), of(500, 0.2)), (3.0, 30.0));
}

#[test]
fn the_longest_time_holds_for_every_length_that_can_be_drawn_and_for_slow_changes() {
    let asked = ConfirmAsked { step: 0.2, blocks: 4, visit_s: 6 };
    let plan = |name: &str, class| ResourcePlan { name: name.to_owned(), class };
    let (cpu, reads) = (plan("limits.cpu", ResourceClass::Capacity), plan("limits.read_iops", ResourceClass::Capacity));
    let memory = plan("limits.memory", ResourceClass::Structure);
    let seconds = |plans: &[ResourcePlan]| asked.longest(plans, &Settings::default()).as_secs();
    // Visits of 9 s after 3 s: three in each block; four, and a joint one in the fourth block. The last two may raise a limit.
    assert_eq!(seconds(std::slice::from_ref(&cpu)), 4 * 3 * 12 + 2 * 12);
    assert_eq!(seconds(&[cpu.clone(), reads]), 4 * 4 * 12 + 12 + 2 * 12);
    // Memory is waited for when it is changed and when it is put back, 30 s each; it is in no joint visit.
    assert_eq!(seconds(&[cpu, memory]), 4 * (4 * 12 + 57) + 2 * (12 + 57));
    // Fewer users or more, it is no limit.
    assert_eq!(seconds(&[plan(USERS, ResourceClass::Structure)]), 4 * 3 * 12);
}

#[test]
fn visits_last_twenty_mean_response_times_and_settle_for_two() {
    let asked = ConfirmAsked { step: 0.2, blocks: 4, visit_s: 6 };
    let with = |millis: u64| asked.with_response(Duration::from_millis(millis));
    assert_eq!(with(300), Ok(asked), "the visit that is asked for is long enough");
    let longer = with(2010).expect("it is short enough");
    assert_eq!((longer.visit_s, longer.settles()), (41, Duration::from_millis(4100)));
    assert_eq!((with(15_000).map(|asked| asked.visit_s), with(15_001)), (Ok(300), Err(301)));
    assert_eq!(asked.settles(), SETTLES);
    // 41 s and half as many again, 4.1 s before them, 1.5 s beside: three visits in each of four blocks, a fourth in two.
    let cpu = ResourcePlan { name: "limits.cpu".to_owned(), class: ResourceClass::Capacity };
    assert_eq!(longer.longest(&[cpu], &Settings::default()).as_millis(), 14 * 66_600);
}

#[test]
fn users_with_warehouses_and_rows_settle_as_long_as_memory_does() {
    use crate::settings::Value;
    let settles = |resource: &str, lines: &[(&str, Value)]| {
        let mut settings = Settings::default();
        settings.0.extend(lines.iter().map(|(path, value)| ((*path).to_owned(), value.clone())));
        settles_at_most(resource, &settings)
    };
    let warehouses = ("workload.warehouses", Value::Integer(8));
    let memory = ("limits.memory_per_data", Value::Number(0.5));
    let kind = ("engine.kind", Value::Text("mariadb".to_owned()));
    let cache = ("engine.settings.mariadb.innodb_buffer_pool_size", Value::Text("64MiB".to_owned()));
    assert_eq!(settles(USERS, &[warehouses.clone(), memory.clone()]), MEMORY_SETTLES);
    assert_eq!(settles(USERS, &[kind, warehouses.clone(), cache.clone()]), CACHE_SETTLES);
    assert_eq!(settles(HOT_ROWS, &[memory.clone(), cache]), MEMORY_SETTLES);
    // All users work on the same data, or nothing limits how much of them is in memory.
    let all = ("workload.all_warehouses", Value::Boolean(true));
    assert_eq!(settles(USERS, &[warehouses.clone(), memory.clone(), all]), SETTLES);
    assert_eq!(settles(USERS, std::slice::from_ref(&memory)), SETTLES);
    assert_eq!(settles(USERS, &[warehouses]), SETTLES);
    assert_eq!(settles("limits.cpu", &[memory]), SETTLES);
}

#[test]
fn the_joint_visit_leaves_numbers_of_things_alone() {
    let all_but = Change::AllBut("limits.cpu".to_owned());
    assert!(all_but.lowers("limits.read_iops", ResourceClass::Capacity));
    assert!(!all_but.lowers("limits.cpu", ResourceClass::Capacity));
    assert!(!all_but.lowers(USERS, ResourceClass::Structure));
    // The speed of the cores is the quota seen from another side.
    assert!(!all_but.lowers("limits.cores", ResourceClass::Speed));
    assert!(Change::AllBut("limits.read_iops".to_owned()).lowers("limits.cores", ResourceClass::Speed));
    assert!(Change::One(USERS.to_owned()).lowers(USERS, ResourceClass::Structure));
    assert!(!Change::Nothing.lowers("limits.cpu", ResourceClass::Capacity));
    let more = Change::Raised("limits.cpu".to_owned());
    assert!(more.raises("limits.cpu") && !more.raises(USERS) && !all_but.raises("limits.cpu"));
    assert!(!more.lowers("limits.cpu", ResourceClass::Capacity) && (raised(0.4, 0.5) - 0.6).abs() < 1e-12);
}
