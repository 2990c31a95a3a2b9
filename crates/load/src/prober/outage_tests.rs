//! Outages of scripted services: six shapes, a thousand of them, against what the script says. No clock: operations are computed.

use super::super::scripted_service::{Answer, DEADLINE_MS, PERIOD_MS, draws, due_ms, operation};
use super::*;

const RATE: u32 = 200;

/// What a service does at a time, ms.
type Service = Box<dyn Fn(f64) -> Answer>;

fn found(until_ms: f64, service: &Service) -> (Vec<Outage>, u64) {
    let answered = |number| operation(number, service(due_ms(number)));
    let operations: Vec<_> = (0..(until_ms / PERIOD_MS) as u64).map(answered).collect();
    outages(&operations, RATE, Moment(0))
}

/// A service that is away from one time to another in one of six shapes; what it takes when it works, ms.
fn away(shape: u64, from: f64, to: f64, takes: f64) -> Service {
    Box::new(move |at| {
        let gone = (from..to).contains(&at);
        match shape {
            // Refuses, says nothing, answers far too late, answers reads only (a refusal of writes), dies under what is in flight.
            0 | 3 if gone => Answer::Refused,
            1 if gone => Answer::Silence,
            2 if gone => Answer::After(DEADLINE_MS + 1.0),
            4 if gone || (from - takes..from).contains(&at) => {
                if gone {
                    Answer::Refused
                } else {
                    Answer::Silence
                }
            }
            // Flaps: back for ten operations in between, which are too few to count.
            5 if gone => {
                let middle = f64::midpoint(from, to);
                if (middle..middle + 9.0 * PERIOD_MS).contains(&at) { Answer::After(takes) } else { Answer::Refused }
            }
            _ => Answer::After(takes),
        }
    })
}

#[test]
fn a_thousand_scripted_outages_are_found_within_twenty_milliseconds() {
    let mut draw = draws();
    for number in 0..1000 {
        let shape = number % 6;
        let (from, takes) = (2_000.0 + draw(3_000.0), 0.5 + draw(5.0));
        // 50 ms to 60 s, as many of each size.
        let length = 50.0 * 1200f64.powf(draw(1.0));
        // In a flap of less than twice ten operations the service is away for a moment only on both sides.
        let length = if shape == 5 { length.max(300.0) } else { length };
        let service = away(shape, from, from + length, takes);
        let (outages, blips) = found(from + length + 3_000.0, &service);
        assert_eq!((outages.len(), blips), (1, 0), "shape {shape}, {length} ms from {from}: {outages:?}");
        let (begin, end) = (outages[0].from.0 as f64 / 1e6, outages[0].to.expect("it ended").0 as f64 / 1e6);
        assert!((begin - from).abs() <= 20.0, "shape {shape}: from {from}, found {begin}");
        assert!((end - from - length).abs() <= 20.0, "shape {shape}: to {}, found {end}", from + length);
    }
}

#[test]
fn no_outage_is_found_where_there_is_none() {
    let steady: Service = Box::new(|_| Answer::After(3.0));
    assert_eq!(found(60_000.0, &steady), (Vec::new(), 0));
    let slow: Service = Box::new(|_| Answer::After(DEADLINE_MS));
    assert_eq!(found(60_000.0, &slow), (Vec::new(), 0), "late is not away");
    let blip: Service = Box::new(|at| if at == 3_000.0 { Answer::Refused } else { Answer::After(3.0) });
    assert_eq!(found(60_000.0, &blip), (Vec::new(), 1));
}

#[test]
fn an_outage_may_not_end() {
    let gone: Service = Box::new(|at| if at >= 1_000.0 { Answer::Silence } else { Answer::After(1.0) });
    let (outages, _) = found(3_000.0, &gone);
    assert_eq!((outages.len(), outages[0].to, outages[0].failed), (1, None, 400));
}

#[test]
fn an_outage_ends_with_the_operations_that_were_left_when_the_prober_ended() {
    let ends_with = |left: f64, last: Answer| {
        let until = 3_000.0 + left * PERIOD_MS;
        let service: Service = Box::new(move |at| {
            if at >= until - PERIOD_MS {
                last
            } else if (1_000.0..3_000.0).contains(&at) {
                Answer::Refused
            } else {
                Answer::After(1.0)
            }
        });
        let (outages, blips) = found(until, &service);
        assert_eq!((outages.len(), blips), (1, 0), "{outages:?}");
        outages[0].to.map(|to| to.0)
    };
    let back = Some(3_001_000_000);
    assert_eq!(ends_with(5.0, Answer::After(1.0)), back, "five are fewer than end an outage, and all that were left");
    assert_eq!(ends_with(1.0, Answer::After(1.0)), back);
    assert_eq!(ends_with(5.0, Answer::Refused), None, "the last one was not acknowledged");
}
