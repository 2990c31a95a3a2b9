//! Texts of exporters as they really look, and what is read from them.

use super::*;

fn endpoint(device: Option<&str>) -> Endpoint {
    Endpoint {
        url: "http://db1:9100/metrics".to_owned(),
        device: device.map(str::to_owned),
        kept: SelectedSeries::default(),
        rates: Rates::default(),
    }
}

/// Probe, name, component and value of each reading.
type TestReading = (&'static str, String, String, f64);

/// What is read from a text, so long after the one before; no rates from the first.
fn read(endpoint: &mut Endpoint, text: &str, span: Option<Duration>) -> Vec<TestReading> {
    let parts = endpoint.understand(text, span).unwrap();
    let of_probe = |(probe, readings): ProbeReadings| {
        readings.into_iter().map(move |each| (probe, each.name, each.component, each.value))
    };
    parts.into_iter().flat_map(of_probe).collect()
}

#[track_caller]
fn check(device: Option<&str>, before: &str, after: &str, seconds: u64, expected: &[(&'static str, &str, &str, f64)]) {
    let mut endpoint = endpoint(device);
    endpoint.understand(before, None).unwrap();
    let found = read(&mut endpoint, after, Some(Duration::from_secs(seconds)));
    let expected: Vec<TestReading> = expected
        .iter()
        .map(|(probe, name, component, value)| (*probe, (*name).to_owned(), (*component).to_owned(), *value))
        .collect();
    assert_eq!(found, expected);
}

/// The only value of a series, if there is one.
#[track_caller]
fn value(figures: &[TestReading], probe: &str, name: &str) -> Option<f64> {
    let found: Vec<f64> = figures.iter().filter(|each| each.0 == probe && each.1 == name).map(|each| each.3).collect();
    assert!(found.len() < 2, "{probe} {name} is read {} times", found.len());
    found.first().copied()
}

const TWO_SECONDS: Option<Duration> = Some(Duration::from_secs(2));

/// The NIC that Windows hosts of the tests have.
const NIC: &str = "Microsoft Hyper-V Network Adapter";

/// Lines of windows_exporter after so many steps of two seconds, each with 400 reads and 200 writes that took 1 s and 2 s together.
fn windows(steps: u32) -> String {
    let after = |start: f64, step: f64| step.mul_add(steps.into(), start);
    let of_volumes = |metric: &str, help: &str, kind: &str, value: f64| {
        format!(
            "# HELP windows_logical_disk_{metric} {help}\n# TYPE windows_logical_disk_{metric} {kind}\n\
             windows_logical_disk_{metric}{{volume=\"C:\"}} 7.25\nwindows_logical_disk_{metric}{{volume=\"D:\"}} {value:e}\n"
        )
    };
    let disk = |metric: &str, counter: &str, value: f64| of_volumes(metric, counter, "counter", value);
    let (received, sent) = (after(105_848_279.0, 4096.0), after(141_699_537.0, 8192.0));
    [
        "# HELP windows_logical_disk_info A metric with a constant '1' value labeled with logical disk information\n\
         # TYPE windows_logical_disk_info gauge\n\
         windows_logical_disk_info{disk=\"1\",filesystem=\"NTFS\",serial_number=\"A0B1\",type=\"fixed\",volume=\"D:\",volume_name=\"\"} 1\n"
            .to_owned(),
        disk("idle_seconds_total", "Seconds that the disk was idle (LogicalDisk.PercentIdleTime)", after(4833.5, 0.5)),
        disk("read_latency_seconds_total", "Shows the average time (LogicalDisk.AvgDiskSecPerRead)", after(9.0, 0.25)),
        disk("read_seconds_total", "Seconds busy with reads (LogicalDisk.PercentDiskReadTime)", after(12.5, 1.0)),
        disk("reads_total", "The number of read operations on the disk (LogicalDisk.DiskReadsPerSec)", after(1e6, 400.0)),
        of_volumes("requests_queued", "Requests queued to the disk (LogicalDisk.CurrentDiskQueueLength)", "gauge", 3.0),
        disk("write_latency_seconds_total", "Shows the average time (LogicalDisk.AvgDiskSecPerWrite)", after(9.0, 0.5)),
        disk("write_seconds_total", "Seconds busy with writes (LogicalDisk.PercentDiskWriteTime)", after(40.0, 2.0)),
        disk("writes_total", "The number of write operations on the disk (LogicalDisk.DiskWritesPerSec)", after(5e6, 200.0)),
        format!(
            "# HELP windows_net_bytes_received_total (Network.BytesReceivedPerSec)\n\
             # TYPE windows_net_bytes_received_total counter\n\
             windows_net_bytes_received_total{{nic=\"{NIC}\"}} {received:e}\n\
             # HELP windows_net_bytes_sent_total (Network.BytesSentPerSec)\n# TYPE windows_net_bytes_sent_total counter\n\
             windows_net_bytes_sent_total{{nic=\"{NIC}\"}} {sent:e}\n\
             # HELP windows_net_bytes_total (Network.BytesTotalPerSec)\n# TYPE windows_net_bytes_total counter\n\
             windows_net_bytes_total{{nic=\"{NIC}\"}} {:e}\n\
             # HELP windows_net_nic_info A metric with a constant '1' value labeled with general information\n\
             # TYPE windows_net_nic_info gauge\n\
             windows_net_nic_info{{friendly_name=\"Ethernet\",mac=\"00:15:5D:00:00:01\",nic=\"{NIC}\"}} 1\n",
            received + sent
        ),
    ]
    .concat()
}

/// A text without the samples of a metric.
fn without(text: &str, metric: &str) -> String {
    let is_left = |line: &&str| !line.strip_prefix(metric).is_some_and(|rest| rest.starts_with('{'));
    text.lines().filter(is_left).flat_map(|line| [line, "\n"]).collect()
}

/// A text in which a metric's counters have begun again.
fn reset(text: &str, metric: &str) -> String {
    let value = |line: &str| line.rfind(' ').map_or(line.len(), |place| place + 1);
    let begun = |line: &str| match line.strip_prefix(metric).is_some_and(|rest| rest.starts_with('{')) {
        true => format!("{}0.125\n", &line[..value(line)]),
        false => format!("{line}\n"),
    };
    text.lines().map(begun).collect()
}

#[test]
fn a_linux_host_is_read_as_our_own_probes_would() {
    let text = |user: f64, steal: f64, bytes: f64, io: f64| {
        format!(
            "node_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} 90\nnode_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {user}\n\
             node_cpu_seconds_total{{cpu=\"0\",mode=\"steal\"}} {steal}\n\
             node_disk_read_bytes_total{{device=\"nvme0n1\"}} {bytes}\nnode_disk_read_bytes_total{{device=\"dm-0\"}} {bytes}\n\
             node_disk_io_time_seconds_total{{device=\"nvme0n1\"}} {io}\nnode_disk_io_now{{device=\"nvme0n1\"}} 3\n\
             node_memory_MemTotal_bytes 1000\nnode_memory_MemAvailable_bytes 400\n"
        )
    };
    let expected = [
        ("cores", "busy", "0", 50.0),
        ("cores", "steal", "0", 25.0),
        ("cores", "user", "0", 25.0),
        ("cores", "busy_mean", "", 50.0),
        ("device", "read_bytes", "nvme0n1", 2048.0),
        ("device", "busy", "nvme0n1", 75.0),
        ("device", "in_flight", "nvme0n1", 3.0),
        ("memory", "host_in_use", "", 600.0),
    ];
    check(None, &text(10.0, 1.0, 0.0, 5.0), &text(10.5, 1.5, 4096.0, 6.5), 2, &expected);
}

#[test]
fn a_windows_host_is_read_as_our_own_probes_would() {
    let text = |privileged: f64, idle: f64| {
        format!(
            "windows_cpu_time_total{{core=\"0,0\",mode=\"privileged\"}} {privileged}\n\
             windows_cpu_time_total{{core=\"0,0\",mode=\"dpc\"}} {privileged}\n\
             windows_logical_disk_idle_seconds_total{{volume=\"D:\"}} {idle}\n\
             windows_logical_disk_idle_seconds_total{{volume=\"C:\"}} {idle}\n"
        )
    };
    let expected = [
        ("cores", "busy", "0,0", 50.0),
        ("cores", "system", "0,0", 50.0),
        ("cores", "busy_mean", "", 50.0),
        ("device", "busy", "D:", 75.0),
    ];
    check(Some("D:"), &text(1.0, 10.0), &text(2.0, 10.5), 2, &expected);
}

#[test]
fn the_mean_time_of_a_request_follows_for_windows_as_for_linux() {
    let expected = [
        ("device", "busy", "D:", 75.0),
        ("device", "reads", "D:", 200.0),
        ("device", "in_flight", "D:", 3.0),
        ("device", "writes", "D:", 100.0),
        ("device", "queue", "D:", 1.5),
        ("network", "received", NIC, 2048.0),
        ("network", "sent", NIC, 4096.0),
    ];
    check(Some("D:"), &windows(0), &windows(1), 2, &expected);
    // 3 s that 600 requests took are 5 ms each, which the report has from these series by Little's law.
    let mut endpoint = endpoint(Some("D:"));
    read(&mut endpoint, &windows(0), None);
    let found = read(&mut endpoint, &windows(1), TWO_SECONDS);
    let of = |name| value(&found, "device", name).unwrap();
    assert_eq!(of("queue") / (of("reads") + of("writes")), 0.005);
}

#[test]
fn physical_disks_of_windows_are_timed_too() {
    let text = |steps| {
        let logical = windows(steps).replace("windows_logical_disk_", "windows_physical_disk_");
        logical.replace("volume=\"C:\"", "disk=\"0\"").replace("volume=\"D:\"", "disk=\"1\"")
    };
    let mut endpoint = endpoint(Some("1"));
    read(&mut endpoint, &text(0), None);
    let found = read(&mut endpoint, &text(1), TWO_SECONDS);
    assert_eq!(value(&found, "device", "queue"), Some(1.5));
}

#[test]
fn a_counter_that_goes_back_is_a_gap() {
    for (metric, probe, name, usual) in [
        ("windows_logical_disk_read_seconds_total", "device", "queue", 1.5),
        ("windows_logical_disk_write_seconds_total", "device", "queue", 1.5),
        ("windows_net_bytes_received_total", "network", "received", 2048.0),
        ("windows_net_bytes_sent_total", "network", "sent", 4096.0),
    ] {
        let mut endpoint = endpoint(Some("D:"));
        read(&mut endpoint, &windows(0), None);
        let usually = read(&mut endpoint, &windows(1), TWO_SECONDS);
        assert_eq!(value(&usually, probe, name), Some(usual), "{metric}");
        let behind = read(&mut endpoint, &reset(&windows(2), metric), TWO_SECONDS);
        assert_eq!(value(&behind, probe, name), None, "{metric}");
        assert_eq!(behind.len(), usually.len() - 1, "{metric}: only this one is missing");
        // From the new base on nothing moves in this counter; the time of the other kind of request goes on.
        let on = read(&mut endpoint, &reset(&windows(3), metric), TWO_SECONDS);
        let expected = match metric {
            "windows_logical_disk_read_seconds_total" => 1.0,
            "windows_logical_disk_write_seconds_total" => 0.5,
            _ => 0.0,
        };
        assert_eq!(value(&on, probe, name), Some(expected), "{metric}");
    }
}

#[test]
fn what_an_exporter_does_not_serve_is_not_read() {
    let metric = "windows_logical_disk_write_seconds_total";
    let mut without_times = endpoint(Some("D:"));
    read(&mut without_times, &without(&windows(0), metric), None);
    let found = read(&mut without_times, &without(&windows(1), metric), TWO_SECONDS);
    assert_eq!(value(&found, "device", "queue"), None, "reads alone are not all requests");
    assert_eq!(value(&found, "device", "reads"), Some(200.0));

    let mut without_once = endpoint(Some("D:"));
    read(&mut without_once, &windows(0), None);
    assert_eq!(value(&read(&mut without_once, &without(&windows(1), metric), TWO_SECONDS), "device", "queue"), None);
    let found = read(&mut without_once, &windows(2), TWO_SECONDS);
    assert_eq!(value(&found, "device", "queue"), Some(1.5), "over the four seconds of both totals");

    let only_disks =
        |steps| without(&without(&windows(steps), "windows_net_bytes_received_total"), "windows_net_bytes_sent_total");
    let mut without_network = endpoint(Some("D:"));
    read(&mut without_network, &only_disks(0), None);
    let found = read(&mut without_network, &only_disks(1), TWO_SECONDS);
    assert!(found.iter().all(|each| each.0 == "device") && found.len() == 5, "{found:?}");
}

#[test]
fn interfaces_of_a_linux_host_that_lead_elsewhere_are_read() {
    let text = |received: f64, sent: f64| {
        let of = |interface: &str, way: &str, value: f64| {
            format!("node_network_{way}_bytes_total{{device=\"{interface}\"}} {value:e}\n")
        };
        let all = |way: &str, value: f64| {
            let lines = ["eth0", "lo", "veth123", "enp0s31f6"].map(|interface| of(interface, way, value));
            let declared = format!(
                "# HELP node_network_{way}_bytes_total Network device statistic {way}_bytes.\n\
                 # TYPE node_network_{way}_bytes_total counter\n"
            );
            declared + &lines.concat()
        };
        let info = "node_network_info{address=\"00:15:5d:00:00:01\",device=\"eth0\",operstate=\"up\"} 1\n";
        info.to_owned() + &all("receive", received) + &all("transmit", sent)
    };
    let expected = [
        ("network", "received", "eth0", 2048.0),
        ("network", "received", "enp0s31f6", 2048.0),
        ("network", "sent", "eth0", 1024.0),
        ("network", "sent", "enp0s31f6", 1024.0),
    ];
    let (before, after) = (text(9_635_067.0, 537_381.0), text(9_639_163.0, 539_429.0));
    check(None, &before, &after, 2, &expected);
    // After a reboot both count from 0.
    check(None, &after, &text(12.0, 12.0), 2, &[]);
}

#[test]
fn several_devices_want_one_named() {
    let text = "node_disk_read_bytes_total{device=\"sda\"} 1\nnode_disk_read_bytes_total{device=\"sdb\"} 1\n";
    let refused = |device| endpoint(device).understand(text, None).unwrap_err().to_string();
    assert!(refused(None).contains("several devices (sda, sdb); set observe.device to the database's"));
    assert!(refused(Some("sdc")).contains("unknown device sdc; known: sda, sdb"));
}
