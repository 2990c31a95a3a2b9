//! Cases of netem: delay and loss on a cable between two network namespaces, measured, and lifted. By `tc` itself: the product sets none yet, and these
//! cases are what it may rely on.

use super::case::{Case, Figures};
use super::programs::{expect, line, output};
use serde_json::json;

/// The cases.
pub(super) const CASES: &[Case] = &[
    Case { name: "cable", boot: 1, run: cable },
    Case { name: "delay", boot: 1, run: delay },
    Case { name: "loss", boot: 1, run: loss },
];

/// Delay that is asked for, ms.
const DELAY: f64 = 80.0;

/// Loss that is asked for, and packets that are sent to measure it.
const LOSS: f64 = 0.3;
const PACKETS: u32 = 400;

/// Five times the standard deviation of a share of [`PACKETS`]: sqrt(p(1 − p)/n).
const LOSS_SPREAD: f64 = 0.115;

fn cable() -> Result<Figures, String> {
    for words in [
        "ip netns add far",
        "ip link add near type veth peer name wire netns far",
        "ip addr add 10.9.0.1/24 dev near",
        "ip link set near up",
        "ip -n far addr add 10.9.0.2/24 dev wire",
        "ip -n far link set wire up",
    ] {
        line(words)?;
    }
    let (lost, mean) = ping(20)?;
    expect(lost == 0.0 && mean < DELAY / 2.0, || {
        format!("without netem {lost} are lost and a round trip takes {mean} ms")
    })?;
    Ok([("round_trip_ms".to_owned(), json!(mean))].into_iter().collect())
}

fn delay() -> Result<Figures, String> {
    line(&format!("tc qdisc add dev near root netem delay {DELAY}ms"))?;
    let shown = line("tc qdisc show dev near")?;
    expect(shown.contains("netem") && shown.contains("delay 80ms"), || shown.clone())?;
    let (_, mean) = ping(20)?;
    expect((DELAY..DELAY * 1.5).contains(&mean), || format!("a round trip takes {mean} ms"))?;
    lifted()?;
    Ok([("round_trip_ms".to_owned(), json!(mean))].into_iter().collect())
}

fn loss() -> Result<Figures, String> {
    line(&format!("tc qdisc add dev near root netem loss {}%", LOSS * 100.0))?;
    let (lost, _) = ping(PACKETS)?;
    expect((lost - LOSS).abs() < LOSS_SPREAD, || format!("{lost} of {PACKETS} are lost"))?;
    lifted()?;
    Ok([("lost_share".to_owned(), json!(lost)), ("packets".to_owned(), json!(PACKETS))].into_iter().collect())
}

fn lifted() -> Result<(), String> {
    line("tc qdisc del dev near root")?;
    let (lost, mean) = ping(20)?;
    expect(lost == 0.0 && mean < DELAY / 2.0, || {
        format!("lifted, and {lost} are lost and a round trip takes {mean} ms")
    })
}

/// Share of packets lost, and the mean round trip, ms.
fn ping(packets: u32) -> Result<(f64, f64), String> {
    let count = packets.to_string();
    let output = output(&["ping", "-q", "-c", &count, "-i", "0.02", "-W", "1", "10.9.0.2"])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    read(&text).ok_or_else(|| format!("ping says {text:?}"))
}

/// Reads the summary of ping.
fn read(text: &str) -> Option<(f64, f64)> {
    let lost = text.split("% packet loss").next()?.rsplit(' ').next()?.parse::<f64>().ok()?;
    let mean = text.split("mdev = ").nth(1)?.split('/').nth(1)?.parse().ok()?;
    Some((lost / 100.0, mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_ping_is_read() {
        let text = "400 packets transmitted, 281 received, 29.75% packet loss, time 8013ms\n\
                    rtt min/avg/max/mdev = 80.048/80.231/81.002/0.190 ms, pipe 4\n";
        assert_eq!(read(text), Some((0.2975, 80.231)));
        assert_eq!(read("ping: unknown host"), None);
    }
}
