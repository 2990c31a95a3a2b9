//! Two values that differ, in lines of a width: where they are too long to be shown whole, what differs stays visible. Pure.

use super::table::pieces;

/// Lines that a value takes at most before the places in which the two are equal are left out.
const MOST_LINES: usize = 6;

/// Lines of both values. Long ones are cut to the surroundings of their first difference, at the same place in both.
pub(super) fn sides_of_difference(values: [String; 2], width: usize) -> [Vec<String>; 2] {
    let lines = values.each_ref().map(|value| pieces(value, width));
    if lines.iter().all(|lines| lines.len() <= MOST_LINES) {
        return lines;
    }
    let letters = values.map(|value| value.chars().collect::<Vec<char>>());
    let equal = letters[0].iter().zip(&letters[1]).take_while(|(one, other)| one == other).count();
    // Half a line before the difference says where it is.
    let from = equal.saturating_sub(width / 2);
    let room = (width * (MOST_LINES - 1)).max(2) - 2;
    letters.map(|letters| {
        let to = letters.len().min(from + room);
        let (before, after) = (if from > 0 { "…" } else { "" }, if to < letters.len() { "…" } else { "" });
        let middle: String = letters.get(from..to).unwrap_or_default().iter().collect();
        pieces(&format!("{before}{middle}{after}"), width)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(one: &str, other: &str, width: usize) -> [Vec<String>; 2] {
        let sides = sides_of_difference([one, other].map(str::to_owned), width);
        for line in sides.iter().flatten() {
            assert!(line.chars().count() <= width, "{line:?} is wider than {width}");
        }
        sides
    }

    #[test]
    fn values_take_several_lines_before_anything_is_cut() {
        let sides = told("PostgreSQL 17.2 on x86_64, fsync on", "PostgreSQL 17.2 on x86_64, fsync off", 16);
        assert_eq!(sides[0], ["PostgreSQL 17.2", "on x86_64, fsync", "on"]);
        assert_eq!(sides[1], ["PostgreSQL 17.2", "on x86_64, fsync", "off"]);
    }

    #[test]
    fn what_differs_stays_visible_in_values_of_any_length() {
        let common = "rw,relatime,".repeat(40);
        for width in [1, 6, 14, 40] {
            for (one, other) in [("noatime", "nobarrier"), ("", "discard"), ("x", "y")] {
                let [one, other] =
                    [one, other].map(|word| format!("{common}{word}{}", if word.is_empty() { "" } else { &common }));
                let [a, b] = told(&one, &other, width);
                assert_ne!(a, b, "{width} columns");
                assert!(a.len().max(b.len()) <= MOST_LINES + 1 || width == 1, "{width} columns: {a:?} {b:?}");
            }
        }
    }
}
