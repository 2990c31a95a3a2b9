//! The inputs' distributions: clauses 2.4.1 to 2.8.1 and the input audit of clause 9.2.2.5.

use proofload_gen::tprocc::Scale;
use proofload_gen::tprocc::inputs::{
    CustomerBy, Delivery, Input, InputSettings, Mix, NewOrder, OrderStatus, Payment, StockLevel, Transaction, Weights,
};

use crate::statistics::{check_share, check_uniform, histogram};
use crate::support::{plan, settings};

/// Inputs of one type only, for users 0 to 3 in turn, on 10 warehouses.
fn draw(transaction: Transaction, count: usize) -> Vec<Input> {
    draw_on(10, transaction, count)
}

fn draw_on(warehouses: i32, transaction: Transaction, count: usize) -> Vec<Input> {
    let weight = |of| u32::from(of == transaction);
    let mix = Mix::Weights(Weights {
        new_order: weight(Transaction::NewOrder),
        payment: weight(Transaction::Payment),
        order_status: weight(Transaction::OrderStatus),
        delivery: weight(Transaction::Delivery),
        stock_level: weight(Transaction::StockLevel),
    });
    let plan = plan(InputSettings { warehouses, mix, ..settings(8, Scale::FULL) });
    let mut users: Vec<_> = (0..4).map(|user| plan.user(user)).collect();
    (0..count).map(|number| users[number % 4].next_input()).collect()
}

fn new_orders(warehouses: i32, count: usize) -> Vec<NewOrder> {
    let only = |input| match input {
        Input::NewOrder(order) => order,
        other => panic!("{other:?}"),
    };
    draw_on(warehouses, Transaction::NewOrder, count).into_iter().map(only).collect()
}

fn payments(warehouses: i32, count: usize) -> Vec<Payment> {
    let only = |input| match input {
        Input::Payment(payment) => payment,
        other => panic!("{other:?}"),
    };
    draw_on(warehouses, Transaction::Payment, count).into_iter().map(only).collect()
}

#[test]
fn new_orders_have_the_lawful_shape() {
    let orders = new_orders(10, 100_000);
    check_uniform("d_id", &histogram(orders.iter().map(|order| order.d_id.into()), 1..=10));
    check_uniform("ol_cnt", &histogram(orders.iter().map(|order| order.ol_cnt.into()), 5..=15));
    let rollbacks = orders.iter().filter(|order| order.rolls_back).count();
    check_share("rollbacks", rollbacks, orders.len(), 0.01);
    assert!(orders.iter().all(|order| (1..=3_000).contains(&order.c_id)));

    let lines: Vec<_> = orders.iter().flat_map(|order| order.lines()).collect();
    let quantities = lines.iter().map(|line| line.ol_quantity.into());
    check_uniform("ol_quantity", &histogram(quantities, 1..=10));
    for order in &orders {
        assert_eq!(order.lines().len(), order.ol_cnt as usize);
        let (last, others) = order.lines().split_last().expect("five lines or more");
        assert_eq!(last.ol_i_id == Scale::FULL.unused_item(), order.rolls_back);
        assert!(others.iter().all(|line| (1..=100_000).contains(&line.ol_i_id)));
        let unused = &order.all_lines[order.ol_cnt as usize..];
        assert!(unused.iter().all(|line| *line == Default::default()));
    }
}

/// An order often has an item twice, by NURand; nothing forces items apart (clause 2.4.1.5).
#[test]
fn equal_items_within_an_order_are_drawn() {
    let orders = new_orders(10, 20_000);
    let has_twins = |order: &&NewOrder| {
        let mut items: Vec<i32> = order.lines().iter().map(|line| line.ol_i_id).collect();
        items.sort_unstable();
        items.windows(2).any(|pair| pair[0] == pair[1])
    };
    let twins = orders.iter().filter(has_twins).count();
    // Two lines agree with the sum of squared probabilities; an order has 50 pairs of lines on average (n(n - 1)/2 over
    // 5 to 15).
    let spec = settings(8, Scale::FULL);
    let pairs = spec.constants.ol_i_ids(&spec.scale).pairs();
    let total = pairs.iter().sum::<u64>() as f64;
    let agree: f64 = pairs.iter().map(|pairs| (*pairs as f64 / total).powi(2)).sum();
    let expected = orders.len() as f64 * 50.0 * agree;
    assert!((0.8 * expected..1.1 * expected).contains(&(twins as f64)), "{twins} where about {expected} are due");
}

#[test]
fn one_line_in_a_hundred_is_remote() {
    let orders = new_orders(10, 100_000);
    let of_user_0: Vec<&NewOrder> = orders.iter().filter(|order| order.w_id == 1).collect();
    assert_eq!(of_user_0.len(), 25_000);
    let remote: Vec<i64> = of_user_0
        .iter()
        .flat_map(|order| order.lines())
        .map(|line| i64::from(line.ol_supply_w_id))
        .filter(|w_id| *w_id != 1)
        .collect();
    check_uniform("warehouses of remote lines", &histogram(remote, 2..=10));

    let lines: usize = orders.iter().map(|order| order.lines().len()).sum();
    let remote: usize = orders.iter().map(NewOrder::remote_lines).sum();
    check_share("remote lines", remote, lines, 0.01);
    let with_remote = orders.iter().filter(|order| !order.is_all_local()).count();
    let share = (5..=15).map(|lines| 1.0 - 0.99_f64.powi(lines)).sum::<f64>() / 11.0;
    assert_eq!(format!("{:.1} %", 100.0 * share), "9.5 %");
    check_share("orders with a remote line", with_remote, orders.len(), share);
}

#[test]
fn payments_have_the_lawful_shape() {
    let payments = payments(10, 100_000);
    let remote: Vec<&Payment> = payments.iter().filter(|payment| payment.is_remote()).collect();
    check_share("remote payments", remote.len(), payments.len(), 0.15);
    let of_user_0 = remote.iter().filter(|payment| payment.w_id == 1);
    let warehouses = histogram(of_user_0.map(|payment| payment.c_w_id.into()), 2..=10);
    check_uniform("warehouses of remote payments", &warehouses);
    let same_district = remote.iter().filter(|payment| payment.c_d_id == payment.d_id).count();
    check_share("remote payments of the same district", same_district, remote.len(), 0.1);
    check_uniform("c_d_id", &histogram(remote.iter().map(|payment| payment.c_d_id.into()), 1..=10));
    check_uniform("d_id", &histogram(payments.iter().map(|payment| payment.d_id.into()), 1..=10));
    let home = |payment: &&Payment| !payment.is_remote();
    assert!(payments.iter().filter(home).all(|payment| payment.c_d_id == payment.d_id));

    let named = payments.iter().filter(|payment| payment.customer.is_by_name()).count();
    check_share("by name", named, payments.len(), 0.6);
    let both = remote.iter().filter(|payment| payment.customer.is_by_name()).count();
    check_share("by name, of the remote ones", both, remote.len(), 0.6);
    let amounts = payments.iter().map(|payment| payment.h_amount.0);
    assert!(amounts.clone().all(|amount| (100..=500_000).contains(&amount)));
    check_uniform("h_amount mod 100", &histogram(amounts.map(|amount| amount % 100), 0..=99));
}

#[test]
fn customers_are_drawn_with_the_run_s_constants() {
    // The hottest c_id is drawn 57.7 times as often as the average of 3,000, the hottest last
    // name 25.6 times as often as the average of 1,000.
    let constants = settings(8, Scale::FULL).constants;
    let hot_id = 1 + (1_023 + constants.c_id) % 3_000;
    let hot_name = proofload_gen::tprocc::LastName::of((255 + constants.c_run) % 1_000);
    let payments = payments(10, 100_000);
    let (mut ids, mut hot_ids, mut names, mut hot_names) = (0, 0, 0, 0);
    for payment in &payments {
        match payment.customer {
            CustomerBy::Id(id) => (ids, hot_ids) = (ids + 1, hot_ids + usize::from(id == hot_id)),
            CustomerBy::LastName(name) => {
                (names, hot_names) = (names + 1, hot_names + usize::from(name == hot_name));
            }
        }
    }
    check_share("hottest c_id", hot_ids, ids, 57.7 / 3_000.0);
    check_share("hottest name", hot_names, names, 25.6 / 1_000.0);
}

#[test]
fn order_status_deliveries_and_stock_levels_have_the_lawful_shape() {
    let mut named = 0;
    for input in draw(Transaction::OrderStatus, 20_000) {
        let Input::OrderStatus(OrderStatus { w_id, d_id, customer }) = input else { panic!("{input:?}") };
        assert!((1..=4).contains(&w_id) && (1..=10).contains(&d_id));
        named += usize::from(customer.is_by_name());
    }
    check_share("by name", named, 20_000, 0.6);

    let carriers = draw(Transaction::Delivery, 20_000).into_iter().map(|input| match input {
        Input::Delivery(Delivery { o_carrier_id, .. }) => o_carrier_id.into(),
        other => panic!("{other:?}"),
    });
    check_uniform("o_carrier_id", &histogram(carriers, 1..=10));

    let thresholds = draw(Transaction::StockLevel, 20_000).into_iter().map(|input| match input {
        Input::StockLevel(StockLevel { w_id, d_id, threshold }) => {
            assert_eq!((1..=4).contains(&w_id).then_some(d_id), Some(1));
            threshold.into()
        }
        other => panic!("{other:?}"),
    });
    check_uniform("threshold", &histogram(thresholds, 10..=20));
}

#[test]
fn one_warehouse_has_no_other() {
    assert!(new_orders(1, 2_000).iter().all(NewOrder::is_all_local));
    let payments = payments(1, 20_000);
    assert!(payments.iter().all(|payment| payment.c_w_id == 1));
    let elsewhere = payments.iter().filter(|payment| payment.c_d_id != payment.d_id).count();
    check_share("payments of another district", elsewhere, payments.len(), 0.15 * 0.9);
}

#[test]
fn toy_inputs_name_toy_rows() {
    let toy = Scale::TOY;
    let names: Vec<_> = (0..toy.last_names).map(proofload_gen::tprocc::LastName::of).collect();
    let is_there = |customer: &CustomerBy| match customer {
        CustomerBy::Id(id) => (1..=toy.customers_per_district).contains(id),
        CustomerBy::LastName(name) => names.contains(name),
    };
    let mut inputs = plan(settings(8, toy)).user(0);
    for _ in 0..20_000 {
        match inputs.next_input() {
            Input::NewOrder(order) => {
                assert!(is_there(&CustomerBy::Id(order.c_id)));
                let wanted = &order.lines()[..order.lines().len() - usize::from(order.rolls_back)];
                assert!(wanted.iter().all(|line| (1..=toy.items).contains(&line.ol_i_id)));
            }
            Input::Payment(payment) => assert!(is_there(&payment.customer)),
            Input::OrderStatus(status) => assert!(is_there(&status.customer)),
            Input::Delivery(_) | Input::StockLevel(_) => {}
        }
    }
}
