//! The operations of a run by their index.

use super::YCSB_THETA;
use super::choice::Choice;
use super::inserts::Inserts;
use super::keys::Keys;
use super::keyspace::Keyspace;
use super::mix::Kind;
use super::operation::Operation;
use super::settings::{LengthChoice, ScanLengths, Settings};
use super::stream::Stream;
use super::values::Values;
use super::zipf::{Skew, Zipf};
use crate::Error;

/// Labels below the seed of the inputs. Those of the content, below the seed of the data, are in `values.rs`.
const OPERATIONS: u64 = 1;
const INSERTS: u64 = 2;
const RANKS: u64 = 3;

/// All operations of a run; made in microseconds, whatever the number of records.
///
/// It is shared by all virtual users, each with a [`Keyspace`] of its own.
#[derive(Clone, Debug)]
pub struct Plan {
    settings: Settings,
    seed: crate::Seed,
    inserts: Inserts,
    choice: Choice,
    keyspace: Keyspace,
    scan_lengths: Zipf,
}

impl Plan {
    /// The plan of these settings, or the first of them that is out of its range.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        settings.check()?;
        let ScanLengths { least, most, .. } = settings.scan_lengths;
        Ok(Self {
            seed: settings.input_seed.of(OPERATIONS),
            inserts: Inserts::new(settings.input_seed.of(INSERTS), &settings.mix),
            choice: Choice::new(&settings, settings.input_seed.of(RANKS)),
            keyspace: Choice::keyspace(&settings),
            scan_lengths: Skew::new(YCSB_THETA).over(u64::from(most.saturating_sub(least)) + 1),
            settings,
        })
    }

    /// The settings that the plan was made of.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The names of the records.
    #[must_use]
    pub const fn keys(&self) -> Keys {
        Keys::new(&self.settings)
    }

    /// The content of the records.
    #[must_use]
    pub fn values(&self) -> Values {
        Values::new(self.settings.data_seed, self.settings.shape)
    }

    /// The keyspace as the load leaves it, for one virtual user.
    #[must_use]
    pub const fn keyspace(&self) -> Keyspace {
        self.keyspace
    }

    /// Operation `index`, from 0: a function of the input seed, the index and, unless it is an insert, the number of
    /// readable records in `keyspace`, which comes from [`Plan::keyspace`].
    #[must_use]
    pub fn operation(&self, index: u64, keyspace: &Keyspace) -> Operation {
        if let Some(record) = self.insert_record(index) {
            return Operation { kind: Kind::Insert, record, field: None, read_field: None, scan_length: 0 };
        }
        let mut stream = Stream::new(self.seed, index);
        let stream = &mut stream;
        let kind = self.settings.mix.draw_without_inserts(stream);
        let (field, read_field) = self.fields(kind, stream);
        let scan_length = if kind == Kind::Scan { self.scan_length(stream) } else { 0 };
        let record = self.choice.draw(|| index - self.inserts.before(index), keyspace, stream);
        Operation { kind, record, field, read_field, scan_length }
    }

    /// The record that operation `index` adds, if it is an insert.
    #[must_use]
    #[inline]
    pub fn insert_record(&self, index: u64) -> Option<u64> {
        Some(self.settings.records + self.inserts.at(index)?)
    }

    /// Records that are readable once every operation below `index` is acknowledged: the loaded ones and one for each
    /// insert among those operations. Takes constant time.
    #[must_use]
    #[inline]
    pub fn readable_after(&self, index: u64) -> u64 {
        self.settings.records + self.inserts.before(index)
    }

    /// `Operation::field` and `Operation::read_field`.
    #[inline]
    fn fields(&self, kind: Kind, stream: &mut Stream) -> (Option<u16>, Option<u16>) {
        let Settings { read_all_fields, write_all_fields, .. } = self.settings;
        match kind {
            Kind::Read | Kind::Scan => {
                let field = self.field_unless(read_all_fields, stream);
                (field, field)
            }
            Kind::Update => (self.field_unless(write_all_fields, stream), None),
            Kind::ReadModifyWrite => {
                (self.field_unless(write_all_fields, stream), self.field_unless(read_all_fields, stream))
            }
            Kind::Insert => (None, None),
        }
    }

    #[inline]
    fn field_unless(&self, all: bool, stream: &mut Stream) -> Option<u16> {
        (!all).then(|| stream.below(self.settings.shape.fields.into()) as u16)
    }

    #[inline]
    fn scan_length(&self, stream: &mut Stream) -> u32 {
        let ScanLengths { least, most, choice } = self.settings.scan_lengths;
        match choice {
            LengthChoice::Constant => most,
            LengthChoice::Uniform => least + stream.below(u64::from(most - least) + 1) as u32,
            LengthChoice::Zipfian => least + (self.scan_lengths.draw(stream) - 1) as u32,
        }
    }
}
