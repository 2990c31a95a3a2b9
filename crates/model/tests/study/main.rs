//! Study files: every fault at once, with line, key, reason and the nearest known key; schema, `--set` and plan.

mod groups;
mod guide;
mod refusals;
mod searches;
mod tiers;

use expect_test::{Expect, expect};
use proofload_model::catalogue::{
    Capabilities, Catalogue, Contradiction, EngineFacts, EnginePlace, RefusedSetting, ReplicationFacts, StandbyExtent,
    WorkloadFacts, no_refused_settings,
};
use proofload_model::manager::ManagerKind;
use proofload_model::plan::expand;
use proofload_model::replication::{Confirmation, ReplicationMode};
use proofload_model::settings::{Kind, STANDARD, Scope, SettingSpec, Settings, json_schema};
use proofload_model::study::{factors_left_out, faults_text, parse_assignment, validate};
use proofload_model::units::Bytes;

const TOY: Scope = Scope::Workload("toy");

const WORKLOAD_SETTINGS: &[SettingSpec] = &[
    SettingSpec::new("workload.warehouses", Kind::Integer { least: 1, most: 100 }, "4", "Scale.").only(TOY),
    SettingSpec::optional("workload.users", Kind::Integer { least: 1, most: 100 }, "Users.").load().only(TOY),
];

const CAPABILITIES: Capabilities = Capabilities {
    embedded: true,
    sql: true,
    documents: false,
    local_instance: false,
    url: false,
    limits_at_url: &[],
    restore_at_url: false,
    file_snapshot: true,
    memory_setting: true,
    replication: None,
    durable: true,
    tier_in_process: false,
    log_folder: false,
};

/// A server that has standbys.
const SERVER: Capabilities = Capabilities {
    url: true,
    local_instance: true,
    log_folder: true,
    embedded: false,
    replication: Some(ReplicationFacts {
        modes: &[ReplicationMode::Async, ReplicationMode::RemoteFlush],
        settings: &["synchronous_commit"],
        by_url: &[ReplicationMode::RemoteFlush],
        failover_by_url: false,
        managers: &[ManagerKind::Patroni],
        confirmations: Confirmation::ALL,
        extent: StandbyExtent::ALL,
    }),
    ..CAPABILITIES
};

/// The same, whose standbys do nothing but follow beside their primary.
const FOLLOWER: Capabilities = Capabilities {
    replication: Some(ReplicationFacts {
        confirmations: &[Confirmation::Any(1)],
        extent: StandbyExtent { hosts: false, rejoins: false },
        modes: &[ReplicationMode::Async, ReplicationMode::RemoteFlush],
        settings: &["wait_point"],
        by_url: &[],
        failover_by_url: false,
        managers: &[],
    }),
    ..SERVER
};

/// Servers reached by URL alone, which fail over when they are told to.
const GROUP: Capabilities = Capabilities {
    local_instance: false,
    log_folder: false,
    file_snapshot: false,
    replication: Some(ReplicationFacts {
        modes: &[],
        settings: &[],
        by_url: &[ReplicationMode::Async, ReplicationMode::RemoteFlush],
        failover_by_url: true,
        managers: &[],
        confirmations: &[],
        extent: StandbyExtent::ALL,
    }),
    ..SERVER
};

/// Its leave to be changed.
const LEAVE: &[SettingSpec] =
    &[SettingSpec::new("engine.changes", Kind::OneOf(&["refused", "allowed"]), "refused", "Leave.")
        .only(Scope::Engine("group"))];

/// A server that limits its own memory and restores its own backups, wherever it runs.
const RESTORER: Capabilities = Capabilities {
    url: true,
    embedded: false,
    limits_at_url: &["limits.memory"],
    restore_at_url: true,
    file_snapshot: false,
    ..CAPABILITIES
};

fn catalogue() -> Catalogue {
    let engine = |name, minimum_memory_bytes, capabilities| EngineFacts {
        name,
        title: "",
        capabilities,
        password: capabilities.url.then_some("set SERVER_PASSWORD for the load agent"),
        minimum_memory_bytes,
        settings: &[],
        setting_names: (name == "sqlite").then_some(|| vec!["cache_size", "synchronous"]),
        refused_settings: if name == "nothing" { no_refused_settings } else { refused_settings },
        live: std::array::from_fn(|place| name == "server" && matches!(place, 0 | 2)),
        thread_roles: if name == "server" { &["walsender", "walwriter"][..] } else { &[] },
    };
    Catalogue {
        engines: vec![
            engine("sqlite", 16 << 20, Capabilities { tier_in_process: true, ..CAPABILITIES }),
            engine("server", 64 << 20, SERVER),
            engine("follower", 0, FOLLOWER),
            engine("restorer", 0, RESTORER),
            engine("documents", 0, Capabilities { sql: false, file_snapshot: false, ..CAPABILITIES }),
            engine("nothing", 0, Capabilities { durable: false, ..CAPABILITIES }),
            EngineFacts { settings: LEAVE, ..engine("group", 0, GROUP) },
        ],
        workloads: vec![WorkloadFacts {
            name: "toy",
            title: "trades of a shop",
            settings: WORKLOAD_SETTINGS,
            needs_sql: true,
            operations: || &["buy", "sell"],
            contradictions,
            raw_bytes: |settings| Bytes::mebi(settings.count("workload.warehouses").unwrap_or(0).into()),
        }],
    }
}

/// The engines' own rule of settings: no value may be `wrong`, and where their programs are here, no name may be `misspelt`.
fn refused_settings(place: EnginePlace, given: &[(String, String)]) -> Vec<RefusedSetting> {
    let is_refused =
        |(name, value): &&(String, String)| value == "wrong" || (name == "misspelt" && place == EnginePlace::Here);
    let refused = |(name, value): &(String, String)| RefusedSetting {
        name: name.clone(),
        value: value.clone(),
        reason: format!("{name} cannot be {value}"),
    };
    given.iter().filter(is_refused).map(refused).collect()
}

/// The toy workload's own rule: more than 50 warehouses want a server.
fn contradictions(settings: &Settings) -> Vec<Contradiction> {
    let many = settings.count("workload.warehouses").is_ok_and(|warehouses| warehouses > 50);
    let reason = || "more than 50 want the engine server".to_owned();
    let wrong = many && settings.text("engine.kind") != Ok("server");
    let crowded = settings.count("workload.users").is_ok_and(|users| users > 90);
    let faults = [
        wrong.then(|| Contradiction { setting: "workload.warehouses", reason: reason() }),
        crowded.then(|| Contradiction::new("workload.users", "more than 90 find no room")),
    ];
    faults.into_iter().flatten().collect()
}

const GOOD: &str = r#"
[study]
name = "s"
title = "t"
[workload]
kind = "toy"
[engine]
kind = "sqlite"
[[factor]]
setting = "limits.memory"
levels = ["64MiB", "128MiB"]
"#;

fn check(text: &str, set: &[&str], expected: &Expect) {
    let overrides: Vec<_> = set.iter().map(|text| parse_assignment(text).expect("an assignment")).collect();
    let found = match validate(text, &overrides, &catalogue()) {
        Ok(study) => format!("valid: {} settings, {} points\n", study.settings.0.len(), expand(&study).points.len()),
        Err(faults) => faults_text(&faults),
    };
    expected.assert_eq(&found);
}

#[test]
fn a_good_study_is_valid_and_has_its_defaults() {
    let study = validate(GOOD, &[], &catalogue()).unwrap();
    assert_eq!(study.settings.integer("workload.warehouses"), Ok(4));
    assert_eq!(study.settings.text("procedure.restore"), Ok("every-run"));
    assert_eq!(study.factors[0].levels.len(), 2);
}

#[test]
fn several_load_hosts_need_a_server_and_a_command_that_tells_them_apart() {
    let hosts = "agents.load_hosts=[\"a\", \"b:2\"]";
    let server = "engine.kind=server";
    check(
        GOOD,
        &[server, hosts, "agents.load=[\"ssh\", \"{host}\"]"],
        &expect![[r#"
            valid: 32 settings, 2 points
        "#]],
    );
    check(
        GOOD,
        &[server, hosts],
        &expect![[r#"
            valid: 31 settings, 2 points
        "#]],
    );
    check(
        GOOD,
        &[hosts],
        &expect![[r#"
        agents.load_hosts: sqlite runs inside one load agent; several load agents need a database server
    "#]],
    );
    check(
        GOOD,
        &[server, hosts, "agents.load=[\"ssh\", \"a\"]"],
        &expect![[r#"
        agents.load: would start all 2 agents of agents.load_hosts on one machine; put {host} where the host name belongs, such as ["ssh", "-T", "{host}", "proofload", "agent"]
    "#]],
    );
    check(
        GOOD,
        &["agents.load=[\"ssh\", \"{host}\"]"],
        &expect![[r#"
        agents.load: contains {host}, but agents.load_hosts lists no host
    "#]],
    );
    check(
        GOOD,
        &[server, "agents.load_hosts=[\"a\", \"a:2\"]"],
        &expect![[r#"
        agents.load_hosts: "a" is listed twice; two agents on one host need two names, such as ssh aliases
    "#]],
    );
    check(
        GOOD,
        &[server, "agents.load_hosts=[\"a:0\"]"],
        &expect![[r#"
        agents.load_hosts: "a:0" is not a host; use letters, digits, '-', '_', '.' and '@', optionally followed by a colon and the host's share of the load from 1 to 1000, such as "loader1:2"
    "#]],
    );
}

#[test]
fn all_faults_come_at_once_in_the_order_of_the_file() {
    check(
        r#"
[study]
name = "a b"
titel = "t"
repetitions = 0
[workload]
kind = "tpoy"
warehouses = "many"
[engine]
kind = "sqlite"
[procedure]
warm_up = { at_least = "10", at_most = "1s", rounds = 3 }
restore = "every-runs"
[[factor]]
setting = "limits.memroy"
levels = ["64MiB"]
[[factor]]
setting = "study.seed"
levels = [1]
[[factor]]
setting = "limits.cores"
levels = [1, 1, "two"]
level = 3
"#,
        &[],
        &expect![[r#"
            line 3: study.name: "a b" must be a name of letters, digits, '-' and '_'
            line 4: study.titel: unknown setting; did you mean study.title?
            line 5: study.repetitions: 0 must be a whole number from 1 to 1000
            line 7: workload.kind: unknown workload "tpoy"; built in: toy; did you mean toy?
            line 8: workload.warehouses: "many" must be a whole number from 1 to 100
            line 12: procedure.warm_up.at_least: "10" must be a duration from 0s to 720h, such as "30s"
            line 12: procedure.warm_up.rounds: unknown setting; did you mean procedure.warm_up.round?
            line 13: procedure.restore: "every-runs" must be one of "every-run", "never"; did you mean "every-run"?
            line 15: limits.memroy: unknown setting; did you mean limits.memory?
            line 18: study.seed: cannot be a factor: this setting is the same for all points
            line 22: limits.cores: level 1 is listed twice
            line 22: limits.cores: "two" must be a whole number from 1 to 4096
            line 23: factor.level: a factor takes only setting and levels; did you mean levels?
            study.title: is required: Title of the report.
        "#]],
    );
}

#[test]
fn an_unknown_workload_is_told_alone_with_the_one_that_its_title_means() {
    check(
        &GOOD.replace("kind = \"toy\"", "kind = \"trades\"\nusers = 2\nwarehouses = 3"),
        &[],
        &expect![[r#"
            line 6: workload.kind: unknown workload "trades"; built in: toy; did you mean toy?
        "#]],
    );
    check(
        GOOD,
        &["study.title="],
        &expect![[r#"
            study.title: is empty; say in a few words what the study asks
        "#]],
    );
}

#[test]
fn a_factor_that_set_replaces_is_known() {
    let left_out = |set: &[&str]| {
        let overrides: Vec<_> = set.iter().map(|text| parse_assignment(text).expect("an assignment")).collect();
        factors_left_out(GOOD, &overrides)
    };
    assert_eq!(left_out(&["limits.memory=64MiB", "workload.warehouses=2"]), ["limits.memory"]);
    assert_eq!(left_out(&["limits.memory=none", "factor.limits.memory=[\"64MiB\"]"]), [""; 0]);
}

#[test]
fn faults_of_syntax_name_their_line() {
    check(
        "[study]\nname = \n",
        &[],
        &expect![[r#"
        line 2: not TOML: string values must be quoted, expected literal string
    "#]],
    );
}

#[test]
fn what_a_workload_says_of_its_points_is_told_once() {
    let server = "engine.kind=server";
    check(
        GOOD,
        &["workload.warehouses=60", server],
        &expect![[r#"
            valid: 30 settings, 2 points
        "#]],
    );
    check(
        GOOD,
        &["factor.workload.warehouses=[4, 60, 70]"],
        &expect![[r#"
            workload.warehouses: more than 50 want the engine server
        "#]],
    );
}

#[test]
fn contradictions_are_found_when_all_else_is_well() {
    check(
        GOOD,
        &["engine.kind=documents"],
        &expect![[r#"
        engine.kind: the workload toy needs SQL sessions, which documents does not have
        procedure.restore: documents has no file snapshots; use "never"
    "#]],
    );
    check(
        GOOD,
        &["engine.url=postgresql://u:secret@h/d"],
        &expect![[r#"
        line 10: limits.memory: limits apply only to instances that Proofload starts, not to an existing server (engine.url)
        engine.url: sqlite cannot be reached by URL; remove it
        procedure.restore: an existing server (engine.url) cannot be restored from a file snapshot; use "never"
        engine.url: contains a password, which would be stored in the record; remove it
    "#]],
    );
    check(
        GOOD,
        &["engine.kind=server", "factor.limits.memory=[\"32MiB\"]"],
        &expect![[r#"
        limits.memory: 32MiB is less than server needs to start and work (64MiB)
    "#]],
    );
    check(
        GOOD,
        &["limits.read_bandwidth=200", "limits.write_bandwidth=4KiB", "limits.read_iops=0", "limits.cpu=0.001"],
        &expect![[r#"
            limits.read_bandwidth: 200 must be a size (per second) of at least 64KiB, such as "200MiB"
            limits.write_bandwidth: "4KiB" must be a size (per second) of at least 64KiB, such as "200MiB"
            limits.read_iops: 0 must be a whole number from 1 to 1000000000
            limits.cpu: 0.001 must be a number from 0.01 to 4096
        "#]],
    );
    check(
        GOOD,
        &["engine.kind=nothing", "limits.cpu=0.5", "factor.limits.read_bandwidth=[\"1MiB\"]"],
        &expect![[r#"
            limits.read_bandwidth: nothing keeps no data on a device, so there is nothing to limit
        "#]],
    );
    check(
        GOOD,
        &["procedure.warm_up.at_least=10m", "procedure.measure=1500ms", "storage.precondition.device=nvme0n1"],
        &expect![[r#"
            procedure.warm_up.at_least: 10m is longer than procedure.warm_up.at_most, 5m
            procedure.measure: must be whole seconds, because intervals are one second long
            storage.precondition.device: "nvme0n1" is not a device; use a path below /dev
        "#]],
    );
}

/// Whether an existing server keeps to a limit or is restored is for its engine to say, and so is the way to give a password.
#[test]
fn an_existing_server_is_asked_for_what_its_engine_can_do_there() {
    let asked = ["factor.limits.memory=[\"64MiB\"]", "limits.cores=2", "engine.url=x://u:secret@h/d"];
    let of_engine = |kind| [kind, asked[0], asked[1], asked[2]];
    check(
        GOOD,
        &of_engine("engine.kind=server"),
        &expect![[r#"
            limits.memory: limits apply only to instances that Proofload starts, not to an existing server (engine.url)
            limits.cores: limits apply only to instances that Proofload starts, not to an existing server (engine.url)
            procedure.restore: an existing server (engine.url) cannot be restored from a file snapshot; use "never"
            engine.url: contains a password, which would be stored in the record; remove it and set SERVER_PASSWORD for the load agent
        "#]],
    );
    check(
        GOOD,
        &of_engine("engine.kind=restorer"),
        &expect![[r#"
            limits.cores: limits apply only to instances that Proofload starts, not to an existing server (engine.url)
            engine.url: contains a password, which would be stored in the record; remove it and set SERVER_PASSWORD for the load agent
        "#]],
    );
}

#[test]
fn arrivals_need_a_rate_with_a_time() {
    check(
        GOOD,
        &["workload.arrivals=poisson", "factor.workload.queue_at_most=[\"1s\"]"],
        &expect![[r#"
            workload.arrivals: only used with a rate; set workload.rate too, or remove it
            workload.queue_at_most: only used with a rate; set workload.rate too, or remove it
        "#]],
    );
    check(
        GOOD,
        &["factor.workload.rate=[\"500/s\", 500, \"1/min\", \"7\"]", "workload.arrivals=poisson"],
        &expect![[r#"
            workload.rate: level 500 is listed twice
            workload.rate: "7" must be a rate from 0.001 to 1000000000 per second, such as "500/s", "30000/min" or 500
        "#]],
    );
    check(
        GOOD,
        &["workload.rate=30000/min", "workload.arrivals=poisson"],
        &expect![[r#"
            valid: 32 settings, 2 points
        "#]],
    );
}

#[test]
fn the_command_line_replaces_settings_and_levels() {
    check(
        GOOD,
        &["limits.memory=32MiB"],
        &expect![[r#"
            valid: 30 settings, 1 points
        "#]],
    );
    check(
        GOOD,
        &["factor.limits.cores=[1,2,4]"],
        &expect![[r#"
            valid: 31 settings, 6 points
        "#]],
    );
    check(
        GOOD,
        &["workload.warehouses=2", "nonsense=1"],
        &expect![[r#"
        nonsense: unknown setting
    "#]],
    );
    assert!(parse_assignment("workload.warehouses").is_err());
}

#[test]
fn every_default_of_the_table_is_valid_and_every_setting_is_in_the_schema() {
    let schema = json_schema(&catalogue()).to_string();
    for spec in STANDARD {
        if let Some(default) = spec.default {
            assert!(spec.kind.read_text(default).is_ok(), "{}", spec.path);
        }
        let last = spec.path.trim_end_matches(".*").rsplit('.').next().unwrap();
        assert!(schema.contains(&format!("\"{last}\"")), "{}", spec.path);
        assert!(spec.about.ends_with('.'), "{}", spec.path);
    }
}

#[test]
fn equal_studies_give_byte_equal_plans_and_another_seed_another_order() {
    let plan = |seed: &str| {
        let overrides = [
            parse_assignment(&format!("study.seed={seed}")).unwrap(),
            parse_assignment("study.repetitions=20").unwrap(),
        ];
        serde_json::to_string(&expand(&validate(GOOD, &overrides, &catalogue()).unwrap())).unwrap()
    };
    assert_eq!(plan("1"), plan("1"));
    assert_ne!(plan("1"), plan("2"));
}

#[test]
fn every_point_runs_in_every_repetition_and_sentinels_repeat_the_first() {
    let overrides = ["study.repetitions=3", "study.sentinel_every=2", "factor.limits.cores=[1,2]"]
        .map(|text| parse_assignment(text).unwrap());
    let plan = expand(&validate(GOOD, &overrides, &catalogue()).unwrap());
    assert_eq!(plan.points.len(), 4);
    for point in 0..4 {
        let ordinary = plan.runs.iter().filter(|run| run.point == point && !run.sentinel);
        assert_eq!(ordinary.map(|run| run.repetition).collect::<Vec<_>>(), [0, 1, 2]);
    }
    let sentinels: Vec<_> = plan.runs.iter().filter(|run| run.sentinel).collect();
    assert_eq!(sentinels.len(), 6);
    assert!(sentinels.iter().all(|run| run.point == plan.runs[0].point));
    let mut seeds: Vec<u64> = plan.runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), plan.runs.len(), "every run has inputs of its own");
}

#[test]
fn memory_by_the_size_of_the_data_is_given_once_and_enough_at_every_point() {
    let by_data = GOOD.replace("limits.memory", "limits.memory_per_data");
    // The toy's data have a MiB for each warehouse; sqlite works with 16 MiB.
    let levels = |levels: &str| by_data.replace("[\"64MiB\", \"128MiB\"]", levels);
    check(
        &levels("[0.5, 2]"),
        &["workload.warehouses=40"],
        &expect![[r#"
            valid: 30 settings, 2 points
        "#]],
    );
    check(
        &levels("[0.125, 0.5]"),
        &["workload.warehouses=40"],
        &expect![[r#"
        line 10: limits.memory_per_data: 0.125 of 40MiB of data is 5MiB, less than sqlite needs to start and work (16MiB)
    "#]],
    );
    check(
        &levels("[0.5]"),
        &["workload.warehouses=40", "limits.memory=64MiB"],
        &expect![[r#"
        line 10: limits.memory_per_data: limits.memory gives the same limit in bytes; remove one of the two
    "#]],
    );
}

#[test]
fn settings_of_an_engine_may_stand_in_tables_of_their_own() {
    let text = format!(
        "{GOOD}[engine.settings]\ncache_size = 1\nserver.jit = \"off\"\n[engine.settings.nothing]\ndepth = 2\n"
    );
    let study = validate(&text, &[], &catalogue()).expect("a valid study");
    let found: Vec<String> =
        study.settings.below("engine.settings").map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(found, ["cache_size=1", "nothing.depth=2", "server.jit=off"]);
}

/// Warm-up and window of a run are bounded whatever a study leaves out.
#[test]
fn a_study_that_says_nothing_of_time_has_an_end() {
    let study = validate(GOOD, &[], &catalogue()).unwrap();
    let procedure = proofload_model::study::procedure(&study.settings).unwrap();
    let hour = std::time::Duration::from_secs(3_600);
    assert!(procedure.warm_up.at_most + procedure.measure < hour, "{procedure:?}");
}
