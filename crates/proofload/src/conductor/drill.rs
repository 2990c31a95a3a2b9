//! Timed actions inside a measurement. Each is carried out between two seconds of load; may not know what an action does.

use proofload_model::error::Error;

/// Seconds of load as they come.
pub(crate) trait Seconds {
    /// Waits until this many seconds of load have been reported; false when the load ended before.
    fn wait_for(&mut self, count: usize) -> Result<bool, Error>;
}

/// Something to be done to what `C` conducts.
pub(crate) type Action<C> = Box<dyn FnOnce(&mut C) -> Result<(), Error>>;

/// Actions by their offset in the measured window, whole seconds.
pub(crate) struct Drill<C> {
    actions: Vec<(usize, Action<C>)>,
}

impl<C: Seconds> Drill<C> {
    /// A drill of these actions; equal offsets keep their order.
    pub(crate) fn new(mut actions: Vec<(usize, Action<C>)>) -> Self {
        actions.sort_by_key(|(offset, _)| *offset);
        Self { actions }
    }

    /// Waits through the window from one second to another, and carries out each action once the seconds before its offset have been
    /// reported. False when the load ended before the window; what was due later is left out then.
    pub(super) fn carry_out(self, conducted: &mut C, from: usize, to: usize) -> Result<bool, Error> {
        for (offset, action) in self.actions {
            let due = from.saturating_add(offset);
            if due >= to || !conducted.wait_for(due)? {
                break;
            }
            action(conducted)?;
        }
        conducted.wait_for(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A load of so many seconds, and what was done after how many of them.
    struct Load {
        seconds: usize,
        reported: usize,
        done: Vec<(usize, &'static str)>,
    }

    impl Seconds for Load {
        fn wait_for(&mut self, count: usize) -> Result<bool, Error> {
            self.reported = self.reported.max(count.min(self.seconds));
            Ok(self.reported >= count)
        }
    }

    fn note(text: &'static str) -> Action<Load> {
        Box::new(move |load| {
            load.done.push((load.reported, text));
            Ok(())
        })
    }

    #[track_caller]
    fn check(actions: Vec<(usize, Action<Load>)>, seconds: usize, expected: (bool, usize, &[(usize, &str)])) {
        let mut load = Load { seconds, reported: 10, done: Vec::new() };
        let lasted = Drill::new(actions).carry_out(&mut load, 10, 20).expect("no action fails");
        assert_eq!((lasted, load.reported, load.done.as_slice()), expected);
    }

    #[test]
    fn actions_are_carried_out_at_their_seconds_of_the_window() {
        check(Vec::new(), 100, (true, 20, &[]));
        let later_first = vec![(7, note("start")), (2, note("stop")), (0, note("look")), (2, note("look again"))];
        check(later_first, 100, (true, 20, &[(10, "look"), (12, "stop"), (12, "look again"), (17, "start")]));
        check(vec![(10, note("after the window"))], 100, (true, 20, &[]));
    }

    #[test]
    fn a_load_that_ends_takes_what_is_due_later_with_it() {
        check(vec![(2, note("stop")), (7, note("start"))], 15, (false, 15, &[(12, "stop")]));
    }

    #[test]
    fn an_action_that_fails_ends_the_window() {
        let mut load = Load { seconds: 100, reported: 10, done: Vec::new() };
        let fails: Action<Load> = Box::new(|_| Err(Error::lost("no server to stop")));
        let drill = Drill::new(vec![(1, fails), (2, note("start"))]);
        assert!(drill.carry_out(&mut load, 10, 20).is_err_and(|error| error.is_lost()));
        assert_eq!((load.reported, load.done.len()), (11, 0));
    }
}
