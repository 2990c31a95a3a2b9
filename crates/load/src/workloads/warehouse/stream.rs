//! One stream: runs the queries of its rounds, each round in an order of its own, and compares answers with golden
//! ones.

use super::answers::{Answer, compare, hash, read_csv, written};
use super::mix::Rounds;
use super::own_cpu::OwnCpu;
use super::session_opener::SessionOpener;
use super::settings::WarehouseSettings;
use super::suite::{Class, Dialect, Draw, Query, golden};
use crate::drive::VirtualUser;
use crate::operation::Completion;
use proofload_engine::{AnySession, Error, ErrorClass, Session as _};
use proofload_gen::Seed;
use proofload_model::samples::Reading;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Inputs that all streams of a run share.
pub(super) struct Plan {
    pub(super) dialect: Dialect,
    pub(super) scale: f64,
    pub(super) seeded: bool,
    /// Queries of each round.
    pub(super) rounds: Rounds,
    /// Places of the queries that run.
    pub(super) chosen: Vec<usize>,
    /// Golden answers by index of the query; `None` where answers are not validated.
    golden: Vec<Option<Answer>>,
    seed: Seed,
}

/// Labels of what is drawn from a stream's seed.
const ORDER: u64 = 1;
const PARAMETERS: u64 = 2;

impl Plan {
    /// A plan; reads the golden answers of the queries that run.
    pub(super) fn new(dialect: Dialect, settings: &WarehouseSettings, seed: Seed) -> Result<Self, Error> {
        let (scale, seeded, rounds) = (settings.scale, settings.seeded, settings.inputs.clone());
        let chosen = rounds.queries();
        let answer = |(place, query): (usize, &Query)| match golden(scale, query.name) {
            Some(text) if !seeded && chosen.contains(&place) => read_csv(query, text).map(Some).map_err(Error::other),
            _ => Ok(None),
        };
        let golden = dialect.queries.iter().enumerate().map(answer).collect::<Result<_, _>>()?;
        Ok(Self { dialect, scale, seeded, rounds, chosen, golden, seed })
    }

    /// Queries of a class in a round.
    pub(super) fn in_round(&self, class: Class) -> usize {
        let round = self.rounds.round(self.seed, 0, 0);
        round.into_iter().filter(|place| self.dialect.queries[*place].class == class).count()
    }

    /// Chosen queries whose answers are validated.
    pub(super) fn validated(&self) -> usize {
        self.chosen.iter().filter(|place| self.golden[**place].is_some()).count()
    }

    /// Chosen queries.
    pub(super) fn queries(&self) -> impl Iterator<Item = &Query> {
        self.chosen.iter().map(|place| &self.dialect.queries[*place])
    }

    /// The order of a stream's round.
    fn order(&self, stream: u32, round: u64) -> Vec<usize> {
        let mut order = self.rounds.round(self.seed, stream, round);
        self.seed.of(ORDER).of(stream.into()).of(round).rng().shuffle(&mut order);
        order
    }

    /// The SQL of a query in a stream's round.
    fn sql(&self, place: usize, stream: u32, round: u64) -> Result<String, Error> {
        let draw = match self.seeded {
            true => Draw::Seeded(self.seed.of(PARAMETERS).of(stream.into()).of(round).of(place as u64)),
            false => Draw::Validation,
        };
        let sql = self.dialect.sql(&self.dialect.queries[place], draw, self.scale);
        sql.map_err(|error| Error::other(error.to_string()))
    }
}

/// An answer in short.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct QueryAnswer {
    /// Place of the query.
    pub(super) place: usize,
    /// Hash of its text with all values.
    pub(super) question: u64,
    /// Hash of what came back.
    pub(super) answer: u64,
}

/// Evidence of a stream for the checks after the run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Answers that agree with golden ones.
    pub(super) right: u64,
    /// Answers that do not.
    pub(super) wrong: u64,
    /// Answers that there is no golden one for.
    pub(super) not_validated: u64,
    /// The first few differences.
    pub(super) differences: Vec<String>,
    /// Answers, for comparison with other streams.
    pub(super) answers: Vec<QueryAnswer>,
    rows: u64,
}

/// Differences that are kept.
const MOST_DIFFERENCES: usize = 10;

/// A stream.
pub(super) struct Stream {
    opener: SessionOpener,
    session: AnySession,
    plan: Arc<Plan>,
    stream: u32,
    round: u64,
    order: Vec<usize>,
    /// Queries of the round that were drawn.
    drawn: usize,
    place: usize,
    sql: Result<String, Error>,
    own_cpu: OwnCpu,
    pub(super) tally: Tally,
}

impl Stream {
    /// A stream before its first query.
    pub(super) fn new(
        (opener, session): (SessionOpener, AnySession),
        plan: Arc<Plan>,
        stream: u32,
        own_cpu: OwnCpu,
    ) -> Self {
        let order = plan.order(stream, 0);
        let sql = Ok(String::new());
        Self {
            opener,
            session,
            plan,
            stream,
            round: 0,
            order,
            drawn: 0,
            place: 0,
            sql,
            own_cpu,
            tally: Tally::default(),
        }
    }

    async fn ask(&mut self) -> Result<(), Error> {
        let sql = self.sql.as_ref().map_err(Clone::clone)?;
        self.own_cpu.leave();
        let rows = self.session.query(sql).await;
        self.own_cpu.enter();
        let rows = rows.map_err(told)?;
        self.tally.rows += rows.len() as u64;
        let query = &self.plan.dialect.queries[self.place];
        let answer = written(query, &rows);
        if let Ok(answer) = &answer {
            let question = hash([sql.as_str()]);
            self.tally.answers.push(QueryAnswer { place: self.place, question, answer: hash(answer.iter().flatten()) });
        }
        let Some(golden) = &self.plan.golden[self.place] else {
            self.tally.not_validated += 1;
            return answer.map(drop).map_err(|what| wrong_answer(query, &what));
        };
        match answer.and_then(|answer| compare(query, golden, &answer)) {
            Ok(()) => {
                self.tally.right += 1;
                Ok(())
            }
            Err(what) => {
                self.tally.wrong += 1;
                if self.tally.differences.len() < MOST_DIFFERENCES {
                    self.tally.differences.push(format!("{}: {what}", query.name));
                }
                Err(wrong_answer(query, &what))
            }
        }
    }
}

impl VirtualUser for Stream {
    fn draw(&mut self) -> usize {
        if self.drawn == self.order.len() {
            self.drawn = 0;
            self.round += 1;
            self.order = self.plan.order(self.stream, self.round);
        }
        self.place = self.order[self.drawn];
        self.drawn += 1;
        self.sql = self.plan.sql(self.place, self.stream, self.round);
        self.place
    }

    async fn run(&mut self) -> Result<Completion, Error> {
        self.ask().await.map(|()| Completion::Done)
    }

    /// A query is its own transaction: nothing is open after an error.
    async fn recover(&mut self) -> Result<(), Error> {
        Ok(())
    }

    async fn reconnect(&mut self) -> Result<(), Error> {
        self.session = self.opener.session().await?;
        Ok(())
    }

    fn expects(&self, error: &Error) -> bool {
        error.code() == QUERY_CAP
    }

    fn counters(&mut self, into: &mut Vec<Reading>) {
        let value = std::mem::take(&mut self.tally.rows) as f64;
        into.push(Reading { name: "answer_rows".to_owned(), component: String::new(), unit: "1".to_owned(), value });
        self.own_cpu.counters(into);
        self.session.counters(into);
    }
}

/// An answer that does not count.
fn wrong_answer(query: &Query, what: &str) -> Error {
    Error::new(ErrorClass::Other, "wrong_answer", format!("{}, {}: {what}", query.name, query.title))
}

/// Codes by which engines say that a statement took too long.
const TIMEOUTS: &[&str] = &["57014", "statement_timeout"];

/// The code of a query that was ended by its cap.
const QUERY_CAP: &str = "query_cap";

/// The code of a query that memory or room for temporary files did not suffice for.
const OUT_OF_SPACE: &str = "out_of_space";

/// Gives what becomes of a query one code on every engine. A query that had too little room has failed and no more: it
/// writes nothing, so the stream goes on with the next.
pub(super) fn told(error: Error) -> Error {
    let code = match error.class() {
        ErrorClass::OutOfSpace => OUT_OF_SPACE,
        _ if TIMEOUTS.contains(&error.code()) => QUERY_CAP,
        _ => return error,
    };
    Error::new(ErrorClass::Other, code, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_and_missing_room_have_one_code_on_every_engine() {
        for (class, code, expected) in [
            (ErrorClass::Other, "57014", QUERY_CAP),
            (ErrorClass::Other, "statement_timeout", QUERY_CAP),
            (ErrorClass::OutOfSpace, "SQLITE_FULL", OUT_OF_SPACE),
            (ErrorClass::OutOfSpace, "53400", OUT_OF_SPACE),
            (ErrorClass::OutOfSpace, "Out of Memory", OUT_OF_SPACE),
            (ErrorClass::Other, "42601", "42601"),
        ] {
            let found = told(Error::new(class, code, "no"));
            assert_eq!((found.class(), found.code()), (ErrorClass::Other, expected), "{code}");
        }
        assert_eq!(told(Error::new(ErrorClass::ConnectionLost, "", "gone")).class(), ErrorClass::ConnectionLost);
    }
}
