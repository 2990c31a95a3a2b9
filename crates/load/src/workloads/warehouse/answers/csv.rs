//! Answers as files: a line of column names, then a line per row; values with a comma, a quote or a blank at an end
//! stand in quotes.

use super::write::Answer;
use crate::workloads::warehouse::suite::Query;

/// Writes an answer with its header.
#[cfg(test)]
pub(crate) fn write_csv(query: &Query, answer: &Answer) -> String {
    let names: Vec<&str> = query.columns.iter().map(|column| column.name.as_str()).collect();
    let mut text = names.join(",") + "\n";
    for row in answer {
        let values: Vec<String> = row.iter().map(|value| quoted(value)).collect();
        text.push_str(&values.join(","));
        text.push('\n');
    }
    text
}

#[cfg(test)]
fn quoted(value: &str) -> String {
    if value.contains([',', '"', '\n']) || value.trim() != value || value.is_empty() {
        return format!("\"{}\"", value.replace('"', "\"\""));
    }
    value.to_owned()
}

/// Reads the rows of an answer; the error says which line does not fit the query.
pub(crate) fn read_csv(query: &Query, text: &str) -> Result<Answer, String> {
    let mut rows = text.lines().map(fields);
    let names: Vec<String> = query.columns.iter().map(|column| column.name.clone()).collect();
    if rows.next().as_ref() != Some(&names) {
        return Err(format!("the answer of {} does not have the columns of the query", query.name));
    }
    let rows: Answer = rows.collect();
    match rows.iter().position(|row| row.len() != names.len()) {
        Some(place) => {
            Err(format!("row {} of the answer of {} has {} values", place + 1, query.name, rows[place].len()))
        }
        None => Ok(rows),
    }
}

/// The values of a line.
fn fields(line: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut in_quotes = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if in_quotes && letters.peek() == Some(&'"') => {
                letters.next();
                push(&mut values, '"');
            }
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => values.push(String::new()),
            _ => push(&mut values, letter),
        }
    }
    values
}

fn push(values: &mut [String], letter: char) {
    if let Some(last) = values.last_mut() {
        last.push(letter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive() {
        for value in ["", "a", "a,b", " a", "\"", "\"a\",", "NULL"] {
            assert_eq!(fields(&format!("x,{},y", quoted(value))), ["x", value, "y"]);
        }
    }
}
