//! Small caches of many sizes that serve the sample of a tier's references second by second: what caches of these sizes would miss. They are
//! warmed as the study warms the cache, and begin with the tier. Reads the sample only; may not judge.

use super::rates::Rates;
use proofload_model::samples::Reading;
use proofload_model::series::tier;
use proofload_model::tier::{CachePlan, SizedVolume, TierVolume, WriteMode};
use proofload_model::tier_cleaning::DirtyMark;
use proofload_model::units::Bytes;
use proofload_tier::control::ControlClient;
use proofload_tier::forecast::{MiniatureCache, MiniatureCounts, MiniatureSettings, Reference, SamplePiece};
use proofload_tier::machine::CacheMode;
use proofload_tier::policy::PolicyChoice;
use std::time::Duration;

/// Sizes beside that of the study, % of the data when the sample began.
const SIZES: [u64; 15] = [2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120];

/// Bytes of a sector, by which cleaning is counted. Source: `proofload_tier::block`.
const SECTOR: f64 = 4096.0;

/// Numbers of the volumes in a pool. Source: the engine that opens it.
const VOLUMES: [(u8, TierVolume); 2] = [(0, TierVolume::Data), (1, TierVolume::Log)];

/// Caches of one size: of the policy in force, and of the one that a stack of recent uses describes.
struct Pair {
    size: Bytes,
    own: MiniatureCache,
    lru: MiniatureCache,
}

/// The small caches of one tier.
pub(super) struct Miniatures {
    plan: CachePlan,
    /// Whether the sample has what warms the cache.
    has_warming: bool,
    pairs: Vec<Pair>,
    /// Share of blocks in the sample.
    rate: f64,
    /// Number of the next reference.
    next: u64,
    sampled: u64,
    lost: u64,
    rates: Rates,
}

impl Miniatures {
    /// Small caches for a plan; `has_warming`: the sample has what warms the cache, whose blocks need not be the first of the volume.
    pub(super) fn new(plan: CachePlan, has_warming: bool) -> Self {
        Self { plan, has_warming, pairs: Vec::new(), rate: 1.0, next: 0, sampled: 0, lost: 0, rates: Rates::default() }
    }

    /// Begins a reading, also one in which the tier is not open and nothing is read.
    pub(super) fn turn(&mut self, span: Option<Duration>) {
        self.rates.turn(span);
    }

    /// Serves what was sampled since the reading before; nothing where the tier keeps no sample.
    pub(super) fn read(&mut self, client: &ControlClient, span: Option<Duration>) -> Vec<Reading> {
        self.turn(span);
        loop {
            let Ok(piece) = client.sampled_since(self.next) else { return Vec::new() };
            self.serve(&piece);
            if piece.is_last {
                break;
            }
        }
        self.readings()
    }

    fn serve(&mut self, piece: &SamplePiece) {
        if self.pairs.is_empty() {
            self.rate = piece.settings.rate;
            self.pairs = pairs(&self.plan, piece);
            if self.plan.prewarm && !self.has_warming {
                self.feed(&piece.reads_of_data(VOLUMES[0].0).collect::<Vec<_>>());
            }
        }
        // A tier that was opened again counts from 0.
        self.lost += piece.first.saturating_sub(self.next);
        self.next = piece.first + piece.references.len() as u64;
        self.sampled += piece.references.len() as u64;
        self.feed(&piece.references);
    }

    fn feed(&mut self, references: &[Reference]) {
        let each = |cache: &mut MiniatureCache| references.iter().for_each(|one| cache.serve(one));
        self.pairs.iter_mut().flat_map(|pair| [&mut pair.own, &mut pair.lru]).for_each(each);
    }

    fn readings(&mut self) -> Vec<Reading> {
        let mut readings = Vec::new();
        let mut put = |series: &proofload_model::series::SeriesName, component: &str, total: f64| {
            let rate = self.rates.per_second(&format!("{} {component}", series.name), total);
            readings.extend(rate.map(|rate| series.reading(component, rate)));
        };
        put(&tier::SAMPLED, "", self.sampled as f64);
        put(&tier::SAMPLE_LOST, "", self.lost as f64);
        for pair in &self.pairs {
            for (number, volume) in VOLUMES.into_iter().filter(|(_, volume)| self.plan.accelerate.contains(volume)) {
                let component = SizedVolume { volume, size: pair.size }.to_string();
                let (own, lru): (MiniatureCounts, MiniatureCounts) = (pair.own.counts(number), pair.lru.counts(number));
                // Counts over the rate that was meant, not over the sampled references: the correction of SHARDS-adj.
                put(&tier::MISSES_AT, &component, own.read_misses as f64 / self.rate);
                put(&tier::LRU_MISSES_AT, &component, lru.read_misses as f64 / self.rate);
                put(&tier::WRITE_MISSES_AT, &component, own.write_misses as f64 / self.rate);
                put(&tier::CLEANED_AT, &component, own.cleaned_sectors as f64 * SECTOR / self.rate);
            }
        }
        readings
    }
}

/// Caches of all sizes of which the sample says something.
fn pairs(plan: &CachePlan, piece: &SamplePiece) -> Vec<Pair> {
    let data = Bytes(piece.settings.data_lines.saturating_mul(u64::from(piece.line_bytes)));
    let part = |percent: u64| Bytes(data.0 / 100 * percent);
    let mut sizes: Vec<Bytes> = SIZES.into_iter().map(part).chain([plan.size.before(data)]).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes.into_iter().filter_map(|size| pair(plan, piece, size)).collect()
}

fn pair(plan: &CachePlan, piece: &SamplePiece, size: Bytes) -> Option<Pair> {
    let mode = match plan.mode {
        WriteMode::WriteBack => CacheMode::WriteBack,
        WriteMode::WriteThrough => CacheMode::WriteThrough,
        WriteMode::WriteAround => CacheMode::WriteAround,
    };
    let mode_of = |volume| if plan.accelerate.contains(&volume) { mode } else { CacheMode::Pass };
    let cache = |policy| {
        MiniatureCache::new(MiniatureSettings {
            policy,
            lines: u32::try_from(size.0 / u64::from(piece.line_bytes.max(1))).unwrap_or(u32::MAX),
            rate: piece.settings.rate,
            modes: VOLUMES.map(|(_, volume)| mode_of(volume)).to_vec(),
            dirty_target: plan.cleaning.mark(DirtyMark::Target).share(),
        })
    };
    let policy = PolicyChoice::ALL.into_iter().find(|choice| choice.name() == plan.policy.word())?;
    Some(Pair { size, own: cache(policy)?, lru: cache(PolicyChoice::Lru)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::tier::{CacheSize, EvictionPolicy};
    use proofload_model::tier_cleaning::CleaningPlan;
    use proofload_tier::block::{OriginBlock, SectorSet};
    use proofload_tier::forecast::SampleSettings;
    use proofload_tier::machine::AccessKind;

    fn plan(prewarm: bool) -> CachePlan {
        CachePlan {
            size: CacheSize::PercentOfData(50),
            mode: WriteMode::WriteBack,
            policy: EvictionPolicy::S3Fifo2,
            cleaning: CleaningPlan::usual(),
            line: Bytes(8192),
            accelerate: vec![TierVolume::Data],
            quotas: Vec::new(),
            prewarm,
            warm: None,
            folder: None,
        }
    }

    /// One read of each of 1,000 blocks, half of which are in the sample; the first reference was lost.
    fn piece() -> SamplePiece {
        let of =
            |index| Reference { block: OriginBlock::new(0, index), kind: AccessKind::Read, sectors: SectorSet(0b11) };
        let settings = SampleSettings { rate: 0.5, data_lines: 1_000 };
        let all = SamplePiece { settings, line_bytes: 8192, first: 1, references: Vec::new(), is_last: true };
        let sampled: Vec<Reference> = (0..500).map(of).collect();
        SamplePiece { references: sampled, ..all }
    }

    fn value(readings: &[Reading], wanted: &proofload_model::series::SeriesName, component: &str) -> Option<f64> {
        let found = readings.iter().find(|one| one.name == wanted.name && one.component == component);
        found.map(|one| one.value)
    }

    #[test]
    fn counts_of_the_sample_are_told_as_those_of_all_references_for_each_size_that_it_can_say() {
        let mut miniatures = Miniatures::new(plan(false), false);
        miniatures.turn(None);
        assert_eq!(miniatures.readings(), [], "the base of rates");
        miniatures.serve(&piece());
        miniatures.turn(None);
        miniatures.readings();
        let mut again = piece();
        again.first = miniatures.next;
        miniatures.serve(&again);
        miniatures.turn(Some(Duration::from_secs(2)));
        let readings = miniatures.readings();
        let at = |percent: u64| SizedVolume { volume: TierVolume::Data, size: Bytes(81_920 * percent) }.to_string();
        assert_eq!(value(&readings, &tier::SAMPLED, ""), Some(250.0));
        assert_eq!(value(&readings, &tier::SAMPLE_LOST, ""), Some(0.0), "one was lost before, none since");
        assert_eq!(value(&readings, &tier::MISSES_AT, &at(120)), Some(0.0), "all were read before");
        assert_eq!(value(&readings, &tier::LRU_MISSES_AT, &at(50)), Some(500.0), "a loop over twice the lines");
        assert_eq!(value(&readings, &tier::MISSES_AT, &at(5)), None, "25 lines of the sample say nothing");
        assert_eq!(value(&readings, &tier::MISSES_AT, &at(50).replace("data", "log")), None, "the log is not cached");
        assert_eq!(miniatures.lost, 1);
    }

    #[test]
    fn caches_of_a_study_that_warms_its_cache_begin_with_the_data() {
        let misses = |prewarm| {
            let mut miniatures = Miniatures::new(plan(prewarm), false);
            let mut piece = piece();
            piece.references = piece.reads_of_data(0).collect();
            miniatures.serve(&piece);
            miniatures.pairs.last().expect("the largest").own.counts(0)
        };
        let (cold, warm) = (misses(false), misses(true));
        assert_eq!((cold.reads, cold.read_misses), (cold.reads, cold.reads));
        assert_eq!(
            (warm.reads, warm.read_misses),
            (2 * cold.reads, cold.reads),
            "what warms it misses, and nothing after it"
        );
    }
}
