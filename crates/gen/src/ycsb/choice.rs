//! Choice of the record that an operation takes.
//!
//! In the exact mode popularity is by rank and ranks are spread by a permutation of the loaded records. A record that
//! was inserted later has the rank of its own number, the least popular at its time, so that growth moves no popularity.

use super::compatible::{self, Draws, Exponential, Hotspot, ScrambledZipfian, SkewedLatest};
use super::feistel::Permutation;
use super::keyspace::{Keyspace, Popularity};
use super::settings::{Compatibility, KeyChoice, Settings};
use super::stream::Stream;
use super::zipf::Skew;
use crate::Seed;

/// The choice of a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    Uniform,
    Zipfian(Permutation),
    /// Newest less a rank; in either mode, as the keyspace has it.
    Latest,
    Hotspot {
        hot: u64,
        operations: f64,
    },
    Exponential(Exponential),
    Sequential {
        loaded: u64,
    },
    Scrambled(ScrambledZipfian),
    UniformLoaded {
        loaded: u64,
    },
    HotspotLoaded(Hotspot),
}

impl Choice {
    pub(super) fn new(settings: &Settings, seed: Seed) -> Self {
        let loaded = settings.records;
        match (settings.key_choice, settings.compatibility) {
            (KeyChoice::Uniform, Compatibility::Exact) => Self::Uniform,
            (KeyChoice::Uniform, Compatibility::Ycsb) => Self::UniformLoaded { loaded },
            (KeyChoice::Zipfian { .. }, Compatibility::Exact) => Self::Zipfian(Permutation::new(seed, loaded)),
            (KeyChoice::Zipfian { .. }, Compatibility::Ycsb) => {
                Self::Scrambled(ScrambledZipfian::new(loaded + settings.room_for_inserts() + 1))
            }
            (KeyChoice::Latest { .. }, _) => Self::Latest,
            (KeyChoice::Hotspot { set, operations }, Compatibility::Exact) => {
                Self::Hotspot { hot: ((loaded as f64 * set) as u64).min(loaded), operations }
            }
            (KeyChoice::Hotspot { set, operations }, Compatibility::Ycsb) => {
                Self::HotspotLoaded(Hotspot::new(loaded, set, operations))
            }
            (KeyChoice::Exponential { percentile, share }, _) => {
                Self::Exponential(Exponential::new(loaded, percentile, share))
            }
            (KeyChoice::Sequential, _) => Self::Sequential { loaded },
        }
    }

    /// The keyspace right after the load.
    pub(super) fn keyspace(settings: &Settings) -> Keyspace {
        let loaded = settings.records;
        let popularity = match (settings.key_choice, settings.compatibility) {
            (KeyChoice::Latest { .. }, Compatibility::Ycsb) => Popularity::Latest(SkewedLatest::new(loaded)),
            (KeyChoice::Zipfian { theta }, Compatibility::Exact) | (KeyChoice::Latest { theta }, _) => {
                Popularity::Zipf(Skew::new(theta).over(loaded))
            }
            _ => Popularity::Flat,
        };
        Keyspace { loaded, records: loaded, popularity }
    }

    /// The record of an operation before which `turns` others took one.
    #[inline]
    pub(super) fn draw(&self, turns: impl FnOnce() -> u64, keyspace: &Keyspace, stream: &mut Stream) -> u64 {
        let records = keyspace.records;
        match self {
            Self::Uniform => stream.below(records),
            Self::Zipfian(permutation) => permutation.place(rank(keyspace, stream)),
            Self::Latest => match &keyspace.popularity {
                Popularity::Latest(latest) => latest.draw(stream),
                Popularity::Zipf(_) | Popularity::Flat => records - 1 - rank(keyspace, stream),
            },
            Self::Hotspot { hot, operations } => draw_hotspot(*hot, *operations, records, stream),
            Self::Exponential(exponential) => exponential.draw_below(records, stream),
            Self::Sequential { loaded } => turns() % loaded,
            Self::Scrambled(scrambled) => scrambled.draw_below(records, stream),
            Self::UniformLoaded { loaded } => compatible::uniform(*loaded, stream),
            Self::HotspotLoaded(hotspot) => hotspot.draw(stream),
        }
    }
}

/// A rank from 0 of the readable records.
#[inline]
fn rank(keyspace: &Keyspace, stream: &mut Stream) -> u64 {
    match &keyspace.popularity {
        Popularity::Zipf(zipf) => zipf.draw(stream) - 1,
        Popularity::Latest(_) | Popularity::Flat => stream.below(keyspace.records),
    }
}

/// The first `hot` records get a share of the operations, the other readable records the rest.
#[inline]
fn draw_hotspot(hot: u64, operations: f64, records: u64, stream: &mut Stream) -> u64 {
    let cold = records - hot;
    if (stream.unit() < operations && hot > 0) || cold == 0 { stream.below(hot) } else { hot + stream.below(cold) }
}
