//! Named parameters to those of an engine: `:name` becomes `$1`, as PostgreSQL and DuckDB write it, `@p1`, as SQL Server does, or `?`, as
//! MariaDB does. Knows quotes, comments and casts, nothing else of SQL.

use crate::contract::Error;

/// SQL with an engine's parameters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RewrittenSql {
    /// The SQL.
    pub(super) sql: String,
    /// Index in the list of parameters for `$1`, `$2` …, `@p1`, `@p2` …, or for each `?`.
    pub(super) order: Vec<usize>,
}

/// How an engine writes parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParameterForm {
    /// `$1`, the same for each occurrence of a name.
    Numbered,
    /// `@p1`, likewise.
    Variable,
    /// `?`, one for each occurrence.
    Marked,
}

/// Rewrites to numbers. A name may occur several times; a listed name may be absent, an unlisted one is an error.
pub(super) fn number(sql: &str, parameters: &[String]) -> Result<RewrittenSql, Error> {
    rewrite(sql, parameters, ParameterForm::Numbered)
}

/// Rewrites to numbered variables, likewise.
pub(super) fn variables(sql: &str, parameters: &[String]) -> Result<RewrittenSql, Error> {
    rewrite(sql, parameters, ParameterForm::Variable)
}

/// Rewrites to question marks, likewise.
pub(super) fn mark(sql: &str, parameters: &[String]) -> Result<RewrittenSql, Error> {
    rewrite(sql, parameters, ParameterForm::Marked)
}

/// The statements of a text that has several, without those that are empty.
pub(super) fn statements(sql: &str) -> Vec<&str> {
    let (mut found, mut start, mut place, mut says) = (Vec::new(), 0, 0, false);
    while place < sql.len() {
        let rest = &sql[place..];
        let length = opaque(rest).max(rest.chars().next().map_or(1, char::len_utf8));
        if rest.starts_with(';') {
            found.extend(says.then(|| sql[start..place].trim()));
            (start, says) = (place + length, false);
        } else {
            let is_comment = rest.starts_with("--") || rest.starts_with("/*");
            says |= !is_comment && !rest.starts_with(char::is_whitespace);
        }
        place += length;
    }
    found.extend(says.then(|| sql[start..].trim()));
    found
}

fn rewrite(sql: &str, parameters: &[String], form: ParameterForm) -> Result<RewrittenSql, Error> {
    let mut rewritten = RewrittenSql { sql: String::with_capacity(sql.len()), order: Vec::new() };
    let mut rest = sql;
    while !rest.is_empty() {
        let length = opaque(rest);
        if length > 0 {
            rewritten.sql.push_str(&rest[..length]);
            rest = &rest[length..];
        } else if let Some(name) = named(rest) {
            let place = parameters.iter().position(|listed| listed.trim_start_matches(':') == name);
            let place = place
                .ok_or_else(|| Error::other(format!("parameter :{name} of the SQL is not in the parameter list")))?;
            let known = rewritten.order.iter().position(|&used| used == place && form != ParameterForm::Marked);
            let index = known.unwrap_or_else(|| {
                rewritten.order.push(place);
                rewritten.order.len() - 1
            });
            match form {
                ParameterForm::Numbered => rewritten.sql.push_str(&format!("${}", index + 1)),
                ParameterForm::Variable => rewritten.sql.push_str(&format!("@p{}", index + 1)),
                ParameterForm::Marked => rewritten.sql.push('?'),
            }
            rest = &rest[1 + name.len()..];
        } else {
            let letter = rest.chars().next().expect("the rest is not empty");
            rewritten.sql.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    Ok(rewritten)
}

/// The name of a parameter that starts here.
fn named(rest: &str) -> Option<&str> {
    let name = rest.strip_prefix(':')?;
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        return None;
    }
    Some(&name[..name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(name.len())])
}

/// Length of what starts here and holds no parameter: a quoted text, a comment, a cast; 0 if none does.
fn opaque(rest: &str) -> usize {
    if rest.starts_with("::") || rest.starts_with(":=") {
        return 2;
    }
    if rest.starts_with("--") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return comment(rest);
    }
    match rest.as_bytes()[0] {
        b'\'' => quoted(rest, 0, '\'', false),
        b'"' => quoted(rest, 0, '"', false),
        b'`' => quoted(rest, 0, '`', false),
        b'E' | b'e' if rest[1..].starts_with('\'') => quoted(rest, 1, '\'', true),
        b'$' => dollar_quoted(rest),
        first if first.is_ascii_alphanumeric() || first == b'_' => word(rest),
        _ => 0,
    }
}

/// A word is passed whole, so that an `e` at its end is not taken for the start of an escape text.
fn word(rest: &str) -> usize {
    rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len())
}

/// Length of a quoted text whose opening quote is at `start`; doubled quotes end one and open the next, which comes to the same.
fn quoted(rest: &str, start: usize, quote: char, escapes: bool) -> usize {
    let mut letters = rest[start + 1..].char_indices();
    while let Some((place, letter)) = letters.next() {
        if escapes && letter == '\\' {
            letters.next();
        } else if letter == quote {
            return start + 1 + place + 1;
        }
    }
    rest.len()
}

/// Length of a comment, which may hold others.
fn comment(rest: &str) -> usize {
    let (mut depth, mut place) = (0, 0);
    while place < rest.len() {
        match &rest.as_bytes()[place..] {
            [b'/', b'*', ..] => (depth, place) = (depth + 1, place + 2),
            [b'*', b'/', ..] => (depth, place) = (depth - 1, place + 2),
            _ => place += 1,
        }
        if depth == 0 {
            return place;
        }
    }
    rest.len()
}

/// Length of `$tag$ … $tag$`; 0 if it is not one.
fn dollar_quoted(rest: &str) -> usize {
    let Some(end) = rest[1..].find('$') else { return 0 };
    let tag = &rest[..end + 2];
    if !tag[1..=end].chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return 0;
    }
    rest[tag.len()..].find(tag).map_or(rest.len(), |close| close + 2 * tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(sql: &str, expected: &str, order: &[usize]) {
        let names = ["a".to_owned(), "b_2".to_owned()];
        let numbered = number(sql, &names).expect("all names are listed");
        assert_eq!((numbered.sql.as_str(), numbered.order.as_slice()), (expected, order));
    }

    #[test]
    fn names_become_numbers_and_nothing_else_changes() {
        check("SELECT :b_2, :a, :b_2", "SELECT $1, $2, $1", &[1, 0]);
        check("x::text || ':a' || \":a\" -- :a\n:a", "x::text || ':a' || \":a\" -- :a\n$1", &[0]);
        check("/* :a /* :a */ :a */ :a", "/* :a /* :a */ :a */ $1", &[0]);
        check("$f$ :a $f$, $$:a$$, :a", "$f$ :a $f$, $$:a$$, $1", &[0]);
        check("'it''s :a', E'\\':a', table'x' = :a", "'it''s :a', E'\\':a', table'x' = $1", &[0]);
        check("a[1:2], :a::int", "a[1:2], $1::int", &[0]);
        assert!(number("SELECT :c", &[]).is_err());
    }

    #[test]
    fn names_become_question_marks_one_for_each() {
        let names = ["a".to_owned(), "b_2".to_owned()];
        let marked = mark("SELECT :b_2, :a, ':a', `:a`, :b_2", &names).expect("all names are listed");
        assert_eq!((marked.sql.as_str(), marked.order), ("SELECT ?, ?, ':a', `:a`, ?", vec![1, 0, 1]));
    }

    #[test]
    fn names_become_variables_one_for_each_name() {
        let names = ["a".to_owned(), "b_2".to_owned()];
        let rewritten = variables("SELECT :b_2, :a, ':a', @x, :b_2", &names).expect("all names are listed");
        assert_eq!((rewritten.sql.as_str(), rewritten.order), ("SELECT @p1, @p2, ':a', @x, @p1", vec![1, 0]));
    }

    #[test]
    fn a_text_is_taken_apart_into_its_statements() {
        assert_eq!(statements("SELECT ';' -- ;\n; UPDATE `a;b`;\n-- end;\n"), ["SELECT ';' -- ;", "UPDATE `a;b`"]);
        assert_eq!(statements("SELECT /* ; */ 1"), ["SELECT /* ; */ 1"]);
        assert!(statements(" ;; -- nothing").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_survived(sql in "[:;$'\"/*\\-a-z\\\\ \n€]{0,40}") {
            let _ = statements(&sql);
            let _ = number(&sql, &["a".to_owned()]);
        }
    }
}
