//! Changes of rows and inputs by single departures, and that they change nothing else.

use std::collections::BTreeSet;

use proofload_gen::tprocc::inputs::{Homes, Input, InputSettings};
use proofload_gen::tprocc::population::{Chunk, Population};
use proofload_gen::tprocc::{CLoad, Constants, Departure, Profile, Scale};

use crate::support::{plan, population, rows, settings};

fn alone(departure: Departure) -> Profile {
    Profile { departures: [departure].into_iter().collect() }
}

/// The population under one departure.
fn under(departure: Departure, scale: Scale) -> Population {
    let (spec, profile) = (population(7, scale), alone(departure));
    Population { profile, c_load: CLoad::draw(spec.seed, &profile), ..spec }
}

/// The first inputs of four users under one departure.
fn inputs(departure: Option<Departure>) -> Vec<Input> {
    let spec = settings(7, Scale::FULL);
    let profile = departure.map_or(Profile::SPEC, alone);
    let c_load = CLoad::draw(spec.seed, &profile);
    let homes = if profile.has(Departure::HomesAtRandom) { Homes::AtRandom } else { Homes::Fixed };
    let constants = Constants::for_run(spec.seed, c_load, &spec.scale, &profile);
    let plan = plan(InputSettings { profile, c_load, constants, homes, ..spec });
    (0..4)
        .flat_map(|user| (0..2_000).map(move |index| (user, index)))
        .map(|(user, index)| plan.input_at(user, index))
        .collect()
}

/// Chunks of a warehouse that a departure changes.
#[test]
fn rows_change_where_a_departure_is_of_the_load_and_nowhere_else() {
    let all = || Chunk::all(1).collect::<Vec<_>>();
    let hashes =
        |population: &Population| all().into_iter().map(|chunk| population.content_hash(chunk)).collect::<Vec<_>>();
    let spec = hashes(&population(7, Scale::TOY));
    for departure in Departure::ALL {
        let found = hashes(&under(departure, Scale::TOY));
        let changed: Vec<&str> = all()
            .into_iter()
            .zip(spec.iter().zip(&found))
            .filter(|(_, (a, b))| a != b)
            .map(|(chunk, _)| chunk.name())
            .collect();
        let expected: &[&str] = match departure {
            Departure::C123 | Departure::HalfBadCredit => &["customer"],
            Departure::CustomersLost | Departure::AmountsSwapped => &["orders"],
            Departure::SumsAndTexts => &["item", "stock", "warehouse"],
            _ => &[],
        };
        assert_eq!(changed, expected, "{departure:?}");
        assert_eq!(departure.is_of_load(), !changed.is_empty(), "{departure:?}");
    }
}

/// Inputs that a departure changes.
#[test]
fn inputs_change_under_departures_of_inputs_and_no_others() {
    let spec = inputs(None);
    for departure in Departure::ALL {
        let of_inputs = [
            Departure::UniformIds,
            Departure::C123,
            Departure::RemoteMayBeHome,
            Departure::HomesAtRandom,
            Departure::SumsAndTexts,
        ];
        assert_eq!(inputs(Some(departure)) != spec, of_inputs.contains(&departure), "{departure:?}");
    }
}

#[test]
fn customers_and_their_orders_are_as_the_departures_say() {
    let bad = rows(under(Departure::HalfBadCredit, Scale::FULL).customers(1));
    assert_eq!(bad.iter().filter(|customer| customer.c_credit.as_str() == "BC").count(), 15_000);

    // HammerDB's own databases: 1,480 to 1,488 of 3,000 customers with an order; the mean is 1,500.5.
    let orders = rows(under(Departure::CustomersLost, Scale::FULL).orders(1));
    for d_id in 1..=10 {
        let with_order: BTreeSet<i32> =
            orders.iter().filter(|order| order.o_d_id == d_id).map(|order| order.o_c_id).collect();
        assert!((1_430..1_570).contains(&with_order.len()), "{}", with_order.len());
    }
    let lines = rows(under(Departure::AmountsSwapped, Scale::TOY).order_lines(1));
    for line in lines {
        let amounts = if line.ol_delivery_d.is_some() { 10..=10_000 } else { 0..=0 };
        assert!(amounts.contains(&line.ol_amount.0), "{line:?}");
    }
}

#[test]
fn taxes_and_marks_are_those_of_appendix_a() {
    let data = under(Departure::SumsAndTexts, Scale::FULL);
    let taxes: Vec<i64> =
        (1..=50).flat_map(|w_id| rows(data.districts(w_id))).map(|district| district.d_tax.0).collect();
    assert!(taxes.iter().all(|tax| (1_000..=2_000).contains(tax)));
    let marked = |mark: &str| rows(data.stock(1)).iter().filter(|stock| stock.s_data.as_str().contains(mark)).count();
    assert_eq!((marked("original"), marked("ORIGINAL")), (9_500, 0));
    let items = rows(data.items());
    assert_eq!(items.iter().filter(|item| item.i_data.as_str().contains("original")).count(), 10_000);
}

#[test]
fn inputs_are_as_the_departures_say() {
    let payments = |departure| {
        inputs(Some(departure)).into_iter().filter_map(|input| match input {
            Input::Payment(payment) => Some(payment.h_amount.0),
            _ => None,
        })
    };
    assert!(payments(Departure::SumsAndTexts).all(|amount| amount % 100 == 0 && (100..=500_000).contains(&amount)));
    // Uniform numbers: the hottest tenth of the items gets a tenth of the lines and not 71 %.
    let mut counts = vec![0_u32; 100_000];
    for input in inputs(Some(Departure::UniformIds)) {
        if let Input::NewOrder(order) = input {
            assert!((1..=3_000).contains(&order.c_id));
            for line in &order.lines()[..order.lines().len() - usize::from(order.rolls_back)] {
                counts[line.ol_i_id as usize - 1] += 1;
            }
        }
    }
    let spec = settings(7, Scale::FULL);
    let mut hottest: Vec<(u64, u32)> =
        spec.constants.ol_i_ids(&spec.scale).pairs().into_iter().zip(counts.iter().copied()).collect();
    hottest.sort_by_key(|(pairs, _)| std::cmp::Reverse(*pairs));
    let share = |part: &[(u64, u32)]| part.iter().map(|(_, count)| f64::from(*count)).sum::<f64>();
    let of_tenth = share(&hottest[..10_000]) / share(&hottest);
    assert!((0.09..0.11).contains(&of_tenth), "{of_tenth}");
}
