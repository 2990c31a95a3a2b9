//! The workload's settings: what a study may say, and what it comes to. May not touch a database.

use super::data::{GENERATOR, Table};
use super::mix::{EACH, Mix, Rounds};
use super::suite::{Class, Layout, OWN, SCAN, chunk_orders, is_probe, kinds, known, parallelism};
use crate::division::each_has_one;
use crate::workload::{Calibration, Work};
use proofload_model::catalogue::Contradiction;
use proofload_model::error::Error;
use proofload_model::settings::{Kind, Scope, SettingSpec, Settings, setting};
use proofload_model::units::{Bytes, duration_text};
use std::time::Duration;

/// The word in `workload.kind`.
pub(super) const NAME: &str = "warehouse";

/// Version of tables and manifest. Data of another version are refused.
const FORMAT: u32 = 2;

const SCOPE: Scope = Scope::Workload(NAME);

/// The order in which a column store keeps line items.
const COLUMN_ORDER: &str = "workload.column_order";
/// Its words: as they come, and by this column.
const AS_LOADED: &str = "none";
pub(super) const BY_SHIP_DATE: &str = "l_shipdate";

/// Settings of the workload in a study.
pub(super) const SETTINGS: &[SettingSpec] = &[
    SettingSpec::required(setting::WORKLOAD_SCALE_FACTOR, Kind::Number { least: 0.01, most: 100_000.0 }, "Size of the TPC-H-derived data: 1 is about 1.1 GB of table text; fractions down to 0.01, below which keys of the generator collide.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_STREAMS, Kind::Integer { least: 1, most: 10_000 }, "1", "Streams: virtual users that each run rounds of queries, one query after another, in their own order. One stream is a power run.").load().only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_ROUNDS, Kind::Integer { least: 1, most: 1_000_000 }, "Rounds of each stream; the run ends when all streams have finished, and is rated as a whole. workload.mix sets the queries of a round. By default the run ends with the measured window.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_WARM_UP_ROUNDS, Kind::Integer { least: 0, most: 1_000_000 }, "0", "Warm-up rounds of each stream, not rated, at the start of a run with workload.rounds. 0: the run is rated from its first query and starts cold.").only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_QUERIES, Kind::List, "Names of the queries to run, such as [\"q01\", \"q06\"]; by default all queries of the suite, including its probes only if workload.mix has weights.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_MIX, Kind::Text, EACH, "The queries of a round: `each`, every chosen query once; or weights of simple, average and complex queries by count, such as `70/20/10`, in a round of 20 queries or the fewest (at most 100) that give the weights exactly. The queries of a class rotate, so that each occurs equally often over several rounds.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_PARAMETERS, Kind::OneOf(&["validation", "seeded"]), "validation", "`validation`: the same values each time, so that answers are compared with golden answers. `seeded`: values drawn for each stream and round by the rules of the suite; answers are not validated.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_LAYOUT, Kind::OneOf(&[OWN, "rows", "columns"]), OWN, "How tables are stored: `engine`, the engine's own choice; `rows`, with keys and indexes; `columns`, without. SQLite stores rows, DuckDB columns; PostgreSQL stores rows, or columns if its server has the access method columnar.").only(SCOPE),
    SettingSpec::new(COLUMN_ORDER, Kind::OneOf(&[AS_LOADED, BY_SHIP_DATE]), AS_LOADED, "Order in which the column store keeps line items: `none`, as they are loaded; `l_shipdate`, so that queries of a range of days skip row groups. SQL Server 2022 or later with workload.layout = \"columns\" only: the index is built again after the load, on one thread (MAXDOP 1).").only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_PARALLELISM, Kind::Integer { least: 1, most: 4096 }, "Threads that a query may use, including its own: on PostgreSQL set through max_parallel_workers_per_gather, on DuckDB shared by all queries. It is read back, and a run without it in force is void. SQLite does not support it. By default the engine decides.").only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_QUERY_CAP, Kind::Duration { least_ms: 1, most_ms: 86_400_000 }, "Time limit of a query; a longer one is cancelled and fails with the code query_cap, and its stream continues.").only(SCOPE),
    SettingSpec::new("workload.calibrate", Kind::OneOf(&["none", "scan", "queries"]), "scan", "What is measured before the first run on the same data and limits, but without the memory limit: `scan`, how fast the device reads in order (by fio, from a file of the raw size, 64MiB to 4GiB) and how much data a core consumes cold and in cache (by probe_scan); `queries`, also the cost of each chosen query, once; `none`: nothing, so the report cannot say what limited a run.").fixed().only(SCOPE),
    SettingSpec::optional("workload.loaders", Kind::Integer { least: 1, most: 256 }, "Parallel sessions of the load; by default as many as the engine benefits from.").fixed().only(SCOPE),
    SettingSpec::new("workload.check_load", Kind::OneOf(&["full", "counts"]), "full", "After the load: `full` reads every row back and compares a hash of each column; `counts` compares only row counts.").fixed().only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_CLIENT_THREADS, Kind::Integer { least: 1, most: 4096 }, "Client threads; by default one per core, or one per stream on an embedded engine.").only(SCOPE),
];

/// Measurements before the first run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calibrate {
    Nothing,
    Scan,
    Queries,
}

impl Calibrate {
    fn read(word: &str) -> Self {
        match word {
            "none" => Self::Nothing,
            "queries" => Self::Queries,
            _ => Self::Scan,
        }
    }
}

/// The settings, read.
#[derive(Debug, Clone)]
pub(super) struct WarehouseSettings {
    pub(super) scale: f64,
    /// Orders of a chunk that is loaded and noted at once, as the dialect has them.
    pub(super) chunk_orders: u64,
    pub(super) layout: Layout,
    /// Whether line items are kept in the order of their ship date.
    pub(super) ordered: bool,
    pub(super) streams: u32,
    pub(super) rounds: Option<u64>,
    /// Queries of the rounds and their frequency, by their indexes in [`kinds`].
    pub(super) inputs: Rounds,
    /// `workload.mix` as given.
    pub(super) mix: String,
    pub(super) seeded: bool,
    pub(super) parallelism: Option<u32>,
    pub(super) query_cap: Option<Duration>,
    pub(super) calibrate: Calibrate,
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
            scale: settings.number(setting::WORKLOAD_SCALE_FACTOR)?,
            layout: layout(settings)?,
            ordered: ordered(settings)?,
            chunk_orders: chunk_orders(settings.text(setting::ENGINE_KIND)?)?,
            streams: settings.count(setting::WORKLOAD_STREAMS)?.max(1),
            rounds: count(setting::WORKLOAD_ROUNDS)?.map(u64::from),
            inputs: inputs(settings)?,
            mix: settings.text(setting::WORKLOAD_MIX)?.trim().to_owned(),
            seeded: settings.text(setting::WORKLOAD_PARAMETERS)? == "seeded",
            parallelism: count(setting::WORKLOAD_PARALLELISM)?,
            query_cap: given(setting::WORKLOAD_QUERY_CAP)
                .then(|| settings.duration(setting::WORKLOAD_QUERY_CAP))
                .transpose()?,
            calibrate: Calibrate::read(settings.text("workload.calibrate")?),
            loaders: count("workload.loaders")?.map(|count| count as usize),
            check_all_rows: settings.text("workload.check_load")? == "full",
            client_threads: count(setting::WORKLOAD_CLIENT_THREADS)?,
        })
    }

    /// Settings that decide about the bytes of the data: name and value, in the order in which differences are
    /// reported.
    pub(super) fn data(&self) -> Vec<(&'static str, String)> {
        let order = if self.ordered { BY_SHIP_DATE } else { AS_LOADED };
        let order = self.layout.orders.then(|| ("column order", order.to_owned()));
        let all = [
            ("format", FORMAT.to_string()),
            ("data", "TPC-H-derived".to_owned()),
            ("generator", GENERATOR.to_owned()),
            ("scale factor", self.scale.to_string()),
            ("orders per chunk", self.chunk_orders.to_string()),
            ("layout", self.layout.store.word().to_owned()),
        ];
        all.into_iter().chain(order).collect()
    }

    /// Names the data; equal labels mean equal data. The data depend on no seed.
    pub(super) fn label(&self) -> String {
        let parts: Vec<String> = self.data().iter().map(|(name, value)| format!("{name} {value}")).collect();
        format!("{NAME} {}", parts.join(", "))
    }

    /// Measurements needed before the first run.
    pub(super) fn calibration(&self) -> Option<Calibration> {
        let queries = match self.calibrate {
            Calibrate::Nothing => return None,
            Calibrate::Scan => Vec::new(),
            Calibrate::Queries => self.inputs.queries().into_iter().map(|place| kinds()[place]).collect(),
        };
        let threads =
            self.parallelism.map_or("threads chosen by the engine".to_owned(), |count| format!("{count} threads"));
        let cap = self.query_cap.map_or("no cap".to_owned(), |cap| format!("a cap of {}", duration_text(cap)));
        Some(Calibration { scan: SCAN, queries, under: format!("{threads}, {cap}") })
    }

    /// The work of a run by rounds: no stream waits for another, so that the cap of a query bounds it.
    pub(super) fn work(&self) -> Option<Work> {
        let each = self.rounds?.saturating_mul(self.inputs.length() as u64);
        let at_most = self.query_cap.map(|cap| cap.saturating_mul(u32::try_from(each).unwrap_or(u32::MAX)));
        Some(Work { operations: each.saturating_mul(self.streams.into()), word: "queries", at_most })
    }

    /// Bytes of the tables' text form, about.
    pub(super) fn expected_bytes(&self) -> Bytes {
        Bytes(Table::ALL.iter().map(|table| table.bytes(self.scale)).sum())
    }
}

/// Settings that do not go together, for the validation of a study.
pub(super) fn contradictions(settings: &Settings) -> Vec<Contradiction> {
    if let Err(error) = settings.text(setting::ENGINE_KIND).and_then(known) {
        return vec![Contradiction::new(setting::ENGINE_KIND, error.to_string())];
    }
    let empty =
        settings.count(setting::WORKLOAD_STREAMS).ok().and_then(|streams| each_has_one(settings, streams, "streams"));
    let found = [
        inputs(settings).err(),
        layout(settings).err(),
        ordered(settings).err(),
        threads(settings).err(),
        too_much_warm_up(settings),
        empty,
    ];
    found.into_iter().flatten().collect()
}

/// Fails unless the engine can be told how many threads a query works with, and is told once.
fn threads(settings: &Settings) -> Result<(), Contradiction> {
    const PATH: &str = setting::WORKLOAD_PARALLELISM;
    if settings.get(PATH).is_none() {
        return Ok(());
    }
    let same = settings.text(setting::ENGINE_KIND).and_then(parallelism);
    match same.map_err(|error| Contradiction::new(PATH, error.to_string()))? {
        Some(same) if settings.get(same).is_some() => {
            Err(Contradiction::new(PATH, format!("{same} sets the same; remove one of the two")))
        }
        _ => Ok(()),
    }
}

/// Reads how the engine is to store the tables.
fn layout(settings: &Settings) -> Result<Layout, Contradiction> {
    let asked = || Layout::asked(settings.text(setting::ENGINE_KIND)?, settings.text(setting::WORKLOAD_LAYOUT)?);
    asked().map_err(|error| Contradiction::new(setting::WORKLOAD_LAYOUT, error.to_string()))
}

/// Reads whether line items are to be kept in an order, which not every layout can; a layout that there is not has its own fault.
fn ordered(settings: &Settings) -> Result<bool, Contradiction> {
    let is_asked = settings.text(COLUMN_ORDER).is_ok_and(|word| word != AS_LOADED);
    match layout(settings) {
        Ok(layout) if is_asked && !layout.orders => {
            let (engine, word) = (settings.text(setting::ENGINE_KIND).unwrap_or_default(), layout.store.word());
            let reason = format!("{engine} by {word} keeps no order; remove it, or use sqlserver by columns");
            Err(Contradiction::new(COLUMN_ORDER, reason))
        }
        found => Ok(is_asked && found.is_ok()),
    }
}

/// Something must be left to be rated after the warm-up rounds, and only runs by rounds have any.
fn too_much_warm_up(settings: &Settings) -> Option<Contradiction> {
    let warm_up = settings.count(setting::WORKLOAD_WARM_UP_ROUNDS).ok().filter(|rounds| *rounds > 0)?;
    let reason = match settings.count(setting::WORKLOAD_ROUNDS) {
        Err(_) => "a run without workload.rounds warms up until it is steady; remove it, or set the rounds".to_owned(),
        Ok(rounds) if rounds <= warm_up => format!("none of the {rounds} rounds (workload.rounds) is left to be rated"),
        Ok(_) => return None,
    };
    Some(Contradiction::new(setting::WORKLOAD_WARM_UP_ROUNDS, reason))
}

/// Rounds by `workload.queries` and `workload.mix` together.
fn inputs(settings: &Settings) -> Result<Rounds, Contradiction> {
    let of_mix = |error: Error| Contradiction::new(setting::WORKLOAD_MIX, error.to_string());
    let mix = settings.text(setting::WORKLOAD_MIX).and_then(Mix::read).map_err(of_mix)?;
    let named = settings.list(setting::WORKLOAD_QUERIES);
    let mut queries = Vec::new();
    for place in chosen(named, mix)? {
        queries.push((place, Class::of_query(kinds()[place]).map_err(of_mix)?));
    }
    let unused = queries.iter().find(|(_, class)| mix.of_class(*class) == Some(0));
    match unused.filter(|_| !named.is_empty()) {
        None => Rounds::new(mix, &queries).map_err(of_mix),
        Some((place, class)) => {
            let (query, class) = (kinds()[*place], class.word());
            let reason =
                format!("{query} is {class}, a class that workload.mix gives no weight, so it would never run");
            Err(Contradiction::new(setting::WORKLOAD_QUERIES, reason))
        }
    }
}

/// Places of the queries of these names. Without names all; the probes only where queries are asked for by class, of
/// which they have one like any other.
fn chosen(names: &[String], mix: Mix) -> Result<Vec<usize>, Contradiction> {
    let (known, wrong) = (kinds(), |reason: String| Contradiction::new(setting::WORKLOAD_QUERIES, reason));
    if names.is_empty() {
        return Ok((0..known.len()).filter(|place| mix != Mix::Each || !is_probe(known[*place])).collect());
    }
    let place = |name: &str| {
        let place = known.iter().position(|known| *known == name);
        place.ok_or_else(|| wrong(format!("unknown query {name:?}; known: {}", known.join(", "))))
    };
    let names = names.iter().flat_map(|text| text.split([',', ' '])).map(str::trim).filter(|name| !name.is_empty());
    let mut places = names.map(place).collect::<Result<Vec<_>, _>>()?;
    places.sort_unstable();
    places.dedup();
    match places.is_empty() {
        true => Err(wrong("it lists no query; remove it to run all".to_owned())),
        false => Ok(places),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::Value;

    #[track_caller]
    fn check(mix: &str, queries: &[&str], expected: Result<(usize, usize), &str>) {
        let mut settings = Settings::default();
        for (path, value) in [("engine.kind", "sqlite"), ("workload.layout", OWN), ("workload.mix", mix)] {
            settings.0.insert(path.to_owned(), Value::Text(value.to_owned()));
        }
        if !queries.is_empty() {
            let names = queries.iter().map(|name| (*name).to_owned()).collect();
            settings.0.insert("workload.queries".to_owned(), Value::List(names));
        }
        let found = inputs(&settings);
        match (&found, expected) {
            (Ok(rounds), Ok(lengths)) => assert_eq!((rounds.queries().len(), rounds.length()), lengths),
            (Err(_), Err(text)) => {
                let [Contradiction { setting, reason }] = &contradictions(&settings)[..] else { panic!("{found:?}") };
                assert!(format!("{setting}: {reason}").starts_with(text), "{setting}: {reason}");
            }
            _ => panic!("{found:?}"),
        }
    }

    #[track_caller]
    fn check_warm_up(rounds: &[(&str, i64)], expected: &str) {
        let mut settings = Settings::default();
        for (path, value) in [("engine.kind", "sqlite"), ("workload.layout", OWN), ("workload.mix", EACH)] {
            settings.0.insert(path.to_owned(), Value::Text(value.to_owned()));
        }
        for (name, rounds) in rounds {
            settings.0.insert(format!("workload.{name}"), Value::Integer(*rounds));
        }
        let found: Vec<String> = contradictions(&settings).into_iter().map(|fault| fault.reason).collect();
        assert!(
            found.join("; ").starts_with(expected) && found.len() == usize::from(!expected.is_empty()),
            "{found:?}"
        );
    }

    #[test]
    fn warm_up_rounds_leave_something_to_rate() {
        check_warm_up(&[("rounds", 3), ("warm_up_rounds", 2)], "");
        check_warm_up(&[("warm_up_rounds", 0)], "");
        check_warm_up(&[("rounds", 2), ("warm_up_rounds", 2)], "none of the 2 rounds (workload.rounds) is left");
        check_warm_up(&[("warm_up_rounds", 1)], "a run without workload.rounds warms up until it is steady");
    }

    #[test]
    fn queries_and_mix_say_what_a_round_has_or_where_they_contradict() {
        check("each", &[], Ok((22, 22)));
        check("each", &["q01", "probe_scan"], Ok((2, 2)));
        check("70/20/10", &[], Ok((23, 20)));
        check("100/0/0", &[], Ok((3, 20)));
        check("100/0/0", &["q06"], Ok((1, 20)));
        check("1/1/1", &["q06, q03 q22"], Ok((3, 3)));
        check("1/0", &[], Err("workload.mix: \"1/0\" must be"));
        check("0/0/0", &[], Err("workload.mix: the weights"));
        check("1/1/1", &["q06", "q03"], Err("workload.mix: it gives complex queries a weight, but none is chosen"));
        check(
            "1/1/0",
            &["q06", "q03", "q22"],
            Err("workload.queries: q22 is complex, a class that workload.mix gives no"),
        );
        check("each", &["q01", "q99"], Err("workload.queries: unknown query \"q99\"; known: q01, "));
        check("each", &[" , "], Err("workload.queries: it lists no query"));
    }
}
