//! The inputs of a run: what they depend on, and any of them on demand.

use super::draw::Ranges;
use super::homes::Homes;
use super::input::{Input, Transaction};
use super::mix::{Cards, Deck, Mix};
use super::user::UserInputs;
use crate::tprocc::{CLoad, Constants, Profile, Scale};
use crate::{Error, Seed};

/// Label of the seeds of all inputs.
const INPUTS: u64 = 0x49;

/// Everything the inputs of a run depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputSettings {
    /// The run's seed.
    pub seed: Seed,
    /// The rules.
    pub profile: Profile,
    /// The scale of the data.
    pub scale: Scale,
    /// The constant of last names of the data.
    pub c_load: CLoad,
    /// The constants of NURand, equal for all users and agents.
    pub constants: Constants,
    /// W, the warehouses of the database.
    pub warehouses: i32,
    /// U, the users of the whole run, on all agents; those that send transactions, a monitor
    /// not among them.
    pub users: i32,
    /// The mix of transactions.
    pub mix: Mix,
    /// Assignment of warehouses to users.
    pub homes: Homes,
}

/// The inputs of a run, checked and ready to be drawn.
///
/// Input `index` of user `user` is a pure function of the settings, `user` and `index`: the
/// stream [`user`](Self::user) yields what [`input_at`](Self::input_at) returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputPlan {
    settings: InputSettings,
    ranges: Ranges,
}

impl InputPlan {
    /// Fails if there is no warehouse or no user, or if all weights of the mix are 0.
    pub fn new(settings: InputSettings) -> Result<Self, Error> {
        for (what, found) in [("warehouse", settings.warehouses), ("user", settings.users)] {
            if found < 1 {
                return Err(Error::not_positive(what, found.into()));
            }
        }
        settings.mix.check()?;
        let InputSettings { warehouses, scale, constants, profile, .. } = &settings;
        let ranges = Ranges::new(*warehouses, scale, constants, profile);
        Ok(Self { settings, ranges })
    }

    /// The settings that the plan was made of.
    #[must_use]
    pub const fn settings(&self) -> &InputSettings {
        &self.settings
    }

    /// The inputs of `user`, 0 to U − 1, from index 0.
    #[must_use]
    pub fn user(&self, user: i32) -> UserInputs {
        UserInputs::new(self, user)
    }

    /// Input `index` of `user`, both from 0; at a cost of one shuffled deck more than the
    /// stream's.
    #[must_use]
    pub fn input_at(&self, user: i32, index: u64) -> Input {
        self.source(user).input_at(index)
    }

    /// The type of input `index` of `user`.
    #[must_use]
    pub fn transaction_at(&self, user: i32, index: u64) -> Transaction {
        self.source(user).cards.at(index)
    }

    /// The warehouses of `user`, with its Stock-Level district in each.
    pub fn homes_of(&self, user: i32) -> impl Iterator<Item = (i32, i32)> {
        self.source(user).user_warehouses.all().map(|home| (home.w_id, home.stock_level_d_id))
    }

    pub(super) fn source(&self, user: i32) -> Source {
        let InputSettings { seed, homes, users, warehouses, mix, .. } = self.settings;
        assert!((0..users).contains(&user), "user {user} must be below {users}");
        let seed = seed.of(INPUTS).of(u64::from(user.unsigned_abs()));
        Source {
            seed: seed.of(1),
            cards: Cards { seed: seed.of(2), mix },
            user_warehouses: homes.warehouses_of(user, users, warehouses, seed.of(3)),
            ranges: self.ranges,
        }
    }
}

/// Seeds and ranges from which the inputs of one user are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    seed: Seed,
    cards: Cards,
    user_warehouses: super::homes::UserWarehouses,
    ranges: Ranges,
}

impl Source {
    /// Input `index`, without knowing its deck.
    pub(super) fn input_at(&self, index: u64) -> Input {
        self.draw(self.cards.at(index), index)
    }

    /// Input `index`, where `deck` is that of the index before it.
    #[inline]
    pub(super) fn next_input(&self, index: u64, deck: &mut Option<Deck>) -> Input {
        self.draw(self.cards.next(index, deck), index)
    }

    #[inline]
    fn draw(&self, transaction: Transaction, index: u64) -> Input {
        let rng = &mut self.seed.of(index).rng();
        let home = self.user_warehouses.draw(rng);
        self.ranges.draw(transaction, home, rng)
    }
}
