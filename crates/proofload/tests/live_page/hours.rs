//! The page of a long study in one tab: hours of events at speed, through a real stream into a real browser, and what the tab takes of memory at each
//! look. `cargo xtask page` asks for eight hours and eight looks; here two looks at a full window stand for them.

use super::{LONGEST, OwnChild, Served, expect_no_helper, has_seconds};
use crate::axe::browser;
use crate::support::Bench;
use crate::support::synthetic::Synthetic;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Seconds of load of the longest run: more than the page keeps.
const RUN: u64 = 1_200;

/// Bytes of heap of scripts that the last look may find more than the first, which has a full window, too.
const HEAP: f64 = 512_000.0;

/// Resident memory of the tab that the last look may find, over that of the first: an allocator keeps what it had once.
const RESIDENT: f64 = 1.5;

/// What is added to the page: it counts events, and tells heap and elements when it was asked to look.
const PROBE: &str = r#"<script>
"use strict";
const shown = events.onmessage;
let count = 0;
events.onmessage = (event) => {
  shown(event);
  count += 1;
  if (count % EVERY !== 0) return;
  const at = count;
  setTimeout(() => {
    gc();
    const elements = document.getElementsByTagName("*").length;
    fetch(`told/${at}/${performance.memory.usedJSHeapSize}/${elements}/${seconds.length}`);
  }, 0);
};
</script></body>"#;

/// What a look found.
#[derive(Debug, Clone, Copy)]
struct Look {
    event: u64,
    heap_bytes: u64,
    elements: u64,
    seconds: u64,
}

/// A study of many runs, as the events of its seconds.
struct Events {
    /// The state of a finished study, as the program tells it.
    state: Value,
    /// Seconds of load of each run.
    run: u64,
    /// Seconds until the page tells of itself, and how often it does.
    every: u64,
    looks: u64,
    /// Looks that the page has told.
    told: AtomicU64,
}

impl Events {
    /// The event of a second: the head, all runs, one of them with another second of load.
    fn event(&self, second: u64) -> Value {
        let (run, at) = ((second / self.run) as usize, second % self.run);
        let finished = self.state["runs"].as_array().expect("runs");
        let row = |(place, row): (usize, &Value)| match place.cmp(&run) {
            std::cmp::Ordering::Less => row.clone(),
            std::cmp::Ordering::Greater => json!({ "state": "waiting", "label": row["label"] }),
            std::cmp::Ordering::Equal => json!({
                "state": "running", "label": row["label"], "unit": row["unit"], "rate": 400.0 + at as f64 / 7.0,
                "response_p99_ns": 1_000_000 + at * 999, "phase": "measuring", "phase_s": at, "phase_at_most_s": self.run,
                "step": "",
            }),
        };
        let runs: Vec<Value> = finished.iter().enumerate().map(row).collect();
        let wave = |factor: f64| (second as f64 * factor).sin();
        let values = json!([
            at,
            400.0 + 50.0 * wave(0.1),
            2.0 + wave(0.3),
            80.0 + 40.0 * wave(0.02),
            60.0 + 30.0 * wave(0.05),
            4.0 + wave(0.7),
            if second.is_multiple_of(9) { Value::Null } else { json!(1.5 + wave(0.01)) },
            3.0 + wave(0.2),
            5.0 + wave(0.05),
            Value::Null,
        ]);
        let mut head = self.state["head"].clone();
        head["done"] = run.into();
        head["running"] = run.into();
        head["ended"] = false.into();
        head["left_s"] = (self.every * self.looks - second).into();
        head["doing"] = "".into();
        json!({ "head": head, "runs": runs, "anew": at == 0, "seconds": [values] })
    }
}

/// Serves one request: the page, its events as fast as they are taken, or what the page tells.
fn serve(mut browser: TcpStream, page: &str, events: &Events, told: &Sender<Look>) -> Option<()> {
    let mut head = BufReader::new(browser.try_clone().ok()?).lines();
    let request = head.next()?.ok()?;
    let path = request.split(' ').nth(1)?.to_owned();
    let begin = |kind: &str| {
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n")
    };
    if let Some(words) = path.strip_prefix("/told/") {
        let numbers: Vec<u64> = words.split('/').filter_map(|word| word.parse().ok()).collect();
        let [event, heap_bytes, elements, seconds] = numbers[..] else { return None };
        told.send(Look { event, heap_bytes, elements, seconds }).ok()?;
        events.told.fetch_add(1, Ordering::Relaxed);
        return browser.write_all(begin("text/plain").as_bytes()).ok();
    }
    if path == "/events" {
        browser.write_all(begin("text/event-stream").as_bytes()).ok()?;
        for second in 0..events.every * events.looks {
            // A look is told before more comes, so that all find the page in the same state.
            while events.told.load(Ordering::Relaxed) < second / events.every {
                std::thread::sleep(Duration::from_millis(5));
            }
            browser.write_all(format!("data: {}\n\n", events.event(second)).as_bytes()).ok()?;
        }
        // The page must not think that the stream is lost, and ask again.
        std::thread::sleep(LONGEST);
        return None;
    }
    browser.write_all(format!("{}{page}", begin("text/html; charset=utf-8")).as_bytes()).ok()
}

/// Listens on a port of its own; the address, and what the page tells.
fn listen(page: String, events: Events) -> (String, Receiver<Look>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let (sender, told) = channel();
    let shared = std::sync::Arc::new((page, events));
    std::thread::spawn(move || {
        for browser in listener.incoming().map_while(Result::ok) {
            let (shared, sender) = (std::sync::Arc::clone(&shared), sender.clone());
            std::thread::spawn(move || serve(browser, &shared.0, &shared.1, &sender));
        }
    });
    (address, told)
}

/// Resident memory of the tabs of a browser, kB, without what they share with files.
fn resident_kb(profile: &str) -> u64 {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let of_tab = |path: std::path::PathBuf| {
        let command = std::fs::read_to_string(path.join("cmdline")).ok()?;
        (command.contains("--type=renderer") && command.contains(profile)).then_some(())?;
        let status = std::fs::read_to_string(path.join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    processes.filter_map(|process| of_tab(process.path())).sum()
}

#[test]
fn the_page_takes_no_more_memory_after_hours() {
    let Some(browser) = browser() else {
        println!("SKIPPED: no Chromium in PATH");
        return;
    };
    let asked = |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().expect("a number"));
    let (every, looks_asked) = (asked("PROOFLOAD_PAGE_EVERY", 1_000), asked("PROOFLOAD_PAGE_LOOKS", 2));
    let run = every.min(RUN);
    let bench = Bench::new("live-hours");
    let runs = u64::div_ceil(every * looks_asked, run);
    Synthetic { repetitions: u64::div_ceil(runs, 2) as u32, ..Synthetic::of(100.0, 1) }.write(&bench.path("x.proof"));
    let served = Served::start(&bench, &["watch", "x.proof", "--listen", "127.0.0.1:0"]);
    let state = served.wait(has_seconds);
    let (_, page) = served.get("/");
    served.end();
    let page = page.replace("</body>", &PROBE.replace("EVERY", &every.to_string()));
    let (address, told) = listen(page, Events { state, run, every, looks: looks_asked, told: AtomicU64::new(0) });
    let profile = bench.path("profile").display().to_string();
    let child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-sync", "--window-size=1200,900", "--js-flags=--expose-gc", "--enable-precise-memory-info"])
        .args([&format!("--user-data-dir={profile}"), "--remote-debugging-port=0"])
        .arg(format!("http://{address}/"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the browser starts");
    let child = OwnChild(child);
    let (began, mut looks) = (Instant::now(), Vec::new());
    while (looks.len() as u64) < looks_asked {
        let wait = Duration::from_secs(60 + every / 4);
        let look = told.recv_timeout(wait).unwrap_or_else(|_| panic!("no look after {looks:?}"));
        let resident = resident_kb(&profile);
        eprintln!(
            "after {} s: {:.2} MB heap, {} elements, {} seconds kept, {:.1} MB resident, {:.0} s",
            look.event,
            look.heap_bytes as f64 * 1e-6,
            look.elements,
            look.seconds,
            resident as f64 / 1024.0,
            began.elapsed().as_secs_f64()
        );
        looks.push((look, resident));
    }
    drop(child);
    expect_no_helper(&profile);
    let ((first, first_resident), (last, last_resident)) = (looks[0], looks[looks.len() - 1]);
    assert!(last.heap_bytes as f64 <= first.heap_bytes as f64 + HEAP, "{looks:?}");
    assert_eq!(first.elements, last.elements, "{looks:?}");
    assert!(last_resident as f64 <= first_resident as f64 * RESIDENT, "{looks:?}");
}
