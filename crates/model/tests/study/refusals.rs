//! Studies that are refused because they would harm, leak or never end.

use super::{GOOD, catalogue};
use proofload_model::plan::expand;
use proofload_model::settings::Value;
use proofload_model::study::{parse_assignment, validate};

/// The faults of a changed study, one text each.
fn refusal(text: &str, set: &[&str]) -> Vec<String> {
    let overrides: Vec<_> = set.iter().map(|text| parse_assignment(text).expect("an assignment")).collect();
    let faults = validate(text, &overrides, &catalogue()).err().unwrap_or_default();
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn data_lie_in_a_folder_of_their_own() {
    for (path, told) in [
        ("", "does not name a folder"),
        ("/", "is the root of the file system; use a folder below it"),
        ("/srv/../", "is the root of the file system; use a folder below it"),
        ("/etc/data", "is inside /etc, which belongs to the system"),
        ("/srv/../etc/data", "is inside /etc, which belongs to the system"),
        ("/dev/sdb", "is inside /dev, which belongs to the system"),
        ("/sys", "is inside /sys, which belongs to the system"),
        ("/var", "is /var itself, which other programs use as well; use a folder below it"),
        ("/var/lib/.", "is /var/lib itself, which other programs use as well; use a folder below it"),
        ("a\u{1b}[2J", "contains control characters"),
        ("a\u{202e}b", "contains control characters"),
    ] {
        let faults = refusal(GOOD, &[&format!("storage.path={path}")]);
        assert_eq!(faults, [format!("storage.path: {told}")], "{path:?}");
    }
    for path in ["/srv/data", "/mnt", "data", "../data", "/var/lib/proofload", "/dev/shm/data"] {
        assert_eq!(refusal(GOOD, &[&format!("storage.path={path}")]), [""; 0], "{path}");
    }
}

#[test]
fn a_study_of_too_many_runs_is_refused_without_making_them() {
    let levels: Vec<String> = (64..1_064).map(|size| format!("\"{size}MiB\"")).collect();
    let memory = format!("factor.limits.memory=[{}]", levels.join(","));
    let cores =
        format!("factor.limits.cpu=[{}]", (1..=1_000).map(|cpu| format!("{cpu}.0")).collect::<Vec<_>>().join(","));
    let faults = refusal(GOOD, &[&memory, &cores]);
    assert!(faults.iter().any(|fault| fault.contains("runs, more than 100000; remove some levels")), "{faults:?}");
}

#[test]
fn only_the_first_unknown_keys_are_compared_with_every_setting() {
    let keys: String = (0..500).map(|key| format!("warehouses{key} = 1\n")).collect();
    let faults = refusal(&format!("{GOOD}[workloax]\n{keys}"), &[]);
    assert_eq!(faults.len(), 500);
    let suggested = faults.iter().filter(|fault| fault.ends_with("did you mean workload.warehouses?"));
    assert_eq!(suggested.count(), 20, "{:?}", &faults[..25]);
}

#[test]
fn a_password_is_found_however_it_is_written() {
    for url in ["x:///d?user=u&pass%77ord=secret", "x:///d?Password=secret"] {
        let faults = refusal(GOOD, &["engine.kind=restorer", &format!("engine.url={url}")]);
        assert!(faults.iter().any(|fault| fault.starts_with("engine.url: contains a password")), "{faults:?}");
    }
}

#[test]
fn a_secret_is_refused_wherever_it_would_enter_a_record() {
    let exporter = "observe.prometheus=[\"http://db1:9100/metrics?token=abc123\"]";
    let faults = refusal(GOOD, &["engine.kind=restorer", "engine.url=x:///d", exporter]);
    assert!(
        faults.iter().any(|fault| fault.starts_with("observe.prometheus: the address 1 has the parameter token")),
        "{faults:?}"
    );
    for set in [
        "engine.settings.report_password=abc123",
        "factor.engine.settings.primary_conninfo=[\"host=a password=abc123\", \"host=b\"]",
    ] {
        let faults = refusal(GOOD, &["engine.kind=server", set]);
        let told = ": is a secret or contains one, which would be stored in the record";
        assert!(faults.iter().any(|fault| fault.starts_with("engine.settings.") && fault.contains(told)), "{faults:?}");
        assert!(faults.iter().all(|fault| !fault.contains("abc123")), "{faults:?}");
    }
    let command = "agents.host=[\"sshpass\", \"-p\", \"abc123\", \"ssh\", \"db1\", \"proofload\", \"agent\"]";
    let faults = refusal(GOOD, &[command]);
    assert!(faults.iter().any(|fault| fault.starts_with("agents.host: contains a secret (sshpass -p)")), "{faults:?}");
    assert!(faults.iter().all(|fault| !fault.contains("abc123")), "{faults:?}");
}

#[test]
fn a_study_that_was_not_validated_here_has_a_repetition() {
    let mut study = validate(GOOD, &[], &catalogue()).expect("it is valid");
    study.settings.0.insert("study.repetitions".to_owned(), Value::Integer(0));
    assert_eq!(study.repetitions(), 1, "others divide by it");
}

#[test]
fn only_a_limit_is_left_out_by_none() {
    let points = |change: &str| {
        let study =
            validate(GOOD, &[parse_assignment(change).expect("an assignment")], &catalogue()).expect("it is valid");
        (study.settings.get("limits.memory").is_some(), expand(&study).points.len())
    };
    assert_eq!(points("limits.memory=none"), (false, 1), "neither a limit nor a factor any more");
    let faults = refusal(GOOD, &["workload.warehouses=none"]);
    assert!(faults.len() == 1 && faults[0].contains("must be a whole number"), "{faults:?}");
}

#[test]
fn a_setting_that_the_engine_does_not_have_is_a_fault_of_the_study() {
    let faults =
        refusal(GOOD, &["factor.engine.settings.shared_buffers=[1, 2]", "engine.settings.sqlite.cache_size=1"]);
    let expected =
        "engine.settings.shared_buffers: sqlite has no setting \"shared_buffers\"; it has cache_size, synchronous";
    assert_eq!(faults, [expected]);
    assert_eq!(refusal(GOOD, &["engine.settings.server.shared_buffers=1"]), [""; 0], "another engine's");
    assert_eq!(refusal(GOOD, &["engine.kind=server", "engine.settings.work_mem=1"]), [""; 0], "only it knows");
}

#[test]
fn a_value_that_the_engine_does_not_take_is_a_fault_of_the_study() {
    let told = |set: &[&str]| refusal(GOOD, set);
    let expected = "engine.settings.synchronous: synchronous cannot be wrong";
    assert_eq!(told(&["engine.settings.synchronous=wrong"]), [expected]);
    assert_eq!(told(&["factor.engine.settings.synchronous=[\"off\", \"wrong\"]"]), [expected], "one level of two");
    let own = "engine.settings.sqlite.synchronous=wrong";
    assert_eq!(told(&[own]), ["engine.settings.sqlite.synchronous: synchronous cannot be wrong"]);
    assert_eq!(told(&["engine.settings.server.synchronous=wrong"]), [""; 0], "another engine's");
    let two = "engine.settings.unknown=wrong";
    assert_eq!(told(&[two]).len(), 1, "a name that is not in the list is told once");
}

#[test]
fn what_only_the_programs_of_an_engine_know_is_asked_where_they_are() {
    let misspelt = ["engine.kind=server", "engine.settings.misspelt=1"];
    assert_eq!(refusal(GOOD, &misspelt), ["engine.settings.misspelt: misspelt cannot be 1"]);
    let elsewhere = [&misspelt[..], &["agents.host=[\"ssh\", \"db1\"]"]].concat();
    assert_eq!(refusal(GOOD, &elsewhere), [""; 0], "another host has programs of its own");
}

#[test]
fn cpu_time_that_does_not_fit_on_the_cores_is_refused() {
    let faults = refusal(GOOD, &["limits.cores=1", "limits.cpu=4"]);
    assert_eq!(faults, ["limits.cpu: 4 CPU s/s do not fit on 1 core (limits.cores)"]);
    let faults = refusal(GOOD, &["limits.cores=2", "limits.cpu=4"]);
    assert_eq!(faults, ["limits.cpu: 4 CPU s/s do not fit on 2 cores (limits.cores)"]);
    assert_eq!(refusal(GOOD, &["limits.cores=4", "limits.cpu=4"]), [""; 0]);
    let faults = refusal(GOOD, &["limits.cores=1", "limits.cpu=1", "limits.standby_cpu=2"]);
    assert_eq!(
        faults,
        [
            "limits.standby_cpu: 2 CPU s/s do not fit on 1 core (limits.cores)",
            "limits.standby_cpu: only used with standbys; set replication.mode too, or remove it",
        ]
    );
}

#[test]
fn a_role_is_limited_with_its_cpu_time_where_it_runs() {
    let role = ["limits.thread=walsender", "limits.thread_cpu=0.05"];
    let refused = |set: &[&str]| refusal(GOOD, &[&["engine.kind=server"], set].concat());
    assert_eq!(refused(&role), [""; 0]);
    let cases: [(&[&str], &str); 4] = [
        (&role[..1], "limits.thread: needs the CPU time that the role may use; set limits.thread_cpu too"),
        (&role[1..], "limits.thread_cpu: needs the role that it limits, such as \"walsender\"; set limits.thread too"),
        (&["limits.thread_on=primary"], "limits.thread_on: only used with limits.thread; set it too, or remove this"),
        (
            &[role[0], role[1], "limits.thread_on=standby"],
            "limits.thread_on: there are no standbys; set replication.mode too, or remove it",
        ),
    ];
    for (set, told) in cases {
        assert_eq!(refused(set), [told], "{set:?}");
    }
    let left_out = [role[0], role[1], "limits.thread_on=primary", "limits.thread_cpu=none"];
    assert_eq!(refused(&left_out), [""; 0], "who leaves the limit out need not leave out the role");
    assert_eq!(refusal(GOOD, &role), ["limits.thread: sqlite has no processes of its own; use limits.cpu"]);
}

#[test]
fn a_role_that_is_a_slip_for_a_known_one_is_refused() {
    let refused = |role: &str| {
        let role = format!("limits.thread={role}");
        refusal(GOOD, &["engine.kind=server", &role, "limits.thread_cpu=0.05"])
    };
    let told = "limits.thread: server is not known to have a role \"walsendr\"; did you mean walsender?";
    assert_eq!(refused("walsendr"), [told]);
    assert_eq!(refused("Walwriter").len(), 1, "capitals tell roles apart");
    assert_eq!(refused("walwriter"), [""; 0]);
    for taken in ["role of an extension", "bg worker", "wal writer"] {
        assert_eq!(refused(&format!("{taken:?}")), [""; 0], "{taken}");
    }
}

#[test]
fn experiments_change_of_an_engine_what_it_lets_them() {
    let refused = |more: &[&str], words: &str| {
        let words = format!("confirm.engine={words}");
        refusal(GOOD, &[more, &[&words[..]]].concat())
    };
    let server = ["engine.kind=server"];
    assert_eq!(refused(&server, "[\"cache\", \"checkpoints\"]"), [""; 0]);
    let told = "confirm.engine: \"durability\" cannot be changed while it runs: of server only cache, checkpoints can";
    assert_eq!(refused(&server, "[\"cache\", \"durability\"]"), [told]);
    let told = "confirm.engine: \"cache\" cannot be changed while it runs: sqlite has nothing that can, so remove it";
    assert_eq!(refused(&[], "[\"cache\"]"), [told]);
    assert_eq!(refused(&["factor.engine.kind=[\"sqlite\", \"server\"]"], "[\"cache\"]"), [""; 0], "one has it");
    let told = "confirm.engine: \"cahce\" is none of cache, autovacuum, checkpoints, page_flushing, durability; did you mean cache?";
    assert_eq!(refused(&server, "[\"cahce\"]"), [told]);
}

#[test]
fn contradictions_are_told_beside_faults_that_do_not_hide_them() {
    let faults = refusal(GOOD, &["no.such=1", "factor.no.other=[1]", "limits.cores=1", "limits.cpu=4"]);
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(faults.iter().any(|fault| fault.starts_with("limits.cpu: 4 CPU s/s")), "{faults:?}");
}

#[test]
fn faults_name_the_line_where_they_stand_and_are_told_once() {
    let again = "\n[[factor]]\nsetting = \"limits.memory\"\nlevels = [\"64MiB\", \"64MiB\", \"65536KiB\"]\n[unknown]\n";
    let text = format!("{GOOD}{again}");
    let line = |of: &str| text.lines().count() - text.lines().rev().position(|line| line == of).expect("it is there");
    let faults = refusal(&text, &[]);
    let at = |line: usize, fault: &str| format!("line {line}: {fault}");
    assert!(
        faults.contains(&at(line("setting = \"limits.memory\""), "limits.memory: varied by two factors")),
        "{faults:?}"
    );
    assert_eq!(faults.iter().filter(|fault| fault.contains("listed twice")).count(), 1, "{faults:?}");
    assert!(faults.contains(&at(line("[unknown]"), "unknown: unknown setting")), "{faults:?}");
}

#[test]
fn a_table_with_a_value_and_a_misspelt_list_of_factors_are_told_with_what_was_meant() {
    let told = "procedure.warm_up: is a table of settings and takes no value; did you mean procedure.warm_up.at_least?";
    assert_eq!(refusal(GOOD, &["procedure.warm_up=3s"]), [told]);
    let faults = refusal(&format!("{GOOD}[[factors]]\nsetting = \"limits.cores\"\nlevels = [1]\n"), &[]);
    let told = "factors: a list of tables is not allowed here; did you mean [[factor]]?";
    assert!(faults.len() == 1 && faults[0].ends_with(told), "{faults:?}");
}

#[test]
fn an_unknown_factor_without_levels_has_two_faults() {
    let faults = refusal(&format!("{GOOD}[[factor]]\nsetting = \"limits.croes\"\nlevels = []\n"), &[]);
    let told = ["limits.croes: unknown setting; did you mean limits.cores?", "limits.croes: levels must be a list of"];
    let are_told = told.iter().zip(&faults).all(|(told, fault)| fault.contains(told));
    assert!(faults.len() == 2 && are_told, "{faults:?}");
}

#[test]
fn quiet_seconds_are_for_loads_that_leave_nothing_undone() {
    assert_eq!(refusal(GOOD, &["procedure.quiet_seconds=60"]), [""; 0]);
    let faults = refusal(GOOD, &["procedure.quiet_seconds=60", "workload.rate=100"]);
    assert!(
        faults.iter().any(|fault| fault.starts_with("procedure.quiet_seconds: needs a saturated load")),
        "{faults:?}"
    );
}

#[test]
fn what_the_standbys_of_an_engine_do_not_do_is_refused() {
    const FOLLOWER: [&str; 2] = ["engine.kind=follower", "replication.mode=remote_flush"];
    let with = |more: &[&str]| refusal(GOOD, &[&FOLLOWER[..], more].concat());
    let check = |more: &[&str], expected: &str| {
        let found = with(more);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{more:?}: {found:?}");
    };
    check(
        &["replication.standbys=2", "replication.confirm=first 1"],
        "replication.confirm: follower has any 1 only; use that",
    );
    check(&["replication.network=namespaces"], "replication.network: standbys of follower run beside their primary");
    check(
        &["drill.fault=crash primary", "drill.rejoin=rewind", "workload.deadline=1s"],
        "drill.rejoin: follower cannot put",
    );
    let fits = ["replication.standbys=2", "drill.fault=crash primary", "workload.deadline=1s"];
    assert_eq!(with(&fits), [""; 0]);
}

#[test]
fn a_failed_primary_rejoins_by_hand_and_by_its_manager() {
    let by_hand = [
        "engine.kind=server",
        "replication.mode=remote_flush",
        "drill.fault=crash primary",
        "drill.rejoin=rewind",
        "workload.deadline=1s",
    ];
    assert_eq!(refusal(GOOD, &by_hand), [""; 0]);
    assert_eq!(refusal(GOOD, &[&by_hand[..], &["replication.manager=patroni"][..]].concat()), [""; 0]);
}

#[test]
fn a_server_alone_can_fail_and_be_started_again() {
    let with = |more: &[&str]| refusal(GOOD, &[&["workload.deadline=1s"], more].concat());
    for fits in ["crash primary", "kill primary", "freeze primary", "slow disk primary", "none"] {
        let fault = format!("drill.fault={fits}");
        let strength = if fits.starts_with("slow") { "drill.write_iops=10" } else { "drill.lasts=2s" };
        assert_eq!(with(&["engine.kind=server", &fault, strength]), [""; 0], "{fits}");
    }
    let calm = ["engine.kind=server", "drill.fault=none", "prober.rate=50", "prober.calm_rate=50"];
    assert_eq!(with(&calm), [""; 0], "one pace all the time");
    let slow = ["engine.kind=server", "drill.fault=slow disk primary", "drill.write_bandwidth=1MB"];
    assert_eq!(with(&slow), [""; 0]);
    let slow = |more: &[&str]| with(&[&slow[..], more].concat());
    assert_eq!(slow(&["limits.write_bandwidth=2MB"]), [""; 0]);
    let same = slow(&["limits.write_bandwidth=1MB"]);
    assert!(
        same.len() == 1 && same[0].contains("drill.write_bandwidth: writes of 1") && same[0].contains("is not a fault"),
        "{same:?}"
    );
    let both = slow(&["drill.write_iops=10"]);
    assert!(both.len() == 1 && both[0].contains("remove drill.write_iops or drill.write_bandwidth"), "{both:?}");
    let none = with(&["engine.kind=server", "drill.fault=slow disk primary"]);
    assert!(none.len() == 1 && none[0].contains("needs drill.write_iops or drill.write_bandwidth"), "{none:?}");
    for (more, told) in [
        (&["engine.kind=server", "drill.fault=crash standby-1"][..], "drill.fault: this drill needs a standby"),
        (
            &["engine.kind=server", "drill.fault=crash primary", "drill.recovery=promote"],
            "drill.fault: this drill needs",
        ),
        (
            &["engine.kind=server", "drill.fault=slow disk primary", "drill.write_iops=10", "drill.recovery=restart"],
            "drill.recovery: \"restart\" is",
        ),
        (
            &["engine.kind=server", "drill.fault=crash primary", "drill.promote_after=1s"],
            "drill.promote_after: this fault",
        ),
        (
            &["engine.kind=server", "drill.fault=crash primary", "prober.rate=50", "prober.calm_rate=51"],
            "prober.calm_rate: is higher than prober.rate",
        ),
        (&["engine.kind=sqlite", "drill.fault=crash primary"], "drill.fault: sqlite has no server"),
    ] {
        let found = with(more);
        assert!(found.len() == 1 && found[0].starts_with(told), "{more:?}: {found:?}");
    }
}

#[test]
fn existing_servers_are_only_told_to_fail_over_and_with_leave() {
    const AT_URL: [&str; 4] = [
        "engine.url=x://me@a,b/shop",
        "replication.mode=remote_flush",
        "procedure.restore=never",
        "workload.deadline=1s",
    ];
    let with = |more: &[&str]| {
        let found = refusal(GOOD, &[&AT_URL[..], more].concat());
        found.into_iter().filter(|fault| fault.starts_with("drill.")).collect::<Vec<_>>()
    };
    let group = |more: &[&str]| with(&[&["engine.kind=group"][..], more].concat());
    for fault in ["drill.fault=switchover", "drill.fault=forced failover"] {
        assert_eq!(group(&[fault, "engine.changes=allowed"]), [""; 0], "{fault}");
        let kept = group(&[fault]);
        assert!(kept.len() == 1 && kept[0].contains("set engine.changes = \"allowed\""), "{kept:?}");
        let rewound = group(&[fault, "engine.changes=allowed", "drill.rejoin=rewind"]);
        assert!(rewound.len() == 1 && rewound[0].starts_with("drill.rejoin: existing servers"), "{rewound:?}");
        let restarted = group(&[fault, "engine.changes=allowed", "drill.recovery=restart"]);
        assert!(restarted.len() == 1 && restarted[0].starts_with("drill.recovery: \"restart\" is"), "{restarted:?}");
        let other = with(&["engine.kind=server", fault]);
        assert!(other.len() == 1 && other[0].contains("never into an existing server"), "{other:?}");
    }
    assert_eq!(group(&["drill.fault=none"]), [""; 0], "the prober alone changes nothing");
    let crashed = group(&["drill.fault=crash primary", "engine.changes=allowed"]);
    assert!(crashed.len() == 1 && crashed[0].contains("is only told \"switchover\""), "{crashed:?}");
    let ours = ["engine.kind=server", "replication.mode=remote_flush", "workload.deadline=1s"];
    let ours = refusal(GOOD, &[&ours[..], &["drill.fault=forced failover"][..]].concat());
    assert!(ours.len() == 1 && ours[0].contains("set engine.url, or use \"crash primary\""), "{ours:?}");
}

#[test]
fn standbys_need_an_engine_a_mode_and_a_snapshot() {
    const SERVER: [&str; 2] = ["engine.kind=server", "replication.mode=remote_flush"];
    let with = |more: &[&str]| refusal(GOOD, &[&SERVER[..], more].concat());
    assert_eq!(with(&["limits.memory=64MiB", "factor.limits.memory=[\"64MiB\"]"]), [""; 0]);
    for (more, told) in [
        (&["engine.kind=sqlite"][..], "replication.mode: sqlite does not support standbys; remove it or use \"none\""),
        (
            &["replication.mode=remote_apply"],
            "replication.mode: server has no mode remote_apply; it has async, remote_flush",
        ),
        (
            &["replication.confirm=any 2"],
            "replication.confirm: any 2 standbys cannot confirm when there are 1 (replication.standbys)",
        ),
        (&["procedure.restore=never"], "procedure.restore: standbys start from the snapshot"),
        (
            &["engine.url=x://h/d", "replication.mode=async"],
            "replication.mode: server has no mode async by engine.url; it has remote_flush",
        ),
        (
            &["engine.url=x://h/d", "replication.rtt=1ms"],
            "replication.rtt: is up to the existing server (engine.url); remove it",
        ),
        (
            &["engine.url=x://h/d", "factor.replication.mode=[\"none\", \"remote_flush\"]"],
            "replication.mode: an existing server (engine.url) has the same standbys at every point",
        ),
        (&["engine.settings.synchronous_commit=off"], "engine.settings.synchronous_commit: is set by replication.mode"),
        (&["engine.settings.server.synchronous_commit=off"], "engine.settings.server.synchronous_commit: is set by"),
        (&["replication.standbys=4"], "replication.standbys: "),
        (&["replication.mode=none", "replication.confirm=any 1"], "replication.confirm: only used with standbys"),
    ] {
        let faults = with(more);
        assert!(faults.iter().any(|fault| fault.contains(told)), "{more:?}: {faults:#?}");
    }
    assert_eq!(
        refusal(GOOD, &["factor.replication.mode=[\"none\"]", "engine.settings.synchronous=off"]),
        [""; 0],
        "none asks for nothing"
    );
}

#[test]
fn hosts_of_standbys_are_refused_with_every_reason_at_once() {
    let hosts = "agents.standby_hosts=[\"db2=10.0.0.2\", \"db3=10.0.0.3\"]";
    let far = ["engine.kind=server", "agents.standby=[\"ssh\", \"{host}\"]", "agents.address=10.0.0.1", hosts];
    let check = |more: &[&str], expected: &[&str]| {
        let faults = refusal(GOOD, &[&far[..], more].concat());
        let parts = expected.iter().all(|part| faults.iter().any(|fault| fault.contains(part)));
        assert!(parts && faults.len() == expected.len(), "{more:?}: {faults:#?}");
    };
    check(&["replication.mode=async", "replication.standbys=2"], &[]);
    check(&["replication.mode=async"], &["lists 2 hosts, but replication.standbys is 1"]);
    check(&[], &["only used with standbys"]);
    check(&["factor.replication.mode=[\"none\", \"async\"]", "replication.standbys=2"], &[]);
    check(
        &["replication.mode=async", "replication.manager=patroni", "agents.standby=[\"ssh\"]", "agents.address=x"],
        &["agents.address: \"x\"", "on one machine", "lists 2 hosts, but", "Patroni runs all instances on one host"],
    );
    check(
        &["replication.mode=remote_flush", "replication.standbys=2", "engine.url=x:///d", "procedure.restore=never"],
        &["has its standbys on its own hosts", "limits apply only"],
    );
    let alone = refusal(GOOD, &["agents.address=10.0.0.1", "agents.standby=[\"ssh\"]"]);
    assert!(alone.len() == 2 && alone.iter().all(|fault| fault.contains("only used with standby hosts")), "{alone:?}");
}

#[test]
fn each_standby_has_a_device_that_is_purged_also_on_a_host_of_its_own() {
    let purged = ["engine.kind=server", "replication.mode=async", "storage.purge.device=/dev/a"];
    let with = |more: &[&str]| refusal(GOOD, &[&purged[..], more].concat());
    let both = "storage.purge.standby_devices=[\"/dev/b\"]";
    assert_eq!(with(&[both]), [""; 0]);
    assert_eq!(with(&[both, "agents.standby_hosts=[\"db2\"]"]), [""; 0], "each host keeps its snapshot elsewhere");
    let one = with(&["agents.standby_hosts=[\"db2\"]"]);
    assert!(one.len() == 1 && one[0].contains("lists 0 devices"), "{one:?}");
    let same = with(&["storage.purge.standby_devices=[\"/dev/a\"]", "agents.standby_hosts=[\"db2\"]"]);
    assert!(same.len() == 1 && same[0].contains("listed for two nodes"), "{same:?}");
}
