//! The workload's settings: what a study may say, and what it comes to. May not touch a database.

use proofload_gen::Seed;
use proofload_gen::ycsb::{
    Compatibility, GENERATOR_VERSION, InsertOrder, KeyChoice, LengthChoice, Mix, Plan, ScanLengths,
    Settings as PlanSettings, Shape, Shares, YCSB_THETA,
};
use proofload_model::catalogue::Contradiction;
use proofload_model::error::Error;
use proofload_model::settings::{Kind, Scope, SettingSpec, SettingWord, Settings, setting};
use proofload_model::units::Bytes;
use proofload_model::wire::LoadSpec;
use std::time::Duration;

/// The word in `workload.kind`.
pub(super) const NAME: &str = "ycsb";

/// Version of tables and manifest. Data of another version are refused.
pub(super) const FORMAT: u32 = 1;

const SCOPE: Scope = Scope::Workload(NAME);

/// The word for a mix of the study's own.
const OWN: &str = "own";

/// Mix that uses the five shares.
const OWN_MIX: SettingWord = SettingWord { setting: setting::WORKLOAD_MIX, word: OWN };

const SHARE: Kind = Kind::Share { least: 0.0, most: 1.0 };
const LENGTHS: Kind = Kind::OneOf(&["constant", "uniform", "zipfian"]);

/// Settings of the workload in a study.
pub(super) const SETTINGS: &[SettingSpec] = &[
    SettingSpec::required(setting::WORKLOAD_RECORDS, Kind::Integer { least: 1, most: 1_000_000_000_000_000 }, "Records to load (YCSB's recordcount).").only(SCOPE),
    SettingSpec::required(setting::WORKLOAD_VIRTUAL_USERS, Kind::Integer { least: 1, most: 100_000 }, "Virtual users: sessions that run operations, 1..=100000.").load().only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_OPERATIONS, Kind::Integer { least: 1, most: i64::MAX }, "Operations of all users together (YCSB's operationcount): the run ends when they are done. By default the run ends with the measured window.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_MIX, Kind::OneOf(&["a", "b", "c", "d", "e", "f", OWN]), "a", "One of YCSB's core workloads A to F, with its choice of keys, or `own` with the five shares below.").only(SCOPE),
    SettingSpec::new("workload.read", SHARE, "0", "Share of reads when the mix is `own`; the five shares add up to 1.").beside(OWN_MIX).only(SCOPE),
    SettingSpec::new("workload.update", SHARE, "0", "Share of updates when the mix is `own`.").beside(OWN_MIX).only(SCOPE),
    SettingSpec::new("workload.insert", SHARE, "0", "Share of inserts when the mix is `own`.").beside(OWN_MIX).only(SCOPE),
    SettingSpec::new("workload.scan", SHARE, "0", "Share of scans when the mix is `own`.").beside(OWN_MIX).only(SCOPE),
    SettingSpec::new("workload.read_modify_write", SHARE, "0", "Share of read-modify-writes when the mix is `own`.").beside(OWN_MIX).only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_KEYS, Kind::OneOf(&["uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"]), "How the record of an operation is chosen; by default as the core workload defines, or `zipfian` for the mix `own`.").only(SCOPE),
    SettingSpec::new("workload.theta", Kind::Number { least: 0.0, most: 10.0 }, "0.99", "Skew of `zipfian` and `latest`.").only(SCOPE),
    SettingSpec::new("workload.hotspot_set", SHARE, "0.2", "Share of the records that are hot, for `hotspot`.").only(SCOPE),
    SettingSpec::new("workload.hotspot_operations", SHARE, "0.8", "Share of the operations on the hot records, for `hotspot`.").only(SCOPE),
    SettingSpec::new("workload.exponential_percentile", Kind::Number { least: 1.0, most: 99.9 }, "95", "Percentage of the operations that go to the newest records, for `exponential`; `workload.exponential_share` sets how many records these are.").only(SCOPE),
    SettingSpec::new("workload.exponential_share", Kind::Share { least: 0.000_001, most: 1.0 }, "0.8571428571", "Share of the records that count as newest, for `exponential`.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_KEY_MODE, Kind::OneOf(&["exact", "ycsb"]), "exact", "`exact`: the exact distributions, over a permutation of the records. `ycsb`: key names and draws of YCSB 0.17, bit for bit.").only(SCOPE),
    SettingSpec::new("workload.insert_order", Kind::OneOf(&["hashed", "ordered"]), "hashed", "Whether records are scattered over the key order or in ascending order.").only(SCOPE),
    SettingSpec::new("workload.zero_padding", Kind::Integer { least: 1, most: 64 }, "1", "Minimum number of digits of a key in the mode `ycsb`; in the mode `exact` keys have 20 digits.").only(SCOPE),
    SettingSpec::new("workload.fields", Kind::Integer { least: 1, most: 1000 }, "10", "Fields of a record.").only(SCOPE),
    SettingSpec::new("workload.field_length", Kind::Integer { least: 12, most: 1_000_000 }, "100", "Maximum length of a value in characters; at least 12, of which 11 identify the operation that wrote it.").only(SCOPE),
    SettingSpec::new("workload.field_lengths", LENGTHS, "constant", "How the length of a value is drawn between `workload.least_field_length` and `workload.field_length`.").only(SCOPE),
    SettingSpec::new("workload.least_field_length", Kind::Integer { least: 12, most: 1_000_000 }, "12", "Minimum length of a value, if lengths are not constant.").only(SCOPE),
    SettingSpec::new("workload.read_all_fields", Kind::Boolean, "true", "Reads and scans return all fields; if false, one.").only(SCOPE),
    SettingSpec::new("workload.write_all_fields", Kind::Boolean, "false", "Updates set all fields; if false, one.").only(SCOPE),
    SettingSpec::new("workload.scan_least", Kind::Integer { least: 1, most: 100_000 }, "1", "Minimum number of records of a scan.").only(SCOPE),
    SettingSpec::new("workload.scan_most", Kind::Integer { least: 1, most: 100_000 }, "100", "Maximum number of records of a scan.").only(SCOPE),
    SettingSpec::new("workload.scan_lengths", LENGTHS, "uniform", "How the number of records of a scan is drawn.").only(SCOPE),
    SettingSpec::new(setting::WORKLOAD_FORM, Kind::OneOf(&["columns", "json"]), "columns", "On SQL engines: a column for each field, or one column of the engine's JSON type.").only(SCOPE),
    SettingSpec::new("workload.data", Kind::OneOf(&["built", "adopted"]), "built", "`built`: loaded by Proofload, with a manifest. `adopted`: use a usertable that another client loaded, unchanged; only its shape and record count are checked.").fixed().only(SCOPE),
    SettingSpec::new("workload.batch", Kind::Integer { least: 1, most: 100_000 }, "500", "Records that the load sends in one batch.").fixed().only(SCOPE),
    SettingSpec::optional("workload.loaders", Kind::Integer { least: 1, most: 256 }, "Parallel sessions of the load; by default as many as the engine benefits from.").fixed().only(SCOPE),
    SettingSpec::new("workload.check_reads", Kind::Integer { least: 0, most: 1_000_000 }, "16", "Each user compares one in this many of its reads with the written data, byte by byte; 0 compares no reads.").only(SCOPE),
    SettingSpec::new("workload.verify", Kind::OneOf(&["sample", "full"]), "sample", "How many records are read back and compared after the load and after each run: 1,000, or all.").only(SCOPE),
    SettingSpec::optional(setting::WORKLOAD_CLIENT_THREADS, Kind::Integer { least: 1, most: 4096 }, "Client threads; by default one per core, or one per user on an embedded engine.").only(SCOPE),
    SettingSpec::optional("workload.hot_rows", Kind::Integer { least: 1, most: 1_000_000_000_000_000 }, "Records that operations use: every drawn record but an inserted one is mapped to one of so many. By default all; experiments change it.").only(SCOPE),
    SettingSpec::optional("workload.hold", Kind::Duration { least_ms: 1, most_ms: 60_000 }, "Time for which the transaction of an update keeps its record locked before it commits, as an application does that thinks inside its transactions. On SQL engines; by default an update is one statement that commits by itself. Experiments change it.").only(SCOPE),
    SettingSpec::optional("workload.pool", Kind::Integer { least: 1, most: 100_000 }, "Connections that all users share, each for one operation at a time, waiting their turn; on one client thread. By default each user has its own. Experiments change it.").load().only(SCOPE),
    SettingSpec::new("workload.max_retries", Kind::Integer { least: 0, most: 1000 }, "10", "How often an operation is retried, with the same inputs, after a conflict or a busy error.").only(SCOPE),
];

/// Form of records on an SQL engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A column for each field.
    Columns,
    /// One column of JSON.
    Json,
}

impl Form {
    /// The word in settings and manifests.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Columns => "columns",
            Self::Json => "json",
        }
    }
}

/// The settings, read.
#[derive(Debug, Clone)]
pub(super) struct YcsbSettings {
    pub(super) records: u64,
    pub(super) users: u32,
    pub(super) operations: Option<u64>,
    pub(super) mix: Mix,
    pub(super) mix_name: String,
    pub(super) key_choice: KeyChoice,
    pub(super) compatibility: Compatibility,
    pub(super) insert_order: InsertOrder,
    pub(super) zero_padding: u8,
    pub(super) shape: Shape,
    pub(super) read_all_fields: bool,
    pub(super) write_all_fields: bool,
    pub(super) scans: ScanLengths,
    pub(super) form: Form,
    pub(super) adopted: bool,
    pub(super) batch: usize,
    pub(super) loaders: Option<usize>,
    pub(super) check_reads: u32,
    pub(super) verify_all: bool,
    pub(super) client_threads: Option<u32>,
    pub(super) max_retries: u32,
    /// Records that operations use; `None`: all.
    pub(super) hot_rows: Option<u64>,
    /// Time for which an update is held before it commits; `None`: it is one statement.
    pub(super) hold: Option<Duration>,
    /// Connections that users share; `None`: each has its own.
    pub(super) pool: Option<u32>,
}

impl YcsbSettings {
    /// Reads resolved settings.
    pub(super) fn read(settings: &Settings) -> Result<Self, Error> {
        let optional = |path: &str| settings.get(path).map(|_| settings.integer(path)).transpose();
        Ok(Self {
            records: whole(settings, setting::WORKLOAD_RECORDS)?,
            users: settings.count(setting::WORKLOAD_VIRTUAL_USERS)?.max(1),
            operations: optional(setting::WORKLOAD_OPERATIONS)?.map(i64::unsigned_abs),
            mix: mix(settings)?,
            mix_name: settings.text(setting::WORKLOAD_MIX)?.to_owned(),
            key_choice: key_choice(settings)?,
            compatibility: compatibility(settings)?,
            insert_order: insert_order(settings)?,
            zero_padding: narrow(settings, "workload.zero_padding")?,
            shape: shape(settings)?,
            read_all_fields: settings.boolean("workload.read_all_fields")?,
            write_all_fields: settings.boolean("workload.write_all_fields")?,
            scans: scans(settings)?,
            form: if settings.text(setting::WORKLOAD_FORM)? == "json" { Form::Json } else { Form::Columns },
            adopted: settings.text("workload.data")? == "adopted",
            batch: narrow(settings, "workload.batch")?,
            loaders: optional("workload.loaders")?.map(|count| usize::try_from(count).unwrap_or(1)),
            check_reads: narrow(settings, "workload.check_reads")?,
            verify_all: settings.text("workload.verify")? == "full",
            client_threads: settings
                .get(setting::WORKLOAD_CLIENT_THREADS)
                .map(|_| settings.count(setting::WORKLOAD_CLIENT_THREADS))
                .transpose()?,
            max_retries: settings.count("workload.max_retries")?,
            hot_rows: optional("workload.hot_rows")?.map(i64::unsigned_abs),
            hold: settings.get("workload.hold").map(|_| settings.duration("workload.hold")).transpose()?,
            pool: settings.get("workload.pool").map(|_| settings.count("workload.pool")).transpose()?,
        })
    }

    /// Keys, values and operations.
    pub(super) fn plan(&self, spec: &LoadSpec) -> Result<Plan, Error> {
        self.plan_of(Seed(spec.data_seed), Seed(spec.input_seed))
    }

    /// The same from seeds.
    pub(super) fn plan_of(&self, data_seed: Seed, input_seed: Seed) -> Result<Plan, Error> {
        let settings = PlanSettings {
            data_seed,
            input_seed,
            records: self.records,
            expected_operations: self.operations.unwrap_or(0),
            mix: self.mix,
            shape: self.shape,
            key_choice: self.key_choice,
            compatibility: self.compatibility,
            insert_order: self.insert_order,
            zero_padding: self.zero_padding,
            read_all_fields: self.read_all_fields,
            write_all_fields: self.write_all_fields,
            scan_lengths: self.scans,
        };
        Plan::new(settings).map_err(from_gen)
    }

    /// The setting that does not go with the others, where no plan can be made of them.
    pub(super) fn unfit_setting(&self) -> &'static str {
        let is_constant = |choice: LengthChoice| choice == LengthChoice::Constant;
        if !is_constant(self.shape.lengths) && self.shape.least_length > self.shape.length {
            "workload.least_field_length"
        } else if !is_constant(self.scans.choice) && self.scans.least > self.scans.most {
            "workload.scan_least"
        } else if self.compatibility == Compatibility::Ycsb {
            setting::WORKLOAD_KEY_MODE
        } else {
            setting::WORKLOAD_KIND
        }
    }

    /// Settings that decide about the bytes of the data: name and value, in the order in which differences are
    /// reported.
    pub(super) fn data(&self, seed: u64) -> Vec<(String, String)> {
        let pairs = [
            ("format", FORMAT.to_string()),
            ("generator version", GENERATOR_VERSION.to_string()),
            ("seed", seed.to_string()),
            ("records", self.records.to_string()),
            ("fields", self.shape.fields.to_string()),
            ("field length", lengths_text(&self.shape)),
            ("keys", self.keys_text()),
            ("form", self.form.word().to_owned()),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Form of the keys, in words.
    fn keys_text(&self) -> String {
        let order = if self.insert_order == InsertOrder::Hashed { "hashed" } else { "ordered" };
        match self.compatibility {
            Compatibility::Exact => format!("exact {order}"),
            Compatibility::Ycsb => format!("ycsb {order} padded to {}", self.zero_padding),
        }
    }

    /// Names the data; equal labels mean equal data.
    pub(super) fn label(&self, seed: u64) -> String {
        let parts: Vec<String> = self.data(seed).iter().map(|(name, value)| format!("{name} {value}")).collect();
        format!("{NAME} {}", parts.join(", "))
    }

    /// Bytes of all keys and values.
    pub(super) fn expected_bytes(&self) -> Bytes {
        let Shape { fields, length, least_length, lengths } = self.shape;
        let mean = match lengths {
            LengthChoice::Constant => u64::from(length),
            LengthChoice::Uniform | LengthChoice::Zipfian => u64::midpoint(length.into(), least_length.into()),
        };
        Bytes(self.records.saturating_mul(24 + u64::from(fields) * mean))
    }
}

fn from_gen(error: proofload_gen::Error) -> Error {
    Error::new(error.to_string())
}

fn whole(settings: &Settings, path: &str) -> Result<u64, Error> {
    Ok(settings.integer(path)?.unsigned_abs())
}

/// A number that its setting's range makes fit.
fn narrow<T: TryFrom<i64>>(settings: &Settings, path: &str) -> Result<T, Error> {
    T::try_from(settings.integer(path)?).map_err(|_| Error::new(format!("{path} is too large")))
}

/// Contradictions of an own mix: shares that add up to no whole. Those beside another mix are left alone, as another point may use them;
/// where none does, validation refuses them.
pub(super) fn of_mix(settings: &Settings) -> Vec<Contradiction> {
    if settings.text(setting::WORKLOAD_MIX) != Ok(OWN) {
        return Vec::new();
    }
    mix(settings).err().map(|error| Contradiction::new(setting::WORKLOAD_MIX, error.to_string())).into_iter().collect()
}

fn mix(settings: &Settings) -> Result<Mix, Error> {
    let name = settings.text(setting::WORKLOAD_MIX)?;
    if name != OWN {
        return Mix::preset(name.chars().next().unwrap_or('a')).map_err(from_gen);
    }
    let share = |path: &str| settings.number(path);
    Mix::new(&Shares {
        read: share("workload.read")?,
        update: share("workload.update")?,
        insert: share("workload.insert")?,
        scan: share("workload.scan")?,
        read_modify_write: share("workload.read_modify_write")?,
    })
    .map_err(|error| {
        Error::new(format!(
            "{error}; the shares of an own mix are workload.read, update, insert, scan and read_modify_write"
        ))
    })
}

fn key_choice(settings: &Settings) -> Result<KeyChoice, Error> {
    let theta = settings.number("workload.theta")?;
    let of_mix = if settings.text(setting::WORKLOAD_MIX)? == "d" { "latest" } else { "zipfian" };
    Ok(match settings.text(setting::WORKLOAD_KEYS).unwrap_or(of_mix) {
        "uniform" => KeyChoice::Uniform,
        "latest" => KeyChoice::Latest { theta },
        "hotspot" => KeyChoice::Hotspot {
            set: settings.number("workload.hotspot_set")?,
            operations: settings.number("workload.hotspot_operations")?,
        },
        "exponential" => KeyChoice::Exponential {
            percentile: settings.number("workload.exponential_percentile")?,
            share: settings.number("workload.exponential_share")?,
        },
        "sequential" => KeyChoice::Sequential,
        _ => KeyChoice::Zipfian { theta },
    })
}

fn compatibility(settings: &Settings) -> Result<Compatibility, Error> {
    Ok(if settings.text(setting::WORKLOAD_KEY_MODE)? == "ycsb" { Compatibility::Ycsb } else { Compatibility::Exact })
}

fn insert_order(settings: &Settings) -> Result<InsertOrder, Error> {
    Ok(if settings.text("workload.insert_order")? == "ordered" { InsertOrder::Ordered } else { InsertOrder::Hashed })
}

fn lengths(settings: &Settings, path: &str) -> Result<LengthChoice, Error> {
    Ok(match settings.text(path)? {
        "uniform" => LengthChoice::Uniform,
        "zipfian" => LengthChoice::Zipfian,
        _ => LengthChoice::Constant,
    })
}

fn shape(settings: &Settings) -> Result<Shape, Error> {
    Ok(Shape {
        fields: narrow(settings, "workload.fields")?,
        length: narrow(settings, "workload.field_length")?,
        lengths: lengths(settings, "workload.field_lengths")?,
        least_length: narrow(settings, "workload.least_field_length")?,
    })
}

fn scans(settings: &Settings) -> Result<ScanLengths, Error> {
    Ok(ScanLengths {
        least: narrow(settings, "workload.scan_least")?,
        most: narrow(settings, "workload.scan_most")?,
        choice: lengths(settings, "workload.scan_lengths")?,
    })
}

/// Lengths of values as the manifest notes them.
fn lengths_text(shape: &Shape) -> String {
    match shape.lengths {
        LengthChoice::Constant => shape.length.to_string(),
        LengthChoice::Uniform => format!("uniform {}..={}", shape.least_length, shape.length),
        LengthChoice::Zipfian => format!("zipfian {}..={}", shape.least_length, shape.length),
    }
}

/// Choice of records by operations, in words.
pub(super) fn choice_text(settings: &YcsbSettings) -> String {
    match settings.key_choice {
        KeyChoice::Uniform => "uniform".to_owned(),
        KeyChoice::Zipfian { .. } if settings.compatibility == Compatibility::Ycsb => {
            format!(
                "scrambled zipfian of YCSB, theta {YCSB_THETA} over 10,000,000,001 items, hashed modulo the keyspace"
            )
        }
        KeyChoice::Zipfian { theta } => format!("zipfian, theta {theta}"),
        KeyChoice::Latest { theta } => format!("latest, zipfian by age, theta {theta}"),
        KeyChoice::Hotspot { set, operations } => {
            format!("hotspot, {} % of the operations on {} % of the records", operations * 100.0, set * 100.0)
        }
        KeyChoice::Exponential { percentile, share } => {
            format!("exponential, {percentile} % of the operations on the newest {} % of the records", share * 100.0)
        }
        KeyChoice::Sequential => "sequential".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Workload;
    use proofload_model::settings::Value;

    /// Contradictions of a study with the defaults and these settings.
    #[track_caller]
    fn check(given: &[(&str, Value)], expected: &[&str]) {
        let mut settings = Settings::default();
        for spec in SETTINGS {
            let default = spec.default.map(|text| spec.kind.read_text(text).expect("a default is valid"));
            settings.0.extend(default.map(|value| (spec.path.to_owned(), value)));
        }
        let needed = [("records", Value::Integer(100)), ("virtual_users", Value::Integer(2))];
        for (name, value) in needed.iter().chain(given) {
            settings.0.insert(format!("workload.{name}"), value.clone());
        }
        settings.0.insert("engine.kind".to_owned(), Value::Text("sqlite".to_owned()));
        let found = (super::super::workload::Ycsb.facts().contradictions)(&settings);
        let found: Vec<String> = found.iter().map(|one| format!("{}: {}", one.setting, one.reason)).collect();
        let fits =
            found.len() == expected.len() && found.iter().zip(expected).all(|(one, begin)| one.starts_with(begin));
        assert!(fits, "{found:?}");
    }

    fn text(word: &str) -> Value {
        Value::Text(word.to_owned())
    }

    #[test]
    fn shares_that_are_no_mix_are_told_before_anything_runs() {
        let share = |name, share| (name, Value::Number(share));
        check(&[], &[]);
        check(&[("mix", text("own")), share("read", 0.5), share("update", 0.5)], &[]);
        let sum = "workload.mix: the sum of the shares of operations";
        check(&[("mix", text("own")), share("read", 0.5), share("update", 0.9)], &[sum]);
        check(&[share("read", 0.5), ("mix", text("b"))], &[]);
    }

    #[test]
    fn settings_that_nothing_can_be_drawn_from_are_told_before_anything_runs() {
        let theta = ("theta", Value::Number(0.5));
        check(std::slice::from_ref(&theta), &[]);
        check(&[theta, ("key_mode", text("ycsb"))], &["workload.key_mode: "]);
        let least = ("least_field_length", Value::Integer(200));
        check(std::slice::from_ref(&least), &[]);
        check(&[least, ("field_lengths", text("uniform"))], &["workload.least_field_length: "]);
        check(&[("scan_least", Value::Integer(200))], &["workload.scan_least: "]);
    }
}
