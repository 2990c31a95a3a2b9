//! The live page of a study that runs and of a record: what it serves and to whom, in a real browser, and that it stops nothing.

#[path = "../../report/tests/support/axe.rs"]
mod axe;
#[path = "live_page/hours.rs"]
mod hours;
mod support;

use axe::{axe, browser, violations};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::synthetic::Synthetic;
use support::waiting::wait_until;
use support::{Bench, kill_gently, small_study, text};

/// Longest wait for anything.
const LONGEST: Duration = Duration::from_secs(180);

/// A process that is killed when its test is over, also by a failure.
struct OwnChild(Child);

impl Drop for OwnChild {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// Waits until the helpers of a browser that has ended no longer write to its profile.
fn expect_no_helper(profile: &str) {
    let is_helper = |process: std::fs::DirEntry| {
        std::fs::read_to_string(process.path().join("cmdline")).is_ok_and(|line| line.contains(profile))
    };
    let lives = || std::fs::read_dir("/proc").into_iter().flatten().flatten().any(is_helper);
    wait_until(&format!("helpers of the browser with {profile} end"), || !lives());
}

/// A program that serves a page, and where.
struct Served {
    child: OwnChild,
    /// Address and port.
    address: String,
    /// What stands before the paths.
    base: String,
    said: std::thread::JoinHandle<String>,
}

impl Served {
    /// Starts it and waits until it says where it serves.
    #[track_caller]
    fn start(bench: &Bench, arguments: &[&str]) -> Self {
        let mut command = bench.command(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let page = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.split_once("live page: http://").map(|(_, page)| page.to_owned()));
        let page = page.expect("it says where it serves");
        let (address, base) = page.split_once('/').expect("a path");
        let base = format!("/{}", base.trim_end_matches('/'));
        let (address, base) = (address.to_owned(), base.trim_end_matches('/').to_owned());
        // The rest is read, so that the program never waits for us.
        let said = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>().join("\n"));
        Self { child: OwnChild(child), address, base, said }
    }

    fn request(&self, method: &str, host: &str, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("somebody listens");
        stream.set_read_timeout(Some(LONGEST)).expect("a socket");
        let head = format!("{method} {}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", self.base);
        stream.write_all(head.as_bytes()).expect("it is taken");
        stream
    }

    /// Status line and body of an answer.
    fn answer(&self, method: &str, host: &str, path: &str) -> (String, String) {
        let mut all = String::new();
        let _read = self.request(method, host, path).read_to_string(&mut all);
        let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
        (head.lines().next().unwrap_or_default().to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> (String, String) {
        self.answer("GET", &self.address, path)
    }

    /// The first event of a new stream: everything there is.
    fn state(&self) -> Value {
        let stream = BufReader::new(self.request("GET", &self.address, "/events"));
        let line = stream.lines().map_while(Result::ok).find_map(|line| line.strip_prefix("data: ").map(str::to_owned));
        serde_json::from_str(&line.expect("an event")).expect("JSON")
    }

    /// Waits until the state is as wanted.
    #[track_caller]
    fn wait(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let state = self.state();
            if wanted(&state) {
                return state;
            }
            assert!(begun.elapsed() < LONGEST, "{state}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Asks it to end; its exit code and what else it said.
    fn end(mut self) -> (Option<i32>, String) {
        kill_gently(self.child.0.id());
        let status = self.child.0.wait().expect("it is our child");
        (status.code(), self.said.join().expect("lines are read"))
    }
}

/// Whether the head, the runs and seconds of a load are shown.
fn has_seconds(state: &Value) -> bool {
    let has_rate = |second: &Value| second[1].as_f64().is_some_and(|rate| rate > 0.0);
    let seconds = state["seconds"].as_array();
    state["runs"].is_array() && seconds.is_some_and(|seconds| seconds.len() > 1 && seconds.iter().any(has_rate))
}

#[test]
fn a_running_study_is_shown_to_this_machine_alone() {
    let bench = Bench::new("live-run");
    bench.study(&small_study("null", "", 2));
    let run = ["run", "study.toml", "-o", "x.proof", "--listen", "127.0.0.1:0", "--progress", "plain", "--void", "ok"];
    let mut served = Served::start(&bench, &run);
    let state = served.wait(has_seconds);
    assert_eq!(
        (&state["head"]["study"], &state["head"]["of"], &state["anew"]),
        (&"small".into(), &2.into(), &true.into())
    );
    let seconds = state["seconds"].as_array().expect("a list").iter().map(|second| second.as_array().expect("numbers"));
    let has_rate = |second: &Vec<Value>| second[1].as_f64().is_some_and(|rate| rate > 0.0);
    assert!(seconds.clone().all(|second| second.len() == 10) && seconds.clone().any(has_rate), "{state}");
    let (status, page) = served.get("/");
    assert!(
        status.contains("200") && page.contains("EventSource") && !page.contains("src=") && !page.contains("@import"),
        "{status}"
    );
    // A second in which the host stood still has no rate.
    wait_until("a second has a rate", || {
        let (_, metrics) = served.get("/metrics");
        assert!(metrics.ends_with("# EOF\n"), "{metrics}");
        metrics.contains("proofload_throughput{study=\"small\"} ")
    });
    for (method, host, path, expected) in [
        ("GET", "evil.example", "/events", "403"),
        ("POST", "127.0.0.1", "/", "405"),
        ("DELETE", "localhost", "/events", "405"),
        ("GET", "localhost", "/../etc/passwd", "404"),
        ("GET", "[::1]", "/x", "404"),
    ] {
        let (status, _) = served.answer(method, host, path);
        assert!(status.contains(expected), "{method} {host} {path}: {status}");
    }
    // Somebody who connects and says nothing keeps nobody from reading.
    let _silent: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(&served.address).expect("taken")).collect();
    served.wait(|state| state["head"]["done"] == 1);
    assert_eq!(served.child.0.wait().expect("it is our child").code(), Some(0));
    assert!(TcpStream::connect(&served.address).is_err(), "the page ends with the study");
    bench.expect_no_process();
}

#[test]
fn a_port_in_use_stops_a_study_before_anything_is_made() {
    let bench = Bench::new("live-port");
    bench.study(&small_study("null", "", 1));
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    for listen in [address.as_str(), "7070", "203.0.113.1:7070"] {
        let output = bench.run(&["run", "study.toml", "-o", "x.proof", "--listen", listen]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("failed to serve the live page"), "{}", text(&output.stderr));
        assert!(!bench.path("x.proof").exists() && !bench.path("data").exists());
    }
}

#[test]
fn a_record_is_watched_with_a_token_until_it_is_gone() {
    let bench = Bench::new("live-watch");
    Synthetic::of(400.0, 1).write(&bench.path("x.proof"));
    let served = Served::start(&bench, &["watch", "x.proof", "--listen", "0.0.0.0:0"]);
    // The address of an interface, where this machine has one: no other machine can open that of all.
    let (_, port) = served.address.rsplit_once(':').expect("a port");
    let served = Served { address: format!("127.0.0.1:{port}"), ..served };
    assert_eq!(served.base.len(), 33, "{}", served.base);
    let state = served.wait(has_seconds);
    let runs = state["runs"].as_array().expect("runs");
    assert!(runs.len() == 6 && runs.iter().all(|run| run["verdict"] == "valid"), "{state}");
    assert!(state["head"]["ended"] == true && state["seconds"].as_array().map(Vec::len) == Some(26), "{state}");
    let bare = Served { base: String::new(), ..served };
    assert!(bare.get("/").0.contains("403") && bare.get(&format!("/{}/", "0".repeat(32))).0.contains("403"));
    let output = bench.run(&["watch", "absent.proof", "--listen", "127.0.0.1:0"]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("absent.proof"));
    let (code, said) = bare.end();
    assert_eq!(code, Some(0), "{said}");

    let served = Served::start(&bench, &["watch", "x.proof", "--listen", "127.0.0.1:0"]);
    served.wait(has_seconds);
    std::fs::remove_file(bench.path("x.proof")).expect("it is there");
    let state = served.wait(|state| state["head"]["doing"].as_str().is_some_and(|doing| doing.contains("x.proof")));
    assert!(has_seconds(&state), "what was shown stays: {state}");
    assert_eq!(served.end().0, Some(0));
}

/// Added to the page: after each event it has shown, it says whether that is the second record.
const TELLS: &str = r#"<script>
"use strict";
const shows = events.onmessage;
events.onmessage = (event) => {
  shows(event);
  fetch(`shown/${byId("where").textContent.startsWith("2 of 2 runs")}`);
};
</script>"#;

/// Stands between a browser and the server, under one address: the page gets an image that comes only when the test has seen enough, and as
/// long the browser waits before it gives the document.
struct Between {
    address: String,
    passage: Arc<Passage>,
}

/// What goes through, and to whom.
struct Passage {
    server: Mutex<String>,
    /// Streams of events that a server has begun.
    streams: AtomicUsize,
    /// Whether the page has shown an event, and the second record.
    shown: [AtomicBool; 2],
    /// Whether the image may come.
    is_open: AtomicBool,
}

impl Between {
    fn start(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let server = Mutex::new(server.to_owned());
        let passage = Arc::new(Passage {
            server,
            streams: AtomicUsize::new(0),
            shown: Default::default(),
            is_open: AtomicBool::new(false),
        });
        let known = Arc::clone(&passage);
        std::thread::spawn(move || {
            for browser in listener.incoming().map_while(Result::ok) {
                let passage = Arc::clone(&known);
                std::thread::spawn(move || pass(browser, &passage));
            }
        });
        Self { address, passage }
    }

    /// Waits until so many streams were begun, and until the page has shown an event, or one of the second record.
    #[track_caller]
    fn wait_for_streams(&self, count: usize, is_second: bool) {
        wait_until(&format!("the browser asks for stream {count}"), || {
            self.passage.streams.load(Ordering::Relaxed) >= count
        });
        wait_until(&format!("the page shows stream {count}"), || {
            self.passage.shown[usize::from(is_second)].load(Ordering::Relaxed)
        });
    }
}

/// Passes one request on. Without a server the connection ends.
fn pass(mut browser: TcpStream, passage: &Passage) -> Option<()> {
    let mut head = BufReader::new(browser.try_clone().ok()?).lines();
    let request = head.next()?.ok()?;
    let path = request.split(' ').nth(1)?.to_owned();
    if path == "/hold" {
        while !passage.is_open.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
        return browser.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").ok();
    }
    if let Some(word) = path.strip_prefix("/shown/") {
        passage.shown[usize::from(word == "true")].store(true, Ordering::Relaxed);
        return browser.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").ok();
    }
    let server = passage.server.lock().ok()?.clone();
    let mut upstream = TcpStream::connect(&server).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\r\n");
    upstream.write_all(request.as_bytes()).ok()?;
    if path != "/" {
        passage.streams.fetch_add(usize::from(path == "/events"), Ordering::Relaxed);
        return std::io::copy(&mut upstream, &mut browser).ok().map(drop);
    }
    let mut answer = String::new();
    upstream.read_to_string(&mut answer).ok()?;
    let more = format!("{TELLS}<img src=\"/hold\" alt=\"\"></body>");
    let page = answer.split_once("\r\n\r\n")?.1.replace("</body>", &more);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n";
    browser.write_all(format!("{head}{page}").as_bytes()).ok()
}

#[test]
fn a_browser_follows_and_survives_a_restart_of_the_server() {
    let Some(browser) = browser() else {
        println!("SKIPPED: no Chromium in PATH");
        return;
    };
    let bench = Bench::new("live-browser");
    Synthetic::of(400.0, 1).write(&bench.path("x.proof"));
    Synthetic { repetitions: 1, ..Synthetic::of(800.0, 2) }.write(&bench.path("y.proof"));
    let first = Served::start(&bench, &["watch", "x.proof", "--listen", "127.0.0.1:0"]);
    first.wait(has_seconds);
    let between = Between::start(&first.address);
    let profile = bench.path("profile").display().to_string();
    let page = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-sync", "--window-size=500,900", "--dump-dom"])
        .arg(format!("--user-data-dir={profile}"))
        .arg(format!("http://{}/", between.address))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the browser starts");
    between.wait_for_streams(1, false);
    assert_eq!(first.end().0, Some(0));
    // Another server with another record: the page shows it by itself.
    let second = Served::start(&bench, &["watch", "y.proof", "--listen", "127.0.0.1:0"]);
    between.passage.server.lock().expect("nobody panicked").clone_from(&second.address);
    let begun = between.passage.streams.load(Ordering::Relaxed);
    between.wait_for_streams(begun + 1, true);
    between.passage.is_open.store(true, Ordering::Relaxed);
    let dom = text(&page.wait_with_output().expect("it is our child").stdout);
    expect_no_helper(&profile);
    second.end();
    let body = dom.split_once("<body>").map_or(dom.as_str(), |(_, body)| body);
    assert!(body.contains("2 of 2 runs, ended"), "{body}");
    assert!(body.contains("id=\"lost\" hidden"), "{body}");
    assert!(body.matches("<tr>").count() == 3 && body.contains("valid") && body.contains("d=\"M0.0 "), "{body}");
}

#[test]
fn the_page_has_no_violation() {
    let (Some(browser), Some(axe)) = (browser(), axe()) else {
        println!("SKIPPED: no Chromium in PATH, or no axe-core (scripts/accessibility-needs.sh)");
        return;
    };
    let bench = Bench::new("live-axe");
    Synthetic { falling: true, ..Synthetic::of(400.0, 1) }.write(&bench.path("x.proof"));
    let served = Served::start(&bench, &["watch", "x.proof", "--listen", "127.0.0.1:0"]);
    let state = served.wait(has_seconds);
    let (_, page) = served.get("/");
    served.end();
    let told = format!(
        "const events = {{}}; setTimeout(() => events.onmessage({{ data: {} }}), 0);",
        Value::from(state.to_string())
    );
    let page = page.replace("const events = new EventSource(\"events\");", &told);
    assert!(page.contains("setTimeout(() => events.onmessage"), "{page}");
    let found = violations(&browser, &axe, "live", &page, &bench.path(""));
    assert!(found.starts_with("AXE 0"), "{found}");
}
