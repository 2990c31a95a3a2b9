//! A run that is rated whole: from time zero, or from the end of its warm-up rounds, until the first user has no work left. Nothing
//! is detected while it runs; what stands in the place of that, the duration of each round, goes into the record.

use super::crew::Crew;
use super::preparation::Prepared;
use crate::live::Phase;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::wire::host;

impl Crew<'_> {
    /// Starts the load, cold where nothing is to be warmed up, and hears it to its end.
    pub(super) fn measure_whole_run(&mut self, prepared: &Prepared, warm_up_rounds: u64) -> Result<(), Error> {
        if warm_up_rounds == 0 && prepared.can_start_cold() {
            self.forget_cached(prepared)?;
        }
        self.begin_load(prepared)?;
        self.view.phase(if warm_up_rounds == 0 { Phase::Measuring } else { Phase::WarmingUp });
        let mut from = None;
        loop {
            if from.is_none()
                && let Some(second) = self.after_rounds(prepared.users(), warm_up_rounds)
            {
                self.mark("window_start")?;
                self.view.phase(Phase::Measuring);
                from = Some(second);
            }
            if !self.next_second()? {
                break;
            }
        }
        self.mark("window_end")?;
        self.keep_whole_run(warm_up_rounds, from.or_else(|| self.after_rounds(prepared.users(), warm_up_rounds)))
    }

    /// The checks before a load read data, some engines all of them; what they left in the page cache goes.
    fn forget_cached(&mut self, prepared: &Prepared) -> Result<(), Error> {
        self.host(host::DropPageCache { place: prepared.primary().place.clone() })?;
        self.journal.event(RunEvent::ColdStart)
    }

    /// The first whole second after every user has ended so many rounds; none while one of them has not.
    fn after_rounds(&self, users: u32, rounds: u64) -> Option<u64> {
        let Some(last) = rounds.checked_sub(1) else { return Some(0) };
        let ends = self.watch.rounds.iter().filter(|round| round.number == last).map(|round| round.ended.as_seconds());
        (ends.clone().count() >= users as usize).then(|| ends.fold(0.0, f64::max).ceil() as u64)
    }

    /// Notes what is rated, second by second and exactly, and every round.
    fn keep_whole_run(&mut self, warm_up_rounds: u64, from: Option<u64>) -> Result<(), Error> {
        let all_busy_until = self.watch.ended.map_or(0.0, |ended| ended.first_without_work.as_seconds());
        let rounds = self.watch.rounds.iter().cloned().collect();
        self.journal.event(RunEvent::Rounds(rounds))?;
        self.journal.event(RunEvent::WholeRun { warm_up_rounds, from, to: all_busy_until })?;
        match from.filter(|from| (*from as f64) < all_busy_until) {
            Some(from) => self.journal.event(RunEvent::Window { from, to: all_busy_until.ceil() as u64 }),
            None => Ok(()),
        }
    }
}
