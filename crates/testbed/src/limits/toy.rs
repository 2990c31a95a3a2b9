//! A fixture: a limit of one file and one line. A test asks for it, and changes what is in force, on its own thread.

use super::hierarchy::Controller;
use super::limit::{Limit, LimitState, verified};
use proofload_model::error::Error;
use proofload_model::facts::{FactName, limit};
use proofload_model::samples::Fact;
use proofload_model::wire::LimitsAsked;
use std::cell::RefCell;

/// The fixture.
pub(super) struct Toy;

/// The limit of a thread: what is asked, what is in force, who joined.
#[derive(Default)]
struct OfThread {
    asked: Option<i64>,
    in_force: Option<i64>,
    joined: Vec<u32>,
}

thread_local! {
    static TOY: RefCell<OfThread> = RefCell::default();
}

fn when_asked<T>(work: impl FnOnce(&mut OfThread, i64) -> T) -> Option<T> {
    TOY.with_borrow_mut(|toy| toy.asked.map(|asked| work(toy, asked)))
}

impl Limit for Toy {
    fn setting(&self) -> &'static str {
        "limits.toy"
    }

    fn needs(&self, _asked: &LimitsAsked) -> Option<Controller> {
        None
    }

    fn apply(&self, _state: &mut LimitState) -> Result<(), Error> {
        when_asked(|toy, asked| toy.in_force = Some(asked));
        Ok(())
    }

    fn join(&self, _state: &LimitState, process: u32) -> Result<(), Error> {
        when_asked(|toy, _| toy.joined.push(process));
        Ok(())
    }

    fn verify(&self, _state: &LimitState) -> Vec<Fact> {
        let fact = |toy: &mut OfThread, asked: i64| {
            let found = toy.in_force.ok_or_else(|| Error::new("nothing is in force"));
            let effective = found.map(|found| (found.to_string(), found == asked));
            let name = FactName { name: "toy".into(), title: "", ..limit::CORES };
            verified(&name, asked.to_string(), effective, "a thread's own".to_owned())
        };
        when_asked(fact).into_iter().collect()
    }

    fn lift(&self, _state: &LimitState) -> Result<(), Error> {
        when_asked(|toy, _| toy.in_force = None);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::AppliedLimits;
    use super::super::applied::tests::enclose;
    use super::*;

    fn holds(applied: &AppliedLimits) -> Option<Option<bool>> {
        applied.verify().iter().find(|fact| fact.name == "toy").map(|fact| fact.holds)
    }

    /// What serves all limits does it; nothing but the table names the fixture.
    #[test]
    fn a_limit_of_a_file_and_a_line_is_applied_joined_read_back_and_lifted() {
        let Some((_alone, mut applied)) = enclose(LimitsAsked::default()) else { return };
        assert_eq!(holds(&applied), None, "it was not asked for");
        applied.lift().unwrap();
        drop((_alone, applied));
        TOY.with_borrow_mut(|toy| toy.asked = Some(7));
        let Some((_alone, mut applied)) = enclose(LimitsAsked::default()) else { return };
        assert_eq!(holds(&applied), Some(Some(true)));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let joined = applied.join(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        joined.unwrap();
        assert_eq!(TOY.with_borrow(|toy| toy.joined.clone()), [child.id()]);
        TOY.with_borrow_mut(|toy| toy.in_force = Some(8));
        assert_eq!(holds(&applied), Some(Some(false)), "a change is noticed");
        applied.lift().unwrap();
        assert_eq!(TOY.with_borrow(|toy| toy.in_force), None);
    }
}
