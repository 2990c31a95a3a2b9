//! The population of clause 4.3.3, column by column.

use std::collections::{BTreeSet, HashSet};

use proofload_gen::Seed;
use proofload_gen::tprocc::population::{
    Chunk, ContentHash, Hundredths, Kind, Order, Population, Row, RowStream, StreamVisitor, Table, Value,
};
use proofload_gen::tprocc::{CLoad, DISTRICTS_PER_WAREHOUSE, Scale, last_name};

use crate::statistics::{check_share, check_uniform, histogram};
use crate::support::{LOADED_AT, population, rows};

fn full() -> Population {
    population(7, Scale::FULL)
}

/// Counts rows and compares each value with its column's type.
#[derive(Default)]
struct TypeCheck {
    rows: Vec<(Table, i64)>,
}

impl StreamVisitor for TypeCheck {
    type Error = String;

    fn visit<S: RowStream>(&mut self, mut rows: S) -> Result<(), String> {
        let mut count = 0;
        while let Some(row) = rows.next_row() {
            count += 1;
            let mut columns = S::Row::COLUMNS.iter();
            let mut faults = Vec::new();
            row.for_each_value(|value| {
                let column = columns.next().expect("no more values than columns");
                if !fits(value, column.kind, column.nullable) {
                    faults.push(format!("{} = {value} in row {count}", column.name));
                }
            });
            match (faults.is_empty(), columns.next()) {
                (true, None) => {}
                (_, left) => return Err(format!("{faults:?}, {left:?}")),
            }
        }
        self.rows.push((S::Row::TABLE, count));
        Ok(())
    }
}

fn fits(value: Value<'_>, kind: Kind, nullable: bool) -> bool {
    match (value, kind) {
        (Value::Null, _) => nullable,
        (Value::Integer(number), Kind::Integer) => i32::try_from(number).is_ok(),
        (Value::Text(text), Kind::Text { limit }) => text.len() <= limit && text.iter().all(u8::is_ascii_alphanumeric),
        (Value::Hundredths(_), Kind::Hundredths)
        | (Value::TenThousandths(_), Kind::TenThousandths)
        | (Value::Timestamp(_), Kind::Timestamp) => true,
        _ => false,
    }
}

#[test]
fn tables_have_their_rows_and_columns_their_types() {
    for (scale, warehouses) in [(Scale::FULL, 1), (Scale::TOY, 3)] {
        let mut check = TypeCheck::default();
        for chunk in Chunk::all(warehouses) {
            population(7, scale).visit(chunk, &mut check).unwrap();
        }
        for table in Table::ALL {
            let found = check.rows.iter().filter(|(of, _)| *of == table).map(|(_, rows)| rows).sum();
            match scale.rows(table, warehouses) {
                Some(expected) => assert_eq!(expected, found, "{}", table.name()),
                None => assert!((10 - 1..=10 + 1).contains(&(found / scale_orders(scale, warehouses)))),
            }
        }
    }
}

fn scale_orders(scale: Scale, warehouses: i32) -> i64 {
    scale.rows(Table::Orders, warehouses).expect("orders are counted")
}

#[test]
fn items_and_stocks() {
    let items = rows(full().items());
    assert!(items.iter().map(|row| row.i_id).eq(1..=100_000));
    let manufacturers = items.iter().map(|row| (i64::from(row.i_im_id) - 1) / 100);
    check_uniform("i_im_id in hundreds", &histogram(manufacturers, 0..=99));
    check_lengths("i_name", items.iter().map(|row| row.i_name.len()), 14..=24);
    check_lengths("i_data", items.iter().map(|row| row.i_data.len()), 26..=50);
    let prices = histogram(items.iter().map(|row| row.i_price.0), 100..=10_000);
    assert!(prices[0] > 0 && prices[9_900] > 0);
    check_originals(items.iter().map(|row| row.i_data.as_str()));

    let stocks = rows(full().stock(3));
    assert!(stocks.iter().map(|row| row.s_i_id).eq(1..=100_000));
    check_uniform("s_quantity", &histogram(stocks.iter().map(|row| row.s_quantity.into()), 10..=100));
    check_lengths("s_data", stocks.iter().map(|row| row.s_data.len()), 26..=50);
    check_originals(stocks.iter().map(|row| row.s_data.as_str()));
    for row in &stocks {
        assert_eq!((row.s_w_id, row.s_ytd, row.s_order_cnt, row.s_remote_cnt), (3, 0, 0, 0));
        assert_ne!(row.s_dist_01, row.s_dist_10);
        assert!(row.s_dist_05.as_bytes().iter().all(u8::is_ascii_alphabetic));
    }
}

/// A tenth of 100,000 rows holds ORIGINAL, exactly, at every possible position.
fn check_originals<'a>(texts: impl Iterator<Item = &'a str>) {
    let places: Vec<i64> = texts.filter_map(|text| text.find("ORIGINAL")).map(|place| place as i64).collect();
    assert_eq!(places.len(), 10_000);
    let counts = histogram(places, 0..=42);
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    check_uniform("positions that every length allows", &counts[..=18]);
}

fn check_lengths(what: &str, lengths: impl Iterator<Item = usize>, range: std::ops::RangeInclusive<i64>) {
    check_uniform(what, &histogram(lengths.map(|length| length as i64), range));
}

#[test]
fn warehouses_and_districts() {
    let population = full();
    for w_id in 1..=200 {
        let [row] = &rows(population.warehouse(w_id))[..] else { panic!("one row") };
        assert_eq!((row.w_id, row.w_ytd), (w_id, Hundredths(30_000_000)));
        assert!((0..=2_000).contains(&row.w_tax.0));
        assert!(row.w_zip.as_str().ends_with("11111") && row.w_zip.len() == 9);
        assert_eq!(row.w_state.len(), 2);
    }
    let districts: Vec<_> = (1..=2_000).flat_map(|w_id| rows(population.districts(w_id))).collect();
    assert!(districts[..10].iter().map(|row| row.d_id).eq(1..=DISTRICTS_PER_WAREHOUSE));
    for row in &districts {
        assert_eq!((row.d_ytd, row.d_next_o_id), (Hundredths(3_000_000), 3_001));
    }
    let taxes = histogram(districts.iter().map(|row| row.d_tax.0), 0..=2_000);
    assert!(taxes[0] > 0 && taxes[2_000] > 0);
    check_lengths("d_name", districts.iter().map(|row| row.d_name.len()), 6..=10);
    check_lengths("d_city", districts.iter().map(|row| row.d_city.len()), 10..=20);
}

#[test]
fn customers_and_history() {
    let customers = rows(full().customers(2));
    let bad = customers.iter().filter(|row| row.c_credit.as_str() == "BC").count();
    assert_eq!(bad, 3_000);
    for (place, row) in customers.iter().enumerate() {
        assert_eq!((row.c_d_id - 1) as usize * 3_000 + row.c_id as usize, place + 1);
        assert_eq!((row.c_middle.as_str(), row.c_credit_lim), ("OE", Hundredths(5_000_000)));
        assert_eq!((row.c_balance, row.c_ytd_payment), (Hundredths(-1_000), Hundredths(1_000)));
        assert_eq!((row.c_payment_cnt, row.c_delivery_cnt), (1, 0));
        assert_eq!((row.c_since, row.c_phone.len()), (LOADED_AT, 16));
        assert!((0..=5_000).contains(&row.c_discount.0));
        assert!(["BC", "GC"].contains(&row.c_credit.as_str()));
    }
    check_lengths("c_first", customers.iter().map(|row| row.c_first.len()), 8..=16);
    check_lengths("c_data", customers.iter().map(|row| row.c_data.len()), 300..=500);

    let histories = rows(full().histories(2));
    for (history, customer) in histories.iter().zip(&customers) {
        assert_eq!((history.h_c_w_id, history.h_c_d_id), (2, customer.c_d_id));
        assert_eq!((history.h_w_id, history.h_d_id), (2, customer.c_d_id));
        assert_eq!((history.h_c_id, history.h_amount), (customer.c_id, Hundredths(1_000)));
    }
    check_lengths("h_data", histories.iter().map(|row| row.h_data.len()), 12..=24);
}

#[test]
fn last_names_are_complete_and_follow_c_load() {
    let names: Vec<String> = (0..1_000).map(|number| last_name(number).to_string()).collect();
    let mut skewed = Vec::new();
    for of_district in rows(full().customers(1)).chunks(3_000) {
        let found: Vec<&str> = of_district.iter().map(|row| row.c_last.as_str()).collect();
        assert!(names.iter().eq(&found[..1_000]), "each name once, in order");
        skewed.extend(found[1_000..].iter().map(|name| (*name).to_owned()));
    }
    // Of 0..=999, the numbers with all eight low bits set are the frequent ones: 255, 511 and
    // 767, shifted by C, each drawn 25.6 times as often as the average.
    let Population { c_load: CLoad(c), .. } = full();
    for peak in [255, 511, 767] {
        let name = &names[(peak + usize::from(c)) % 1_000];
        let hits = skewed.iter().filter(|found| *found == name).count();
        check_share(name, hits, skewed.len(), 0.0256);
    }
}

#[test]
fn customers_of_orders_are_a_permutation_in_each_district() {
    let orders = rows(full().orders(1));
    let districts: Vec<&[Order]> = orders.chunks(3_000).collect();
    let mut permutations = HashSet::new();
    for of_district in districts {
        assert!(of_district.iter().map(|row| row.o_id).eq(1..=3_000));
        let customers: Vec<i32> = of_district.iter().map(|row| row.o_c_id).collect();
        let distinct: BTreeSet<i32> = customers.iter().copied().collect();
        assert!(distinct.into_iter().eq(1..=3_000));
        permutations.insert(customers);
    }
    assert_eq!(permutations.len(), 10, "each district has a permutation of its own");
}

#[test]
fn orders_and_lines() {
    let population = full();
    let orders = rows(population.orders(4));
    check_uniform("o_ol_cnt", &histogram(orders.iter().map(|row| row.o_ol_cnt.into()), 5..=15));
    let carriers = orders.iter().filter_map(|row| row.o_carrier_id).map(i64::from);
    check_uniform("o_carrier_id", &histogram(carriers, 1..=10));
    for row in &orders {
        assert_eq!((row.o_all_local, row.o_entry_d), (1, LOADED_AT));
        assert_eq!(row.o_carrier_id.is_some(), row.o_id < 2_101);
    }

    let lines = rows(population.order_lines(4));
    let mut expected =
        orders.iter().flat_map(|order| (1..=order.o_ol_cnt).map(|number| (order.o_d_id, order.o_id, number)));
    for row in &lines {
        let key = (row.ol_d_id, row.ol_o_id, row.ol_number);
        assert_eq!(Some(key), expected.next());
        assert_eq!((row.ol_w_id, row.ol_supply_w_id, row.ol_quantity), (4, 4, 5));
        match row.ol_delivery_d {
            Some(at) => assert_eq!((at, row.ol_amount, row.ol_o_id < 2_101), (LOADED_AT, Hundredths(0), true)),
            None => assert!((1..=999_999).contains(&row.ol_amount.0) && row.ol_o_id >= 2_101),
        }
    }
    assert_eq!(expected.next(), None);
    let items = histogram(lines.iter().map(|row| (row.ol_i_id / 1_001).into()), 0..=99);
    check_uniform("ol_i_id in bands of 1,001", &items[1..99]);

    let queue = rows(population.new_orders(4));
    let undelivered = orders.iter().filter(|row| row.o_carrier_id.is_none());
    assert!(
        queue
            .iter()
            .map(|row| (row.no_w_id, row.no_d_id, row.no_o_id))
            .eq(undelivered.map(|row| (row.o_w_id, row.o_d_id, row.o_id)))
    );
}

#[test]
fn rows_do_not_depend_on_who_draws_them_when() {
    let population = population(3, Scale::TOY);
    let forwards: Vec<ContentHash> = Chunk::all(4).map(|chunk| population.content_hash(chunk)).collect();
    let mut backwards: Vec<ContentHash> = std::thread::scope(|scope| {
        let chunks: Vec<Chunk> = Chunk::all(4).collect();
        let workers: Vec<_> =
            chunks.into_iter().rev().map(|chunk| scope.spawn(move || population.content_hash(chunk))).collect();
        workers.into_iter().map(|worker| worker.join().expect("it does not panic")).collect()
    });
    backwards.reverse();
    assert_eq!(forwards, backwards);
    let distinct: HashSet<u128> = forwards.iter().map(|hash| hash.sum).collect();
    assert_eq!(distinct.len(), forwards.len(), "no two chunks are alike");
}

#[test]
fn another_seed_gives_other_rows() {
    let [one, other] = [1, 2].map(|seed| population(seed, Scale::TOY));
    for chunk in Chunk::all(1) {
        assert_ne!(one.content_hash(chunk), other.content_hash(chunk), "{chunk:?}");
    }
    let mut same_c_load = other;
    same_c_load.seed = Seed(1);
    same_c_load.c_load = one.c_load;
    assert_eq!(one.content_hash(Chunk::Stock(1)), same_c_load.content_hash(Chunk::Stock(1)));
}
