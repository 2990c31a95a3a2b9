//! What was tested: a sentence, a drawing, the facts that a reader looks for first. All other facts are in the appendix.

pub(super) mod drawing;
mod engine_note;
mod isolation;
mod power;
pub(super) mod setup;

use super::facts::in_full::{named, told};
use crate::blocks::{Block, Inline, Notice, Prose, prose};
use crate::findings::{Findings, setting_title};
use proofload_model::engines::{named_engine, verified_versions, verified_words};
use proofload_model::facts::{FactName, client, data, engine, host, storage, tier};
use proofload_model::samples::Fact;
use proofload_model::settings::setting;

/// Facts that are shown, those that were read.
const SHOWN: &[FactName] = &[
    host::CPU,
    host::CORES,
    host::MEMORY,
    host::HYPERVISOR,
    host::SYSTEM,
    storage::DEVICE_MODEL.titled("Drive"),
    storage::DEVICE_FIRMWARE.titled("Firmware of the drive"),
    storage::DEVICE.titled("Block device"),
    storage::FILE_SYSTEM,
    storage::WRITE_CACHE.titled("Write cache of the drive"),
    tier::MEDIUM,
    tier::STROKE,
    tier::FLUSH_DELAY,
    engine::VERSION.titled("Database"),
    engine::SERVER_VERSION.titled("Database"),
    data::BYTES.titled("Data after the build"),
    client::THREADS.titled("Client threads"),
];

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let settings = &findings.record.study.settings;
    let question = settings
        .text("paper.question")
        .ok()
        .map(|text| prose![Inline::Strong(prose!["Question:"]), " ", text.to_owned()]);
    let mut blocks: Vec<Block> = question.map(Block::Paragraph).into_iter().collect();
    blocks.push(Block::Paragraph(setup::what_was_run(findings)));
    blocks.extend(drawing::figure(findings).map(|figure| Block::Figure(Box::new(figure))));
    let is_observed = setup::observes_server(settings);
    let of_host = [host::SUBJECT, storage::SUBJECT];
    let shown: Vec<FactName> =
        SHOWN.iter().filter(|name| is_observed || !of_host.contains(&name.subject)).cloned().collect();
    let mut facts = named(findings, &shown);
    facts.extend(isolation::row(findings));
    facts.extend(verified(findings));
    facts.extend(stated(findings));
    if facts.is_empty() {
        blocks.push(Block::Notice(Notice::Gap, prose!["no facts of machine and storage were recorded."]));
    } else {
        blocks.push(Block::KeyValues(facts));
    }
    blocks.extend(settings.text("paper.notes").ok().map(|notes| Block::Paragraph(prose![notes.to_owned()])));
    blocks.push(Block::Paragraph(asked(findings)));
    blocks.extend(not_in_force(findings));
    blocks.extend(engine_note::notices(findings));
    blocks.extend(power::notice(findings));
    blocks
}

/// Whether a self-test has passed on the database's version; nothing where several engines were measured or what ran keeps no data.
fn verified(findings: &Findings<'_>) -> Option<(Prose, Prose)> {
    let name = findings.record.study.settings.text(setting::ENGINE_KIND).ok()?;
    let varies = findings.record.study.factors.iter().any(|factor| factor.varies(setting::ENGINE_KIND));
    let seen = told(findings, &engine::VERSION).or_else(|| told(findings, &engine::SERVER_VERSION))?;
    // What runs in the load agent's process is a version of ours: without a self-test there is nothing to warn of.
    let is_told = !verified_versions(name).is_empty() || named_engine(name).is_some_and(|known| !known.in_process);
    (!varies && is_told).then(|| (prose!["Self-test of Proofload"], prose![verified_words(name, Some(&seen))]))
}

/// What the study states of the drive, where the kernel does not tell it.
fn stated(findings: &Findings<'_>) -> Vec<(Prose, Prose)> {
    let settings = &findings.record.study.settings;
    let one = |(path, title): (&str, &'static str)| {
        let text = settings.text(path).ok()?;
        Some((prose![title], prose![text.to_owned(), ", as stated by the study"]))
    };
    [(setting::PAPER_DRIVE, "Drive"), ("paper.firmware", "Firmware of the drive")].into_iter().filter_map(one).collect()
}

/// Facts of finished runs that were asked for.
fn requested<'f>(findings: &'f Findings<'_>) -> impl Iterator<Item = &'f Fact> {
    let runs = findings.points.iter().flat_map(|point| &point.runs);
    let attempts = runs.filter_map(|run| findings.finished(run.run.index));
    attempts.flat_map(|attempt| &attempt.facts).filter(|fact| fact.requested.is_some())
}

/// How many settings were read back, and where the table of them is.
fn asked(findings: &Findings<'_>) -> Prose {
    let all = requested(findings).count();
    let held = requested(findings).filter(|fact| fact.holds == Some(true)).count();
    if all == 0 {
        return prose!["No setting was read back. All facts: ", Inline::Reference("facts"), "."];
    }
    prose! {
        "Every limit and setting was read back from where it acts, before and after the load: ", held, " of ", all,
        " readings match. All readings and other facts: ", Inline::Reference("facts"), "."
    }
}

/// Settings that were not in force, each once.
fn not_in_force(findings: &Findings<'_>) -> Option<Block> {
    let mut told: Vec<String> = Vec::new();
    for fact in requested(findings).filter(|fact| fact.holds == Some(false)) {
        let asked = fact.requested.as_deref().unwrap_or_default();
        let found = fact.effective.as_deref().unwrap_or("an unknown value");
        let title = setting_title(&format!("{}.{}", fact.subject, fact.name));
        let words = format!("{title}: requested {asked}, in force {found}");
        if !told.contains(&words) {
            told.push(words);
        }
    }
    (!told.is_empty()).then(|| Block::Notice(Notice::Void, prose!["not in force: ", told.join("; "), "."]))
}
