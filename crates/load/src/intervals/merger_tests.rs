//! The merger: merged equals recorded in one, bucket for bucket; what does not add up is refused.

use super::histograms::{Latencies, V2Reader};
use super::{MergedSecond, Merger};
use proofload_model::samples::{
    ClientSelf, ErrorCount, HistogramDelta, IntervalSample, LatencyClock, OfferedLoad, OperationCounts, Reading,
};

/// A small generator of values.
struct Values(u64);

impl Values {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // Most around a millisecond, some far beyond the size that histograms begin with.
        (self.0 >> 40) % 2_000_000 + if self.0.is_multiple_of(97) { self.0 >> 28 } else { 0 }
    }
}

const KINDS: [&str; 3] = ["read", "update", "deferred_delivery"];

/// A second of one agent: so many values of each kind, which go to `direct` too.
fn second(index: u64, values: &mut Values, each: u64, direct: &mut [Latencies; 3]) -> IntervalSample {
    let mut sample = IntervalSample {
        index,
        counts: Vec::new(),
        histograms: Vec::new(),
        errors: Vec::new(),
        client: ClientSelf { thread_cpu_ns: vec![each, 2 * each], resident_bytes: 1_000, ..ClientSelf::default() },
        engine: Vec::new(),
    };
    for (kind, direct) in KINDS.iter().zip(direct) {
        let mut own = Latencies::default();
        for value in (0..each).map(|_| values.next()) {
            own.record(value);
            direct.record(value);
        }
        let counts = OperationCounts { due: each + 1, done: each, in_flight: 1, ..OperationCounts::default() };
        sample.counts.push(OperationCounts { kind: (*kind).to_owned(), ..counts });
        sample.histograms.extend(own.to_delta(kind, LatencyClock::Response));
    }
    sample
}

fn buckets(delta: &HistogramDelta) -> Vec<(u64, u32)> {
    let mut reader = V2Reader::default();
    let histogram = reader.read(delta).expect("it is whole");
    histogram.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect()
}

fn figures(delta: &HistogramDelta) -> (u64, u64, u64, Vec<(u64, u32)>) {
    (delta.count, delta.sum_ns, delta.max_ns, buckets(delta))
}

/// A sample without anything but its number.
fn empty(index: u64) -> IntervalSample {
    let client = ClientSelf::default();
    IntervalSample { index, counts: vec![], histograms: vec![], errors: vec![], client, engine: vec![] }
}

fn fault<T: std::fmt::Debug>(result: Result<T, proofload_model::error::Error>) -> String {
    result.expect_err("it does not add up").to_string()
}

#[test]
fn seconds_of_many_agents_are_those_of_one_bucket_for_bucket() {
    const AGENTS: usize = 7;
    let (mut merger, mut values) = (Merger::new(AGENTS), Values(88_172_645_463_325_252));
    merger.set_window(1..3);
    let mut window = vec![Latencies::default(); AGENTS];
    let mut sent = vec![Vec::new(); AGENTS];
    for index in 0..4 {
        let mut direct = [const { None }; 3].map(|_: Option<()>| Latencies::default());
        let mut merged: Vec<MergedSecond> = Vec::new();
        // Agents come in another order each second, and one of them does nothing.
        for place in 0..AGENTS {
            let agent = (place + index as usize) % AGENTS;
            let mut own = [const { None }; 3].map(|_: Option<()>| Latencies::default());
            let before = values.0;
            let each = agent as u64 * 300;
            let sample = second(index, &mut values, each, &mut own);
            second(index, &mut Values(before), each, &mut direct);
            if (1..3).contains(&index) {
                own[..2].iter_mut().for_each(|latencies| latencies.drain_into(&mut window[agent]));
            }
            proofload_model::samples::add_counts(&mut sent[agent], &sample.counts);
            assert!(merged.is_empty(), "a second is complete with its last agent");
            merged = merger.take(agent, sample).expect("it adds up");
        }
        let [MergedSecond { sample, agents }] = &merged[..] else { panic!("{merged:?}") };
        assert_eq!(sample.index, index);
        for (kind, direct) in KINDS.iter().zip(&direct) {
            let record = sample.histograms.iter().find(|delta| delta.kind == *kind).expect("it was sent");
            assert_eq!(
                figures(record),
                figures(&direct.to_delta(kind, LatencyClock::Response).expect("it has values"))
            );
        }
        let all: u64 = (0..AGENTS as u64).map(|agent| agent * 300).sum();
        assert!(sample.counts.iter().all(|counts| (counts.done, counts.due) == (all, all + AGENTS as u64)));
        assert_eq!(
            agents.iter().map(|agent| agent.completed).sum::<u64>(),
            2 * all,
            "what is deferred is no throughput"
        );
        assert_eq!(agents.iter().map(|agent| agent.count).sum::<u64>(), 3 * all);
        assert_eq!((sample.client.thread_cpu_ns.len(), sample.client.resident_bytes), (2 * AGENTS, 7_000));
        assert_eq!(sample.client.thread_cpu_ns[2..4], [300, 600], "threads in the order of the agents");
    }
    for (agent, total) in sent.iter().enumerate() {
        assert_eq!(merger.check(agent, 4, total), Ok(()));
    }
    let of_window = merger.of_window();
    let agents: Vec<u32> = of_window.iter().map(|of| of.agent).collect();
    assert_eq!(agents, [1, 2, 3, 4, 5, 6], "the idle one has no latencies");
    for of in of_window {
        let direct = window[of.agent as usize].to_delta("", LatencyClock::Response).expect("it has values");
        assert_eq!(figures(&of.delta), figures(&direct));
    }
}

#[test]
fn an_agent_that_ends_earlier_holds_nobody_up() {
    let mut merger = Merger::new(2);
    let numbers = |merged: Vec<MergedSecond>| merged.iter().map(|one| one.sample.index).collect::<Vec<_>>();
    assert!(merger.take(0, empty(0)).expect("it is its turn").is_empty());
    assert!(merger.take(0, empty(1)).expect("it is its turn").is_empty());
    assert_eq!(numbers(merger.take(1, empty(0)).expect("it is its turn")), [0]);
    assert_eq!(numbers(merger.end(1, 1).expect("it sent one")), [1]);
    assert_eq!(numbers(merger.take(0, empty(2)).expect("it is its turn")), [2]);
    assert!(fault(merger.take(1, empty(1))).contains("it sent second 1 instead of none"));
}

#[test]
fn errors_readings_and_offers_are_added() {
    let mut merger = Merger::new(2);
    let error = |text: &str| ErrorCount { kind: "read".into(), code: "x".into(), text: text.into(), count: 2 };
    let reading = Reading { name: "bytes".into(), component: String::new(), unit: "B".into(), value: 1.5 };
    let of = |text: &str, offered| {
        let client = ClientSelf { offered, ..ClientSelf::default() };
        IntervalSample { errors: vec![error(text)], engine: vec![reading.clone()], client, ..empty(0) }
    };
    let offered = |due| Some(OfferedLoad { due, waiting: 1 });
    merger.take(0, of("first", offered(3))).expect("it adds up");
    let merged = merger.take(1, of("second", offered(4))).expect("it adds up");
    let sample = &merged[0].sample;
    assert_eq!(sample.errors, [ErrorCount { count: 4, ..error("first") }]);
    assert_eq!(sample.engine, [Reading { value: 3.0, ..reading.clone() }]);
    assert_eq!(sample.client.offered, Some(OfferedLoad { due: 7, waiting: 2 }));
    merger.take(0, IntervalSample { index: 1, ..of("third", None) }).expect("it adds up");
    let merged = merger.take(1, IntervalSample { index: 1, ..of("fourth", offered(4)) }).expect("it adds up");
    assert_eq!(merged[0].sample.client.offered, None, "one did not tell");
}

#[test]
fn what_does_not_add_up_is_refused() {
    let mut merger = Merger::new(2);
    let mut own = [const { None }; 3].map(|_: Option<()>| Latencies::default());
    let good = second(0, &mut Values(7), 10, &mut own);
    assert!(fault(merger.take(2, good.clone())).contains("no such agent: 2"));
    assert!(fault(merger.take(0, IntervalSample { index: 1, ..good.clone() })).contains("second 1 instead of 0"));
    merger.take(0, good.clone()).expect("it adds up");
    assert!(fault(merger.take(0, good.clone())).contains("second 0 instead of 1"), "twice");
    let change = |change: fn(&mut HistogramDelta)| {
        let mut sample = good.clone();
        change(&mut sample.histograms[1]);
        fault(Merger::new(2).take(1, sample))
    };
    assert!(change(|delta| delta.count += 1).contains("10 values, but 11 were announced"));
    assert!(change(|delta| delta.payload.truncate(30)).contains("histogram of update is damaged"));
    assert!(change(|delta| delta.payload[40] ^= 0x55).contains("is damaged"));
    assert!(fault(merger.end(1, 1)).contains("1 seconds, but only 0 arrived"));

    let mut counts = good.counts.clone();
    assert_eq!(merger.check(0, 1, &counts), Ok(()));
    assert!(fault(merger.check(0, 2, &counts)).contains("1 of its 2 seconds"));
    counts[0].done += 1;
    assert!(fault(merger.check(0, 1, &counts)).contains("read: it counted"));
    let mut lost = good;
    lost.histograms.remove(0);
    let mut merger = Merger::new(1);
    merger.take(0, lost.clone()).expect("one agent's seconds go on as they are");
    assert!(fault(merger.check(0, 1, &lost.counts)).contains("30 operations, but sent 20 response times"));
}
