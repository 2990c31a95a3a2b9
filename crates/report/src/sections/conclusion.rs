//! The conclusion: the answer once more, what it costs where the study states a price, and what to do next. From the findings of the first screen.

use super::opening::opening;
use crate::blocks::{Block, Inline, Prose, prose};
use crate::findings::{Findings, PointFindings};
use proofload_analysis::quantity::{Quantity, Unit};

/// Units of throughput that a price is divided by.
const PER: f64 = 1_000.0;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let opening = opening(findings);
    if opening.answer.is_empty() {
        return Vec::new();
    }
    let told = |wanted: &str| opening.claims.iter().find(|(name, _)| *name == wanted).map(|(_, text)| text.clone());
    let mut blocks = vec![Block::Lead(opening.answer.clone())];
    blocks.extend(told("What broke first").map(|text| named("What broke first", text)));
    blocks.extend(bill(findings));
    blocks.extend(told("Next").map(|text| named("Next", text)));
    blocks
}

fn named(name: &'static str, text: Prose) -> Block {
    Block::Paragraph([prose![Inline::Strong(prose![name, ":"]), " "], text].concat())
}

/// Parts and price, and the price for the throughput of the largest point.
fn bill(findings: &Findings<'_>) -> Vec<Block> {
    let settings = &findings.record.study.settings;
    let mut blocks = Vec::new();
    let parts = settings.list("paper.parts");
    if !parts.is_empty() {
        blocks.push(Block::Heading(prose!["Bill of materials"]));
        blocks.push(Block::List(parts.iter().map(|part| prose![part.clone()]).collect()));
    }
    let Ok(price) = settings.number("paper.price") else { return blocks };
    let currency = settings.text("paper.currency").unwrap_or_default().to_owned();
    let mut text = prose! {
        "All parts together cost ", crate::numbers::grouped(price, 0), " ", currency.clone(), ", as stated by the study"
    };
    if let Some((point, each)) = findings.largest().and_then(|point| Some((point, price_of(findings, point, price)?))) {
        text.extend(prose! {
            ": ", Inline::ranged(&each, ""), " ", currency, " per thousand ", findings.workload.headline.axis_unit,
            " at ", PointFindings::label(point)
        });
    }
    text.extend(prose!["."]);
    blocks.push(Block::Paragraph(text));
    blocks
}

/// The price for each thousand of the headline figure.
fn price_of(findings: &Findings<'_>, point: &PointFindings, price: f64) -> Option<Quantity> {
    use proofload_analysis::quantity::Interval;
    let value = point.result(findings.workload.headline.key()).ok().filter(|value| value.value() > 0.0)?;
    let each = |rate: f64| price / (rate / PER);
    let interval = match value.interval() {
        Interval::Known { low, high, method } if *low > 0.0 => Interval::known(each(*high), each(*low), method.clone()),
        Interval::Known { .. } => Interval::none("the interval of the throughput includes zero"),
        Interval::None { why } => Interval::none(why.clone()),
    };
    Some(Quantity::new(each(value.value()), Unit::named(""), value.n(), interval))
}
