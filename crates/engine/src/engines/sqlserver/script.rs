//! Scripts as batches, one statement each: semicolons end statements, except inside of quotes, comments and blocks. A lone `BEGIN`, by which
//! scripts begin a transaction, would open a block here. May not know what a statement means.

/// The statements of a script.
pub(super) fn statements(sql: &str) -> Vec<String> {
    let (mut found, mut start, mut place, mut depth) = (Vec::new(), 0, 0, 0usize);
    while place < sql.len() {
        let rest = &sql[place..];
        let length = opaque(rest);
        if length > 0 {
            place += length;
            continue;
        }
        let word = word(rest);
        match rest.as_bytes()[0] {
            b';' if depth == 0 => {
                add(&sql[start..place], &mut found);
                start = place + 1;
            }
            _ if word.eq_ignore_ascii_case("BEGIN") && opens_block(&rest[word.len()..]) => depth += 1,
            _ if word.eq_ignore_ascii_case("CASE") => depth += 1,
            _ if word.eq_ignore_ascii_case("END") => depth = depth.saturating_sub(1),
            _ => {}
        }
        place += word.len().max(rest.chars().next().map_or(1, char::len_utf8));
    }
    add(&sql[start..], &mut found);
    found
}

fn add(statement: &str, found: &mut Vec<String>) {
    match statement.trim() {
        "" => {}
        only if only.eq_ignore_ascii_case("BEGIN") => found.push("BEGIN TRANSACTION".to_owned()),
        other => found.push(other.to_owned()),
    }
}

/// Whether what follows a `BEGIN` makes it the start of a block.
fn opens_block(after: &str) -> bool {
    let after = after.trim_start();
    let next = word(after);
    !(after.is_empty()
        || after.starts_with(';')
        || ["TRAN", "TRANSACTION"].iter().any(|begin| next.eq_ignore_ascii_case(begin)))
}

/// The word or variable that starts here; empty where none does.
fn word(rest: &str) -> &str {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '@' | '#' | '$');
    &rest[..rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len())]
}

/// Length of a quoted text, a name in brackets or a comment that starts here; 0 if none does.
fn opaque(rest: &str) -> usize {
    let until = |start: usize, end: &str| rest[start..].find(end).map_or(rest.len(), |place| start + place + end.len());
    match rest.as_bytes() {
        [b'\'', ..] => until(1, "'"),
        [b'"', ..] => until(1, "\""),
        [b'[', ..] => until(1, "]"),
        [b'-', b'-', ..] => until(2, "\n"),
        [b'/', b'*', ..] => until(2, "*/"),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn statements_end_at_semicolons_outside_of_blocks() {
        let procedure = "CREATE PROCEDURE p(@a int) AS\nBEGIN\n  BEGIN TRANSACTION; SELECT CASE WHEN @a = 1 THEN 'END;' END; COMMIT;\nEND";
        let script = format!(
            "BEGIN;\nSELECT 'a;b', [c;d] -- e;\n, 1;\n{procedure};\n/* ; */ begin tran; IF 1 = 1 BEGIN SELECT 1; END; COMMIT;;"
        );
        assert_eq!(
            statements(&script),
            [
                "BEGIN TRANSACTION",
                "SELECT 'a;b', [c;d] -- e;\n, 1",
                procedure,
                "/* ; */ begin tran",
                "IF 1 = 1 BEGIN SELECT 1; END",
                "COMMIT"
            ]
        );
        assert_eq!(statements("begin"), ["BEGIN TRANSACTION"]);
        assert_eq!(statements(" ; "), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(sql in "[beginENDcas;'\\[\\]/*\\-é ]{0,60}") {
            let _ = statements(&sql);
        }
    }
}
