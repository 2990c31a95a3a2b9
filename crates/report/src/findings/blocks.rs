//! Ratios of the study's points inside its repetitions: each repetition visits every point once, so it is a block. Points are those that are
//! valid, and those that are void only because they moved: a ratio side by side needs no rest. A void visit leaves its repetition out. Says nothing where there is one repetition, where a search chose its points, and of records from before windows were judged by movement.

use super::host::disturbance::HostUse;
use super::judge::is_judged_by_movement;
use super::point::PointFindings;
use super::run::RunFindings;
use proofload_analysis::blocks::{Blocks, Visit};
use proofload_analysis::bootstrap::Estimate;
use proofload_analysis::quantity::Quantity;
use proofload_analysis::slope::slope_in_blocks;
use proofload_model::setting_words::RunOrder;
use proofload_model::settings::setting;
use proofload_record::Record;

/// The points of a study in blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockFindings {
    /// Their ratios.
    pub blocks: Blocks,
    /// Repetitions that are no block, since a run of theirs is missing, is void for more than what moved, or was measured again.
    pub left_out: usize,
    /// Whether each repetition drew its order.
    pub randomised: bool,
    /// Number of the point of each level.
    points: Vec<u32>,
}

impl BlockFindings {
    /// Throughput of a point over that of another; `None` where one of them is in no block.
    pub fn ratio(&self, point: u32, to: u32) -> Option<Quantity> {
        Some(self.blocks.ratio(self.level(point)?, self.level(to)?))
    }

    /// Elasticity of throughput to a resource over points with their resources; `None` where one of them is in no block.
    pub fn slope(&self, points: &[(u32, f64)]) -> Option<Quantity> {
        let levels: Option<Vec<(usize, f64)>> =
            points.iter().map(|(point, resource)| Some((self.level(*point)?, *resource))).collect();
        slope_in_blocks(&self.blocks, &levels?)
    }

    /// Throughput of a point without what is common to a block; `None` for a point in no block.
    pub fn mean(&self, point: u32) -> Option<Estimate> {
        Some(self.blocks.mean(self.level(point)?))
    }

    /// Repetitions that the worst known ratio to a point takes for this half-width, as a share of it.
    pub fn needed(&self, to: u32, half_width: f64) -> Option<u32> {
        let to = self.level(to)?;
        let others = (0..self.points.len()).filter(|level| *level != to);
        others.map(|level| self.blocks.needed(level, to, half_width)).max()
    }

    fn level(&self, point: u32) -> Option<usize> {
        self.points.iter().position(|known| *known == point)
    }
}

/// Looks for blocks among the points that are valid, only moved, or void in few of their visits.
pub(super) fn blocks(record: &Record, points: &[PointFindings]) -> Option<BlockFindings> {
    let settings = &record.study.settings;
    if settings.get(setting::SEARCH_SETTING).is_some() || !is_judged_by_movement(record) {
        return None;
    }
    let with_ratio: Vec<&PointFindings> = points.iter().filter(|point| point.counts_inside_repetitions()).collect();
    let repetitions = record.study.repetitions();
    let is_block = |repetition: &u32| {
        with_ratio.iter().all(|point| {
            visit(point, *repetition).is_some()
                && point.earlier.iter().all(|attempt| attempt.repetition != *repetition || attempt.made_again_at_once)
        })
    };
    let kept: Vec<u32> = (0..repetitions).filter(is_block).collect();
    let visits = |point: &&PointFindings| kept.iter().filter_map(|repetition| visit(point, *repetition)).collect();
    let levels: Vec<Vec<Visit>> = with_ratio.iter().map(visits).collect();
    Some(BlockFindings {
        blocks: Blocks::of(&levels)?,
        left_out: repetitions as usize - kept.len(),
        randomised: !RunOrder::is_given(settings),
        points: with_ratio.iter().map(|point| point.id).collect(),
    })
}

fn visit(point: &PointFindings, repetition: u32) -> Option<Visit> {
    let run = point.runs.iter().find(|run| run.run.repetition == repetition && run.counts_beside_others())?;
    let throughput = run.throughput().value();
    (throughput > 0.0).then(|| Visit {
        throughput,
        taken: run.host.as_ref().and_then(HostUse::taken_beside_limits),
        ahead: ahead(run),
    })
}

/// Displacement of a run's throughput by what still moved in it, as a share of it.
pub(super) fn ahead(run: &RunFindings) -> f64 {
    run.judged.as_ref().map_or(0.0, |judged| judged.mean.ahead / judged.mean.value)
}
