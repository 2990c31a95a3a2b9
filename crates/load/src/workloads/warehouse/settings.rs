//! The workload's settings: what a study may say, and what it comes to. May not touch a database.

use super::data::{GENERATOR, ORDERS_PER_CHUNK, Table};
use super::suite::{is_probe, kinds};
use proofload_model::error::Error;
use proofload_model::settings::{Kind, Scope, SettingSpec, Settings};
use proofload_model::units::Bytes;
use std::time::Duration;

/// The word in `workload.kind`.
pub(super) const NAME: &str = "warehouse";

/// Version of tables and manifest. Data of another version are refused.
const FORMAT: u32 = 1;

const SCOPE: Scope = Scope::Workload(NAME);

/// What a study may say.
pub(super) const SETTINGS: &[SettingSpec] = &[
    SettingSpec::required("workload.scale_factor", Kind::Number { least: 0.01, most: 100_000.0 }, "Size of the TPC-H-derived data: 1 is about 1.1 GB of table text; fractions down to 0.01, below which keys of the generator collide.").only(SCOPE),
    SettingSpec::new("workload.streams", Kind::Integer { least: 1, most: 10_000 }, "1", "Streams: virtual users that each run all chosen queries, one after another, in an order of their own. One stream is a power run.").only(SCOPE),
    SettingSpec::optional("workload.rounds", Kind::Integer { least: 1, most: 1_000_000 }, "How often each stream runs all chosen queries; the run ends when all streams are through. Without it the run ends with the measured window.").only(SCOPE),
    SettingSpec::optional("workload.queries", Kind::List, "Names of the queries that run, such as [\"q01\", \"q06\"]; without it all of the suite but its probes.").only(SCOPE),
    SettingSpec::new("workload.parameters", Kind::OneOf(&["validation", "seeded"]), "validation", "`validation`: the same values each time, so that answers are compared with golden ones. `seeded`: drawn for each stream and round by the rules of the suite; answers are not validated.").only(SCOPE),
    SettingSpec::optional("workload.query_cap", Kind::Duration { least_ms: 1, most_ms: 86_400_000 }, "Longest time of a query; one that takes longer is ended and fails with the code query_cap, and its stream goes on.").only(SCOPE),
    SettingSpec::optional("workload.loaders", Kind::Integer { least: 1, most: 256 }, "Sessions that load at the same time; without it as many as the engine gains by.").fixed().only(SCOPE),
    SettingSpec::new("workload.check_load", Kind::OneOf(&["full", "counts"]), "full", "After the load: `full` reads every row back and compares a hash of each column; `counts` compares numbers of rows.").fixed().only(SCOPE),
    SettingSpec::optional("workload.client_threads", Kind::Integer { least: 1, most: 4096 }, "Client threads; without it one per core, or one per stream on an embedded engine.").only(SCOPE),
];

/// What the settings come to.
#[derive(Debug, Clone)]
pub(super) struct WarehouseSettings {
    pub(super) scale: f64,
    pub(super) streams: u32,
    pub(super) rounds: Option<u64>,
    /// Places of the chosen queries in [`kinds`].
    pub(super) queries: Vec<usize>,
    pub(super) seeded: bool,
    pub(super) query_cap: Option<Duration>,
    pub(super) loaders: Option<usize>,
    pub(super) check_all_rows: bool,
    pub(super) client_threads: Option<u32>,
}

impl WarehouseSettings {
    /// Reads resolved settings.
    pub(super) fn read(settings: &Settings) -> Result<Self, Error> {
        let given = |path: &str| settings.get(path).is_some();
        let count = |path: &str| given(path).then(|| settings.count(path)).transpose();
        Ok(Self {
            scale: settings.number("workload.scale_factor")?,
            streams: settings.count("workload.streams")?.max(1),
            rounds: count("workload.rounds")?.map(u64::from),
            queries: chosen(settings.list("workload.queries"))?,
            seeded: settings.text("workload.parameters")? == "seeded",
            query_cap: given("workload.query_cap").then(|| settings.duration("workload.query_cap")).transpose()?,
            loaders: count("workload.loaders")?.map(|count| count as usize),
            check_all_rows: settings.text("workload.check_load")? == "full",
            client_threads: count("workload.client_threads")?,
        })
    }

    /// What decides about the bytes of the data: name and value, in the order in which differences are told.
    pub(super) fn data(&self) -> Vec<(&'static str, String)> {
        vec![
            ("format", FORMAT.to_string()),
            ("data", "TPC-H-derived".to_owned()),
            ("generator", GENERATOR.to_owned()),
            ("scale factor", self.scale.to_string()),
            ("orders per chunk", ORDERS_PER_CHUNK.to_string()),
        ]
    }

    /// Names the data; equal labels mean equal data. The data depend on no seed.
    pub(super) fn label(&self) -> String {
        let parts: Vec<String> = self.data().iter().map(|(name, value)| format!("{name} {value}")).collect();
        format!("{NAME} {}", parts.join(", "))
    }

    /// Bytes of the tables' text form, about.
    pub(super) fn expected_bytes(&self) -> Bytes {
        Bytes(Table::ALL.iter().map(|table| table.bytes(self.scale)).sum())
    }
}

/// Places of the queries of these names; without names all but the probes.
fn chosen(names: &[String]) -> Result<Vec<usize>, Error> {
    let known = kinds();
    if names.is_empty() {
        return Ok((0..known.len()).filter(|place| !is_probe(known[*place])).collect());
    }
    let place = |name: &str| {
        let place = known.iter().position(|known| *known == name);
        place.ok_or_else(|| Error::new(format!("workload.queries names {name:?}; there are {}", known.join(", "))))
    };
    let names = names.iter().flat_map(|text| text.split([',', ' '])).map(str::trim).filter(|name| !name.is_empty());
    let mut places = names.map(place).collect::<Result<Vec<_>, _>>()?;
    places.sort_unstable();
    places.dedup();
    Ok(places)
}
