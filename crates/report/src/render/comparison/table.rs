//! Columns of a comparison in the room that a terminal has: heads of several lines, labels of several lines, and columns that stand back.

use super::super::text::{NARROWEST, wrapped_to};

/// Columns of running text, and of tables where their labels allow it.
const WIDTH: usize = 80;
/// Most columns of a table.
const MOST: usize = 100;
/// Columns that a label gets before another column is left out for it.
const LEAST_LABEL: usize = 20;
/// Fewest columns of a label.
const LEAST_WIDTH: usize = 6;

/// Columns that a text may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Columns of running text.
    pub(super) text: usize,
    /// Columns of a table.
    table: usize,
}

impl Room {
    /// Room on a terminal of so many columns; what any terminal and page has where that is not known.
    pub(super) fn of(terminal: Option<usize>) -> Self {
        let columns = terminal.map_or(MOST, |columns| columns.max(NARROWEST));
        Self { text: columns.min(WIDTH), table: columns.min(MOST) }
    }
}

/// Heads, rows of cells by their titles, and what may be left out of them.
#[derive(Debug)]
pub(super) struct ComparedTable {
    /// Heads; the first is that of the labels.
    pub(super) head: Vec<String>,
    /// Titles with their rows.
    pub(super) groups: Vec<(String, Vec<Vec<String>>)>,
    /// Columns that are left out together where there is no room, the first ones first.
    pub(super) spare: &'static [&'static [usize]],
}

impl ComparedTable {
    /// Lines up the cells under their heads. Where a line would be too long, heads and labels take several lines, then columns are
    /// left out and named; nothing is cut.
    pub(super) fn text(&self, room: Room) -> String {
        let mut kept: Vec<usize> = (0..self.head.len()).collect();
        let natural: Vec<usize> =
            kept.iter().map(|column| self.cells(*column).max(letters(&self.head[*column]))).collect();
        if extent(&natural) <= room.table {
            return self.lines(&kept, &natural, room);
        }
        let narrow = |column: usize| self.cells(column).max(longest_word(&self.head[column]));
        let for_label = |kept: &[usize]| {
            let others: Vec<usize> = kept.iter().skip(1).map(|column| narrow(*column)).collect();
            room.table.saturating_sub(extent(&others) + 2)
        };
        let mut left_out = Vec::new();
        let wanted = narrow(0).min(LEAST_LABEL);
        for columns in self.spare {
            if for_label(&kept) >= wanted {
                break;
            }
            kept.retain(|known| !columns.contains(known));
            left_out.extend(columns.iter().copied());
        }
        let mut widths: Vec<usize> = kept.iter().map(|column| narrow(*column)).collect();
        let short = wanted.saturating_sub(for_label(&kept));
        // The last column is words, which take several lines at last.
        if let (Some(width), Some(column)) = (widths.last_mut(), kept.last()) {
            *width = width.saturating_sub(short).max(self.words(*column)).min(*width);
        }
        let for_others = extent(widths.get(1..).unwrap_or_default());
        widths[0] = widths[0].min(room.table.saturating_sub(for_others + 2)).max(LEAST_WIDTH);
        let mut text = self.lines(&kept, &widths, room);
        left_out.sort_unstable();
        let named: Vec<&str> = left_out.iter().map(|column| self.head[*column].as_str()).collect();
        if !named.is_empty() {
            let line = format!("not shown, for want of room: {}", named.join(", "));
            wrapped_to(room.table, &line).iter().for_each(|line| text.push_str(&format!("{line}\n")));
        }
        text
    }

    /// Letters of the widest cell of a column.
    fn cells(&self, column: usize) -> usize {
        let rows = self.groups.iter().flat_map(|(_, rows)| rows);
        rows.filter_map(|row| row.get(column)).map(|cell| letters(cell)).max().unwrap_or(0)
    }

    /// Letters of the longest word of a column and its head.
    fn words(&self, column: usize) -> usize {
        let cells = self.groups.iter().flat_map(|(_, rows)| rows).filter_map(|row| row.get(column));
        cells.chain(self.head.get(column)).map(|text| longest_word(text)).max().unwrap_or(0)
    }

    fn lines(&self, kept: &[usize], widths: &[usize], room: Room) -> String {
        let of = |cells: &[String], is_head: bool| {
            let columns: Vec<Vec<String>> = kept
                .iter()
                .zip(widths)
                .map(|(column, width)| pieces(cells.get(*column).map_or("", String::as_str), *width))
                .collect();
            row_lines(&columns, widths, is_head)
        };
        let mut text = of(&self.head, true);
        for (title, rows) in &self.groups {
            wrapped_to(room.table, title).iter().for_each(|line| text.push_str(&format!("{line}\n")));
            rows.iter().for_each(|row| text.push_str(&of(row, false)));
        }
        text
    }
}

/// Lines of a row whose cells have lines of their own: heads stand at the bottom, others at the top.
fn row_lines(columns: &[Vec<String>], widths: &[usize], is_head: bool) -> String {
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let last = columns.len().saturating_sub(1);
    let line = |place: usize| {
        let cell = |(column, (lines, width)): (usize, (&Vec<String>, &usize))| {
            let width = *width;
            let above = if is_head { height - lines.len() } else { 0 };
            let text = place.checked_sub(above).and_then(|place| lines.get(place)).map_or("", String::as_str);
            match column {
                0 => format!("{text:<width$}"),
                column if column == last => text.to_owned(),
                _ => format!("{text:>width$}"),
            }
        };
        let cells: Vec<String> = columns.iter().zip(widths).enumerate().map(cell).collect();
        format!("  {}", cells.join("  ")).trim_end().to_owned() + "\n"
    };
    (0..height).map(line).collect()
}

/// Letters of a text.
fn letters(text: &str) -> usize {
    text.chars().count()
}

fn longest_word(text: &str) -> usize {
    text.split(' ').map(letters).max().unwrap_or(0)
}

/// Columns of a line of such columns, set in.
fn extent(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 2 * widths.len()
}

/// Breaks a text into lines of at most so many letters, between words where they are short enough; one line at least.
pub(super) fn pieces(text: &str, width: usize) -> Vec<String> {
    if letters(text) <= width {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let parts: Vec<char> = word.chars().collect();
        for part in parts.chunks(width.max(1)) {
            let part: String = part.iter().collect();
            match lines.last_mut() {
                Some(last) if last.is_empty() => *last = part,
                Some(last) if letters(last) + 1 + letters(&part) <= width => *last = format!("{last} {part}"),
                _ => lines.push(part),
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn row(label: &str, verdict: &str) -> Vec<String> {
        [label, "126,839", "121,355", "0.957", "0.778 to 1.014", "<0.001", verdict].map(str::to_owned).to_vec()
    }

    fn compared(label: &str) -> ComparedTable {
        ComparedTable {
            head: ["database memory, engine", "A", "B", "B/A", "95 % interval", "p", "verdict"]
                .map(str::to_owned)
                .to_vec(),
            groups: vec![(
                "New-Order p99, response time, ms; lower is better".to_owned(),
                vec![row("64 MiB", "slower"), row(label, "not shown (±9.8 %)")],
            )],
            spare: &[&[5], &[1, 2]],
        }
    }

    #[track_caller]
    fn check(label: &str, columns: usize, expected: &Expect) {
        let text = compared(label).text(Room::of(Some(columns)));
        assert!(text.lines().all(|line| letters(line) <= columns), "wider than {columns}:\n{text}");
        assert!(!text.contains('…'), "{text}");
        expected.assert_eq(&text);
    }

    #[test]
    fn a_table_fits_its_terminal_and_no_label_is_cut() {
        check(
            "256 MiB",
            100,
            &expect![[r#"
                  database memory, engine        A        B    B/A   95 % interval       p  verdict
                New-Order p99, response time, ms; lower is better
                  64 MiB                   126,839  121,355  0.957  0.778 to 1.014  <0.001  slower
                  256 MiB                  126,839  121,355  0.957  0.778 to 1.014  <0.001  not shown (±9.8 %)
            "#]],
        );
        check(
            "256 MiB",
            80,
            &expect![[r#"
                  database
                  memory,
                  engine          A        B    B/A   95 % interval       p  verdict
                New-Order p99, response time, ms; lower is better
                  64 MiB    126,839  121,355  0.957  0.778 to 1.014  <0.001  slower
                  256 MiB   126,839  121,355  0.957  0.778 to 1.014  <0.001  not shown (±9.8 %)
            "#]],
        );
        check(
            "256 MiB",
            60,
            &expect![[r#"
                  database
                  memory,
                  engine      B/A   95 % interval  verdict
                New-Order p99, response time, ms; lower is better
                  64 MiB    0.957  0.778 to 1.014  slower
                  256 MiB   0.957  0.778 to 1.014  not shown (±9.8 %)
                not shown, for want of room: A, B, p
            "#]],
        );
    }

    #[test]
    fn every_width_is_kept() {
        let label = "postgresql with synchronous replication, 256 MiB";
        for columns in 48..=120 {
            for label in ["256 MiB", label] {
                let text = compared(label).text(Room::of(Some(columns)));
                assert!(text.lines().all(|line| letters(line) <= columns), "wider than {columns}:\n{text}");
                let last: Vec<&str> = label.split(' ').collect();
                assert!(last.iter().all(|word| text.contains(word)), "{columns}: a label was cut:\n{text}");
            }
        }
    }

    #[test]
    fn words_are_broken_where_they_are_too_long() {
        assert_eq!(pieces("96 % of it", 5), ["96 %", "of it"]);
        assert_eq!(pieces("abcdefgh i", 3), ["abc", "def", "gh", "i"]);
        assert_eq!(pieces("", 3), [""]);
    }
}
