//! Values keep their length and their alphabet, and any changed byte is found.

use proofload_gen::ycsb::{LengthChoice, Settings, Shape, Values, Wrong};

use crate::support::{plan, settings};

fn values(length: u32, least_length: u32, lengths: LengthChoice) -> Values {
    let shape = Shape { fields: 10, length, lengths, least_length };
    plan(Settings { shape, ..settings('a', 1_000) }).values()
}

fn value(values: &Values, record: u64, field: u16, writer: u64) -> Vec<u8> {
    let mut value = vec![0; values.length(record, field, writer) as usize];
    values.fill(record, field, writer, &mut value);
    value
}

const WRITERS: [u64; 6] = [0, 1, 63, 64, 10_000_000_000_000, u64::MAX];

#[test]
fn writers_are_read_back_from_values_of_any_length() {
    for length in (12..=40).chain([100, 1_000_000]) {
        let values = values(length, 12, LengthChoice::Constant);
        for writer in WRITERS {
            let value = value(&values, 17, 3, writer);
            assert_eq!(value.len(), length as usize);
            assert_eq!(values.check(17, 3, &value), Ok(writer));
            assert!(value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"./".contains(byte)));
        }
    }
}

#[test]
fn any_changed_byte_is_found() {
    for (length, lengths) in [(12, LengthChoice::Constant), (29, LengthChoice::Constant), (29, LengthChoice::Uniform)] {
        let values = values(length, 12, lengths);
        for writer in WRITERS {
            let right = value(&values, 17, 3, writer);
            for place in 0..right.len() {
                for byte in (0..=255).filter(|&byte| byte != right[place]) {
                    let mut wrong = right.clone();
                    wrong[place] = byte;
                    assert!(values.check(17, 3, &wrong).is_err(), "byte {place} became {byte}");
                }
            }
        }
    }
}

#[test]
fn values_of_other_places_and_lengths_are_found() {
    let values = values(100, 12, LengthChoice::Constant);
    let right = value(&values, 17, 3, 5);
    assert!(values.check(18, 3, &right).is_err());
    assert!(values.check(17, 4, &right).is_err());
    assert_eq!(values.check(17, 3, &right[..99]), Err(Wrong::Length { expected: 100, found: 99 }));
    assert_eq!(values.check(17, 3, &right[..11]), Err(Wrong::NoWriter));
    assert_eq!(values.check(17, 3, &[b'z'; 100]), Err(Wrong::NoWriter));
    let mut wrong = right.clone();
    wrong[50] = b'\n';
    let error = values.check(17, 3, &wrong).unwrap_err();
    assert_eq!(error, Wrong::Character { place: 50, expected: right[50], found: b'\n' });
    let text = format!("character 50 of the value is '\\n', but '{}' was written", char::from(right[50]));
    assert_eq!(error.to_string(), text);
}

#[test]
fn characters_are_even_and_writers_differ() {
    let values = values(1_000, 12, LengthChoice::Constant);
    let mut counts = [0_u32; 256];
    for writer in 0..1_000 {
        for byte in &value(&values, 1, 1, writer)[12..] {
            counts[usize::from(*byte)] += 1;
        }
    }
    let used: Vec<f64> = counts.into_iter().filter(|&count| count > 0).map(f64::from).collect();
    assert_eq!(used.len(), 64);
    let expected = 988_000.0 / 64.0;
    let chi_square: f64 = used.iter().map(|count| (count - expected).powi(2) / expected).sum();
    assert!(chi_square < 63.0 + 5.0 * (2.0 * 63.0_f64).sqrt(), "chi-square {chi_square:.1} of 63");
}

#[test]
fn lengths_follow_their_choice() {
    for (lengths, least, mean, most) in [(LengthChoice::Uniform, 20, 60, 100), (LengthChoice::Zipfian, 20, 35, 100)] {
        let values = values(100, 20, lengths);
        let found: Vec<u32> = (0..20_000).map(|record| values.length(record, 2, 9)).collect();
        assert_eq!((found.iter().min(), found.iter().max()), (Some(&least), Some(&most)));
        let average = found.iter().sum::<u32>() / 20_000;
        assert!(average.abs_diff(mean) <= 1, "{lengths:?}: {average}");
    }
}
