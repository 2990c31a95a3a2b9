//! The workload's settings: what a study may say, and what it comes to. May not touch a database.

use super::departures;
use super::paced::Waits;
use crate::division::{each_has_one, parts};
use crate::workload::is_blocking;
use proofload_gen::Seed;
use proofload_gen::tprocc::inputs::{Homes, InputPlan, InputSettings, Mix, Transaction, Weights};
use proofload_gen::tprocc::population::{GENERATOR_VERSION, Population, Table, Timestamp};
use proofload_gen::tprocc::{CLoad, Constants, Departure, Profile, Scale};
use proofload_model::catalogue::Contradiction;
use proofload_model::error::Error;
use proofload_model::load_share::LoadShare;
use proofload_model::setting_words::LoadPacing;
use proofload_model::settings::{Kind, Scope, SettingSpec, Settings, setting};
use proofload_model::units::Bytes;
use proofload_model::wire::LoadSpec;
use std::ops::Range;

/// The word in `workload.kind`.
pub(super) const NAME: &str = "tprocc";

/// Version of tables, indexes and manifest. Data of another version are refused.
pub(super) const FORMAT: u32 = 1;

/// The most warehouses: an acknowledged order is kept in 64 bits, 18 of them for its warehouse.
const MOST_WAREHOUSES: i64 = 200_000;

const SCOPE: Scope = Scope::Workload(NAME);

/// Settings of the workload in a study.
pub(super) const SETTINGS: &[SettingSpec] = &[
    SettingSpec::required(setting::WORKLOAD_WAREHOUSES, Kind::Integer { least: 1, most: MOST_WAREHOUSES }, "Warehouses: the size of the data, about 100 MB each.").only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_VIRTUAL_USERS, Kind::Integer { least: 1, most: 100_000 }, "Number of virtual users. Required for a saturated load, where each user has a session; in a paced load users are terminals, by default 10 per warehouse, that share `workload.connections`.").load().only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_FORM, Kind::OneOf(&["statements", "procedures"]), "statements", "How transactions are sent to the engine: as statements, pipelined where they do not need each other's results, or as one call of a stored procedure each.").only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_LINES, Kind::OneOf(&["lists", "table"]), "How the lines of a New-Order reach its procedure: as lists of items, suppliers and quantities, which is the default, or as one table-valued parameter.").only(SCOPE),
    SettingSpec::new(LoadPacing::PATH, Kind::OneOf(LoadPacing::WORDS), "saturated", "Waits of users: none, or the keying and think times of the TPC-C specification, with Deliveries queued and executed later.").only(SCOPE),
    SettingSpec::optional("workload.connections", Kind::Integer { least: 1, most: 10_000 }, "Sessions that the terminals of a paced load share; response times include waiting for one. By default 100, or 4 on an embedded engine, but no more than terminals.").only(SCOPE),
    SettingSpec::optional("workload.delivery_workers", Kind::Integer { least: 1, most: 1_000 }, "Additional sessions that execute the queued Deliveries of a paced load; by default one for every 25 connections.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_ALL_WAREHOUSES, Kind::Boolean, "false", "Each user owns a share of all warehouses and draws one for each transaction, instead of using one home warehouse for the whole run.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_MIX, Kind::OneOf(&["deck", "weights", "draw"]), "deck", "Order of transactions: shuffled decks of 23 cards (10 New-Order, 10 Payment, 1 each of the rest), independent draws with those weights, or with `workload.weights`.").only(SCOPE),
    SettingSpec::new("workload.weights", Kind::Text, "45/43/4/4/4", "Weights of New-Order, Payment, Order-Status, Delivery and Stock-Level when the mix is `weights`.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_PROFILE, Kind::OneOf(&Profile::NAMES), "spec", "Rules of data, inputs and transactions: those of the TPC-C specification, revision 5.11, or those of HammerDB 6.0, which combine all departures of `workload.departures`.").fixed().only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_DEPARTURES, Kind::List, "Single departures from the specification, by name or number, such as [\"uniform-ids\", \"4\"]; \"none\" is a level without departures. Departures that change the loaded data need a separate data set.").only(SCOPE),
    SettingSpec::new("workload.scale", Kind::OneOf(&["full", "toy"]), "full", "Rows per warehouse: as specified or, for tests only, a hundredth of the rows and of keying and think times.").fixed().only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_CLIENT_THREADS, Kind::Integer { least: 1, most: 4096 }, "Client threads; by default one per core, or one per user on an embedded engine.").only(SCOPE),
    SettingSpec::new("workload.max_retries", Kind::Integer { least: 0, most: 1000 }, "10", "How often a transaction is retried, with the same inputs, after a deadlock, a serialization failure or a busy error.").only(SCOPE),
];

/// Form in which a transaction reaches the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Flights of statements.
    Statements,
    /// One call of a procedure stored in the server.
    Procedures,
}

impl Form {
    /// The form of this word; the table of settings lets no other word pass.
    pub(super) fn of_name(name: &str) -> Self {
        if name == "procedures" { Self::Procedures } else { Self::Statements }
    }

    /// The word in `workload.form`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Statements => "statements",
            Self::Procedures => "procedures",
        }
    }
}

/// Form in which the lines of a New-Order reach its procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinesForm {
    /// A list each of items, suppliers and quantities.
    Lists,
    /// One table.
    Table,
}

impl LinesForm {
    /// The form that settings ask for.
    pub(super) fn of(settings: &Settings) -> Self {
        if settings.text(setting::WORKLOAD_LINES) == Ok("table") { Self::Table } else { Self::Lists }
    }

    /// The word in `workload.lines`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Lists => "lists",
            Self::Table => "table",
        }
    }
}

/// The settings, read.
#[derive(Debug, Clone, Copy)]
pub(super) struct TproccSettings {
    pub(super) warehouses: i32,
    pub(super) users: u32,
    pub(super) scale: Scale,
    pub(super) profile: Profile,
    pub(super) form: Form,
    pub(super) lines: LinesForm,
    pub(super) mix: Mix,
    pub(super) homes: Homes,
    pub(super) max_retries: u32,
    pub(super) client_threads: Option<u32>,
    /// `None` when the load is saturated.
    pub(super) paced: Option<PacingSettings>,
}

/// Settings of a paced load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PacingSettings {
    pub(super) connections: u32,
    pub(super) delivery_workers: u32,
    pub(super) waits: Waits,
}

/// Terminals per warehouse (clause 4.2.2).
const TERMINALS_PER_WAREHOUSE: u32 = 10;

impl TproccSettings {
    /// Sessions of an agent: one for each of its users, or those that its terminals share and those of its workers.
    pub(super) fn sessions(&self, part: &LoadShare) -> u32 {
        let of_paced = |paced: PacingSettings| part.count_of(paced.connections) + part.count_of(paced.delivery_workers);
        self.paced.map_or_else(|| self.users_of(part).len() as u32, of_paced)
    }

    /// Numbers of an agent's users.
    pub(super) fn users_of(&self, part: &LoadShare) -> Range<u32> {
        part.range(self.users)
    }

    /// Reads resolved settings.
    pub(super) fn read(settings: &Settings) -> Result<Self, Error> {
        let from_gen = |error: proofload_gen::Error| Error::new(error.to_string());
        let warehouses = i32::try_from(settings.integer(setting::WORKLOAD_WAREHOUSES)?.clamp(1, MOST_WAREHOUSES))
            .expect("it is clamped");
        let scale = Scale::from_name(settings.text("workload.scale")?).map_err(from_gen)?;
        let profile = departures::profile(settings)?;
        let is_paced = LoadPacing::of(settings.text(LoadPacing::PATH)?) == Some(LoadPacing::Paced);
        let users = match settings.get(setting::WORKLOAD_VIRTUAL_USERS) {
            None if is_paced => TERMINALS_PER_WAREHOUSE * warehouses.unsigned_abs(),
            _ => settings.count(setting::WORKLOAD_VIRTUAL_USERS)?.max(1),
        };
        Ok(Self {
            warehouses,
            users,
            scale,
            paced: if is_paced { Some(paced(settings, users, &scale)?) } else { None },
            profile,
            form: Form::of_name(settings.text(setting::WORKLOAD_FORM)?),
            lines: LinesForm::of(settings),
            mix: mix(settings)?,
            homes: homes(settings, &profile)?,
            max_retries: settings.count("workload.max_retries")?,
            client_threads: settings
                .get(setting::WORKLOAD_CLIENT_THREADS)
                .map(|_| settings.count(setting::WORKLOAD_CLIENT_THREADS))
                .transpose()?,
        })
    }

    /// New orders a minute of all terminals if every response took no time: the share of New-Orders over the mean cycle
    /// of the mix.
    pub(super) fn ceiling(&self, waits: Waits) -> f64 {
        let weights = self.mix.weights();
        let share = |transaction: Transaction| f64::from(weights.all()[transaction as usize]) / weights.total() as f64;
        let cycle: f64 = Transaction::ALL
            .into_iter()
            .map(|kind| share(kind) * (waits.keying(kind) + waits.mean_think(kind)).as_secs_f64())
            .sum();
        f64::from(self.users) * 60.0 / cycle * share(Transaction::NewOrder)
    }

    /// The rows of the data.
    pub(super) fn population(&self, spec: &LoadSpec) -> Population {
        let (seed, profile) = (Seed(spec.data_seed), self.profile.of_load());
        let loaded_at = Timestamp(spec.load_time.0);
        Population { seed, profile, scale: self.scale, c_load: CLoad::draw(seed, &profile), loaded_at }
    }

    /// The inputs of the run. The constants of NURand belong to the study, not to the run (clause 2.1.6).
    pub(super) fn inputs(&self, spec: &LoadSpec) -> Result<InputPlan, Error> {
        let study = Seed(spec.data_seed);
        let c_load = CLoad::draw(study, &self.profile);
        let settings = InputSettings {
            seed: Seed(spec.input_seed),
            profile: self.profile,
            scale: self.scale,
            c_load,
            constants: Constants::for_run(study, c_load, &self.scale, &self.profile),
            warehouses: self.warehouses,
            users: i32::try_from(self.users).map_err(|_| Error::new("too many virtual users"))?,
            mix: self.mix,
            homes: self.homes,
        };
        InputPlan::new(settings).map_err(|error| Error::new(error.to_string()))
    }

    /// Names the data; equal labels mean equal data.
    pub(super) fn label(&self, seed: u64) -> String {
        format!(
            "tprocc format {FORMAT}, generator {GENERATOR_VERSION}, profile {}, scale {}, {} warehouses, seed {seed}",
            self.profile.of_load().name(),
            self.scale.name,
            self.warehouses
        )
    }

    /// Bytes of all rows by the lengths of clause 4.2.2.
    pub(super) fn expected_bytes(&self) -> Bytes {
        // Ten lines per order on average.
        let rows = |table| self.scale.rows(table, self.warehouses);
        let lines = rows(Table::Orders).unwrap_or(0) * 10;
        let bytes = Table::ALL.iter().map(|table| rows(*table).unwrap_or(lines).unsigned_abs() * table.row_bytes());
        Bytes(bytes.sum())
    }
}

/// Reads the settings of a paced load of this many terminals.
fn paced(settings: &Settings, terminals: u32, scale: &Scale) -> Result<PacingSettings, Error> {
    let given = |path: &str| settings.get(path).map(|_| settings.count(path)).transpose();
    let engine = settings.text(setting::ENGINE_KIND).ok().and_then(proofload_engine::engine);
    let usual = if engine.is_some_and(is_blocking) { 4 } else { 100 };
    let connections = given("workload.connections")?.unwrap_or(usual).min(terminals);
    Ok(PacingSettings {
        connections,
        delivery_workers: given("workload.delivery_workers")?.unwrap_or(connections.div_ceil(25)),
        waits: Waits { shortened: if *scale == Scale::FULL { 1 } else { 100 } },
    })
}

/// Sessions of all agents.
pub(super) fn all_sessions(settings: &Settings) -> Option<u32> {
    let read = TproccSettings::read(settings).ok()?;
    Some(parts(settings).iter().map(|part| read.sessions(part)).sum())
}

/// Each of several load agents needs users, and sessions for them.
pub(super) fn division_contradictions(settings: &Settings) -> Vec<Contradiction> {
    let Ok(read) = TproccSettings::read(settings) else { return Vec::new() };
    let sessions = read.paced.and_then(|paced| each_has_one(settings, paced.connections, "connections"));
    each_has_one(settings, read.users, "virtual users").into_iter().chain(sessions).collect()
}

/// Contradictions among the settings of a paced load.
pub(super) fn pacing_contradictions(settings: &Settings) -> Vec<Contradiction> {
    let given = |path: &str| settings.get(path).is_some();
    let mut found = Vec::new();
    let mut fault = |holds: bool, setting: &'static str, reason: &str| {
        if holds {
            found.push(Contradiction::new(setting, reason));
        }
    };
    if !LoadPacing::is_paced(settings) {
        fault(
            !given(setting::WORKLOAD_VIRTUAL_USERS),
            setting::WORKLOAD_VIRTUAL_USERS,
            "is required for a saturated load",
        );
        for path in ["workload.connections", "workload.delivery_workers"] {
            fault(given(path), path, "only used in a paced load; set workload.pacing = \"paced\", or remove it");
        }
        return found;
    }
    fault(
        given(setting::WORKLOAD_RATE),
        setting::WORKLOAD_RATE,
        "the rate of a paced load is determined by the waits of its terminals; remove one of the two",
    );
    let all = settings.boolean(setting::WORKLOAD_ALL_WAREHOUSES) == Ok(true);
    fault(all, setting::WORKLOAD_ALL_WAREHOUSES, "a terminal of a paced load has one home warehouse; set it to false");
    let read = TproccSettings::read(settings).map(|read| read.users);
    let connections = settings.count("workload.connections").unwrap_or(0);
    let too_many = read.is_ok_and(|terminals| connections > terminals);
    fault(
        too_many,
        "workload.connections",
        "exceeds the number of terminals, which are the virtual users, or 10 per warehouse",
    );
    found
}

/// Reads how warehouses are assigned to users.
fn homes(settings: &Settings, profile: &Profile) -> Result<Homes, Error> {
    Ok(match settings.boolean(setting::WORKLOAD_ALL_WAREHOUSES)? {
        true => Homes::AllWarehouses,
        false if profile.has(Departure::HomesAtRandom) => Homes::AtRandom,
        false => Homes::Fixed,
    })
}

/// The mix of transactions.
fn mix(settings: &Settings) -> Result<Mix, Error> {
    match settings.text(setting::WORKLOAD_MIX)? {
        "draw" => Ok(Mix::Draw),
        "weights" => weights(settings.text("workload.weights")?).map(Mix::Weights),
        _ => Ok(Mix::Deck),
    }
}

/// Reads five weights such as `45/43/4/4/4`.
fn weights(text: &str) -> Result<Weights, Error> {
    let wrong = || {
        Error::new(format!("workload.weights is {text:?}; use five whole numbers, not all 0, such as \"45/43/4/4/4\""))
    };
    let numbers: Vec<u32> =
        text.split('/').map(|part| part.trim().parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
    let [new_order, payment, order_status, delivery, stock_level] = numbers[..] else { return Err(wrong()) };
    let weights = Weights { new_order, payment, order_status, delivery, stock_level };
    if weights.total() == 0 { Err(wrong()) } else { Ok(weights) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::tprocc::tests::case::toy;

    fn check(text: &str, expected: Option<[u32; 5]>) {
        assert_eq!(weights(text).ok().map(|weights| weights.all()), expected, "{text}");
    }

    #[track_caller]
    fn check_ceiling(changes: &[(&str, &str)], per_warehouse: f64) {
        let settings = TproccSettings::read(&toy(changes)).unwrap();
        let found = settings.ceiling(Waits { shortened: 1 }) / 10.0;
        assert!((found - per_warehouse).abs() < 0.0005, "{found}");
    }

    #[test]
    fn ceilings_are_those_of_the_mix() {
        // 10 terminals a warehouse; 12.86 is the published ceiling, for the mix of its minimum shares (method 3.1).
        let paced = [("pacing", "paced"), ("warehouses", "10"), ("virtual_users", "100")];
        check_ceiling(&paced, 12.605);
        check_ceiling(&[&paced[..], &[("mix", "draw")]].concat(), 12.605);
        check_ceiling(&[&paced[..], &[("mix", "weights")]].concat(), 12.8633);
    }

    #[test]
    fn lines_are_lists_unless_a_table_is_asked_for() {
        let lines = |settings: &Settings| TproccSettings::read(settings).unwrap().lines;
        // Records of engines without a choice, and those from before there was one, do not name it.
        assert_eq!(toy(&[]).get(setting::WORKLOAD_LINES), None);
        assert_eq!([lines(&toy(&[])), lines(&toy(&[("lines", "lists")]))], [LinesForm::Lists; 2]);
        let table = lines(&toy(&[("lines", "table")]));
        assert_eq!((table, table.name()), (LinesForm::Table, "table"));
    }

    #[test]
    fn weights_are_five_whole_numbers() {
        check("45/43/4/4/4", Some([45, 43, 4, 4, 4]));
        check(" 1 / 0/0/0/0", Some([1, 0, 0, 0, 0]));
        check("45/43/4/4", None);
        check("0/0/0/0/0", None);
        check("a/1/1/1/1", None);
    }
}
