//! Golden bytes: what these tests print never changes within a generator version.
//!
//! A change here changes everybody's data and every published number: it belongs under
//! *Results* in the changelog and makes old databases unfit for new studies.

use expect_test::{Expect, expect};
use proofload_gen::tprocc::Scale;
use proofload_gen::tprocc::inputs::Input;
use proofload_gen::tprocc::population::{Chunk, Row, RowStream};

use crate::support::{line, plan, population, rows, settings};

#[track_caller]
fn check_row<S: RowStream>(stream: S, place: usize, expected: Expect)
where
    S::Row: Clone,
{
    expected.assert_eq(&line(&rows(stream)[place]));
}

#[test]
fn rows_of_seed_42() {
    let population = population(42, Scale::FULL);
    check_row(
        population.items(),
        99_999,
        expect!["100000|2354|taYgGkFP15TX7Yg6PFrIMVv|82.11|GtTGLlkT9CgDD6dfZNDKMqPPyif4Iz2PZ895hp8"],
    );
    check_row(
        population.warehouse(1),
        0,
        expect!["1|blJoQIE|DSC23y65UI1M|9BPGmL7jLznmVd1Awv|c766MBKpCEiiTBNQb|VE|802511111|0.0766|300000.00"],
    );
    check_row(
        population.districts(1),
        9,
        expect!["10|1|5izx5xS|zONyt9gKJDUo|i9ymPpduBO8IctGqNc|4IlQ3NlqfAGM|dy|692111111|0.1066|30000.00|3001"],
    );
    check_row(
        population.stock(2),
        0,
        expect![
            "1|2|64|zvPYIjpcPibCpobnFxiVOfJk|olSoaEfUzTpGOQdfMnUDXDPb|JNNUnOwHzXuTiQKIbCMUKPGk|dRIdASunrwrqeRhhSKxWnUZO|azJRTZHEmttuifwpOcskNDTe|IvjSkLHnBNpfSRSySmLxHhZI|PxfNRoypmgxtBTFRQLboqgqX|TlYoCMCILXMwqRUxQhuBCqpX|aFhfDiNXATuxXBiIvzxUlkfG|UJrNEKvWcDFDMbPGPHuUnRVE|0|0|0|8MxXZCwblLJKCbs30U842PrtXLzz7tHDdYOlOKv"
        ],
    );
    check_row(
        population.customers(1),
        1_500,
        expect![
            "1501|1|1|M7IQU9kmflzab|OE|CALLYPRESPRI|wqjBk3PJJFe1y|Rc2kmcKVpeoiLJfmf|cXP3Q5mi0n54MtEE6m|tf|061211111|4612163967845147|1767225600000000|GC|50000.00|0.1479|-10.00|10.00|1|0|kojRPK581mi24HzTqzQQuWL7q8lJfJD36dMKXtoHGSfgfa56DNHW8VXCD760oiJSYMhu3o9YXJoiVpshurNqUulEEGo69WVeet0lFgdfXM2uSNgoqYKTFSuSvXaDMz92MoRCFIPTwyPl3PfPr8MHcPto2iXtb5BbUgBttso2Y7Oq8smLmFERgUyLkBTGtYeuUQzQ2vQJgXNVyKZcgvYjMoz8UevLjuYXXFqU9zexsy765f2XPqqReM7QMO3rUXiHr3d06nGi8mMnaxe9R8Yk3iqirt4wLbKw7yoO347C4ka4yynuNy"
        ],
    );
    check_row(population.histories(1), 1_500, expect!["1501|1|1|1|1|1767225600000000|10.00|X6dKYkoNPrRfq"]);
    check_row(population.orders(1), 0, expect!["1|1|1|410|1767225600000000|5|8|1"]);
    check_row(population.orders(1), 2_100, expect!["2101|1|1|491|1767225600000000|null|15|1"]);
    check_row(population.order_lines(1), 0, expect!["1|1|1|1|6676|1|1767225600000000|5|0.00|FxkDDiXSPjggfpeGrHOEZGvU"]);
    check_row(
        population.order_lines(1),
        299_000,
        expect!["2891|10|1|4|73931|1|null|5|9037.17|iFPqCOvhDHjwwCvKQSvwnROD"],
    );
    check_row(population.new_orders(1), 900, expect!["2101|2|1"]);
}

#[track_caller]
fn check_hashes(scale: Scale, expected: Expect) {
    let population = population(42, scale);
    let text: String = Chunk::all(1)
        .map(|chunk| {
            let hash = population.content_hash(chunk);
            format!("{} {} rows {hash}\n", chunk.name(), hash.rows)
        })
        .collect();
    expected.assert_eq(&text);
}

#[test]
fn content_hashes_of_seed_42() {
    check_hashes(
        Scale::FULL,
        expect![[r#"
        item 100000 rows 695315aff7b473297dacc734eb0ce4ba
        customer 60000 rows c248e732dff4153ccd2c86f2489efd60
        stock 100000 rows 11444c6d0ee5b368e7d5d500b200f6e8
        orders 339127 rows f501c20e652a0585777a505d34c091ca
        warehouse 11 rows 7f30c2e70fc62b3eebffc2c021bfb7f9
    "#]],
    );
    check_hashes(
        Scale::TOY,
        expect![[r#"
        item 1000 rows 634121e4012fb993d5d1dc4316d089d0
        customer 600 rows 712b268c9dae982e3684add0838db08d
        stock 1000 rows b0743847450f7fa11a53638813b4742c
        orders 3406 rows bd02c490a3db22e8dcd05e6b1b28229c
        warehouse 11 rows 7048f5a36f1c2348f640e2ea01e5ddea
    "#]],
    );
}

#[test]
fn constants_of_seed_42() {
    let expected = expect!["Constants { c_run: 150, c_id: 913, ol_i_id: 3534 }"];
    expected.assert_eq(&format!("{:?}", settings(42, Scale::FULL).constants));
}

#[track_caller]
fn check_input(index: u64, expected: Expect) {
    let input = plan(settings(42, Scale::FULL)).input_at(3, index);
    expected.assert_eq(&match input {
        Input::NewOrder(order) => {
            let lines: Vec<String> = order
                .lines()
                .iter()
                .map(|line| format!("{}@{}×{}", line.ol_i_id, line.ol_supply_w_id, line.ol_quantity))
                .collect();
            format!("New-Order {} {} {}: {}", order.w_id, order.d_id, order.c_id, lines.join(" "))
        }
        other => format!("{other:?}"),
    });
}

#[test]
fn inputs_of_seed_42() {
    check_input(
        0,
        expect![[
            r#"Payment(Payment { w_id: 4, d_id: 3, c_w_id: 4, c_d_id: 3, customer: LastName("ESEBAROUGHT"), h_amount: Hundredths(437214) })"#
        ]],
    );
    check_input(1, expect!["New-Order 4 7 1673: 11210@4×2 84814@4×9 93036@4×3 18878@4×10 74046@4×7 85197@4×4"]);
    check_input(2, expect!["New-Order 4 8 2569: 42090@4×7 60856@4×6 43971@4×9 40389@4×9 52549@4×5 19894@4×3"]);
    check_input(
        3,
        expect![
            "New-Order 4 6 2700: 11589@4×9 35269@4×6 52647@4×1 52397@4×1 29646@4×7 62926@4×10 49918@4×6 73934@4×2 35214@4×10 44366@4×5 29898@4×7 11661@4×10 83150@4×8"
        ],
    );
    check_input(4, expect!["New-Order 4 5 2920: 73926@4×5 99254@4×9 36110@4×5 99790@4×3 27914@4×5 27977@4×1"]);
    check_input(
        1_000_000,
        expect!["New-Order 4 4 680: 67136@4×2 35977@4×3 11272@4×9 47389@4×1 69006@4×2 93565@4×6 39357@4×5"],
    );
}

#[test]
fn columns_are_those_of_the_table() {
    fn check<S: RowStream>(_: &S, columns: &str) {
        let names: Vec<&str> = S::Row::COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(names.join(" "), columns);
    }
    let population = population(42, Scale::TOY);
    check(&population.orders(1), "o_id o_d_id o_w_id o_c_id o_entry_d o_carrier_id o_ol_cnt o_all_local");
    check(&population.new_orders(1), "no_o_id no_d_id no_w_id");
    check(&population.items(), "i_id i_im_id i_name i_price i_data");
}
