//! Assignment of warehouses to users.

use crate::tprocc::DISTRICTS_PER_WAREHOUSE;
use crate::{Rng, Seed};

/// Rule by which warehouses are assigned to users, both counted: `i` of `U` users, `W` warehouses.
///
/// The `k`-th warehouse of user `i` (k from 0) is `n mod W + 1` with `n = i + kU`. The user's
/// district there for Stock-Level is `(n div W) mod 10 + 1`: as `n` names user and `k`, no two
/// users share a (warehouse, district) as long as there are at most 10 users per warehouse
/// (clause 2.8.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Homes {
    /// One home warehouse per user for the whole run, `k = 0`: users take the warehouses in
    /// turn, so that 10 W users are 10 per warehouse (clause 2.4.1.1, 4.2.2).
    Fixed,
    /// Every user owns the ⌈W / U⌉ warehouses of all `k` and draws one per transaction; by
    /// wrapping some have two owners. A departure from the clauses, as in HammerDB's "use all
    /// warehouses".
    AllWarehouses,
    /// One home warehouse and one Stock-Level district per user for the whole run, both drawn from
    /// the user's seed: some users share them. A departure from the clauses.
    AtRandom,
}

/// The warehouses of one user.
#[derive(Clone, Copy, Debug)]
pub(super) struct UserWarehouses {
    user: i64,
    users: i64,
    warehouses: i64,
    count: u64,
}

/// A home warehouse and the user's Stock-Level district there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) w_id: i32,
    pub(super) stock_level_d_id: i32,
}

impl Homes {
    pub(super) fn warehouses_of(self, user: i32, users: i32, warehouses: i32, seed: Seed) -> UserWarehouses {
        let mut user = i64::from(user);
        let count = match self {
            Self::Fixed => 1,
            Self::AllWarehouses => warehouses.unsigned_abs().div_ceil(users.unsigned_abs()),
            Self::AtRandom => {
                // Every (warehouse, district) is equally likely.
                let places = u64::from(warehouses.unsigned_abs()) * u64::from(DISTRICTS_PER_WAREHOUSE.unsigned_abs());
                user = seed.rng().below(places).cast_signed();
                1
            }
        };
        UserWarehouses { user, users: users.into(), warehouses: warehouses.into(), count: count.into() }
    }
}

impl UserWarehouses {
    /// All warehouses of the user, by `k`.
    pub(super) fn all(self) -> impl Iterator<Item = Home> {
        (0..self.count).map(move |k| self.home(k))
    }

    /// One of them, uniformly; draws nothing if there is only one.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> Home {
        self.home(if self.count == 1 { 0 } else { rng.below(self.count) })
    }

    #[inline]
    fn home(&self, k: u64) -> Home {
        let n = self.user + k.cast_signed() * self.users;
        let districts = i64::from(DISTRICTS_PER_WAREHOUSE);
        let narrow = |number| i32::try_from(number).expect("it is below a 32-bit divisor");
        Home { w_id: narrow(n % self.warehouses) + 1, stock_level_d_id: narrow(n / self.warehouses % districts) + 1 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn homes(homes: Homes, users: i32, warehouses: i32) -> Vec<Vec<Home>> {
        (0..users)
            .map(|user| homes.warehouses_of(user, users, warehouses, Seed(1).of(user as u64)).all().collect())
            .collect()
    }

    fn check_owners(kind: Homes, users: i32, warehouses: i32, per_user: usize, owners: [usize; 2]) {
        let of_users = homes(kind, users, warehouses);
        let mut owners_of = HashMap::new();
        for of_user in &of_users {
            assert_eq!(of_user.len(), per_user);
            for home in of_user {
                assert!((1..=warehouses).contains(&home.w_id));
                *owners_of.entry(home.w_id).or_insert(0_usize) += 1;
            }
        }
        let count = owners_of.values();
        assert_eq!([*count.clone().min().unwrap(), *count.max().unwrap()], owners);
        let distinct: HashSet<(i32, i32)> =
            of_users.iter().flatten().map(|home| (home.w_id, home.stock_level_d_id)).collect();
        assert_eq!(distinct.len(), users as usize * per_user, "a (warehouse, district) is shared");
    }

    #[test]
    fn paced_users_are_ten_per_warehouse() {
        check_owners(Homes::Fixed, 100, 10, 1, [10, 10]);
    }

    #[test]
    fn fewer_users_than_warehouses_have_one_each() {
        check_owners(Homes::Fixed, 4, 10, 1, [1, 1]);
    }

    #[test]
    fn all_warehouses_have_one_or_two_owners() {
        // P1: 600 active users own 5 of 2,500 each, so 500 warehouses have two owners.
        check_owners(Homes::AllWarehouses, 600, 2_500, 5, [1, 2]);
        check_owners(Homes::AllWarehouses, 7, 10, 2, [1, 2]);
        check_owners(Homes::AllWarehouses, 5, 10, 2, [1, 1]);
        check_owners(Homes::AllWarehouses, 20, 10, 1, [2, 2]);
    }

    #[test]
    fn homes_at_random_are_shared_and_reach_every_district() {
        let of_users = homes(Homes::AtRandom, 1_000, 4);
        let places: Vec<(i32, i32)> =
            of_users.iter().flatten().map(|home| (home.w_id, home.stock_level_d_id)).collect();
        assert_eq!((places.len(), places.iter().collect::<HashSet<_>>().len()), (1_000, 40));
        let few: HashSet<i32> = homes(Homes::AtRandom, 4, 4).iter().flatten().map(|home| home.w_id).collect();
        assert!(few.len() < 4, "{few:?}");
    }

    #[test]
    fn warehouses_of_all_warehouse_users_are_those_of_the_formula() {
        let of_users = homes(Homes::AllWarehouses, 4, 10);
        let numbers: Vec<Vec<i32>> =
            of_users.iter().map(|of_user| of_user.iter().map(|home| home.w_id).collect()).collect();
        assert_eq!(numbers, [[1, 5, 9], [2, 6, 10], [3, 7, 1], [4, 8, 2]]);
    }
}
