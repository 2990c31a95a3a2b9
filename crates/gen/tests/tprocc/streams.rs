//! Inputs are a function of (seed, user, index) and of nothing else.

use proofload_gen::Error;
use proofload_gen::tprocc::Scale;
use proofload_gen::tprocc::inputs::{Homes, Input, InputPlan, InputSettings, Mix, Transaction, Weights};

use crate::support::{plan, settings};

const P1: Weights = Weights { new_order: 45, payment: 43, order_status: 4, delivery: 4, stock_level: 4 };

fn variants() -> impl Iterator<Item = InputPlan> {
    let mixes = [Mix::Deck, Mix::Draw, Mix::Weights(P1)];
    mixes.into_iter().flat_map(|mix| {
        [Homes::Fixed, Homes::AllWarehouses].map(|homes| plan(InputSettings { mix, homes, ..settings(5, Scale::FULL) }))
    })
}

#[test]
fn the_stream_equals_random_access() {
    for plan in variants() {
        for user in 0..4 {
            let mut inputs = plan.user(user);
            for index in 0..200 {
                assert_eq!(inputs.index(), index);
                let input = inputs.next_input();
                assert_eq!(input, plan.input_at(user, index));
                assert_eq!(input.transaction(), plan.transaction_at(user, index));
            }
        }
    }
}

#[test]
fn seeking_leads_into_the_same_stream() {
    for plan in variants() {
        let mut inputs = plan.user(1);
        for index in [1_000, 3, 45, 46, u64::MAX - 1] {
            inputs.seek(index);
            assert_eq!(inputs.next_input(), plan.input_at(1, index), "index {index}");
        }
    }
}

#[test]
fn streams_do_not_depend_on_threads() {
    for plan in variants() {
        let draw = |user| {
            let mut inputs = plan.user(user);
            (0..500).map(|_| inputs.next_input()).collect::<Vec<Input>>()
        };
        let one_thread: Vec<_> = (0..4).map(draw).collect();
        let mut threads: Vec<_> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4).rev().map(|user| scope.spawn(move || draw(user))).collect();
            workers.into_iter().map(|worker| worker.join().expect("it does not panic")).collect()
        });
        threads.reverse();
        assert_eq!(one_thread, threads);
    }
}

#[test]
fn users_and_seeds_have_streams_of_their_own() {
    let draw = |seed, user| {
        let plan = plan(InputSettings { warehouses: 1, ..settings(seed, Scale::FULL) });
        (0..10).map(|index| plan.input_at(user, index)).collect::<Vec<Input>>()
    };
    assert_ne!(draw(1, 0), draw(1, 1));
    assert_ne!(draw(1, 0), draw(2, 0));
}

#[test]
fn a_user_of_all_warehouses_draws_each_of_its_own() {
    let plan = plan(InputSettings { homes: Homes::AllWarehouses, ..settings(5, Scale::FULL) });
    let mut counts = [0_usize; 11];
    let mut inputs = plan.user(2);
    for _ in 0..3_000 {
        let w_id = match inputs.next_input() {
            Input::NewOrder(order) => order.w_id,
            Input::Payment(payment) => payment.w_id,
            Input::OrderStatus(status) => status.w_id,
            Input::Delivery(delivery) => delivery.w_id,
            Input::StockLevel(level) => {
                assert!(plan.homes_of(2).any(|home| home == (level.w_id, level.d_id)));
                level.w_id
            }
        };
        counts[usize::try_from(w_id).unwrap()] += 1;
    }
    // User 2 of 4 owns 3, 7 and, wrapped, 1 of 10.
    assert_eq!(counts.iter().filter(|count| **count > 0).count(), 3);
    for w_id in [1, 3, 7] {
        crate::statistics::check_share("home", counts[w_id], 3_000, 1.0 / 3.0);
    }
}

#[test]
fn decks_keep_the_exact_mix_over_whole_decks() {
    let plan = plan(settings(6, Scale::FULL));
    let mut counts = [0; 5];
    for index in 0..2_300 {
        counts[plan.transaction_at(0, index) as usize] += 1;
    }
    assert_eq!(counts, [1_000, 1_000, 100, 100, 100]);
    assert_eq!(Transaction::ALL.map(|transaction| transaction as usize), [0, 1, 2, 3, 4]);
}

#[track_caller]
fn check_refused(settings: InputSettings, message: &str) {
    let refused: Result<InputPlan, Error> = InputPlan::new(settings);
    assert_eq!(refused.expect_err("nothing can be drawn").to_string(), message);
}

#[test]
fn settings_without_inputs_are_refused() {
    let sound = settings(1, Scale::TOY);
    check_refused(
        InputSettings { warehouses: 0, ..sound },
        "drawing inputs needs at least one warehouse, but 0 were requested",
    );
    check_refused(
        InputSettings { users: -1, ..sound },
        "drawing inputs needs at least one user, but -1 were requested",
    );
    let none = Weights { new_order: 0, payment: 0, order_status: 0, delivery: 0, stock_level: 0 };
    check_refused(
        InputSettings { mix: Mix::Weights(none), ..sound },
        "every transaction has the weight 0; set a positive weight",
    );
}
