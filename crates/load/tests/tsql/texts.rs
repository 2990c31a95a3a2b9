//! Texts of a folder of `suites/`, one for each statement, as tokens.

use std::path::Path;

/// A statement of a suite.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) name: String,
    /// Words, variables, numbers, texts in quotes, signs, and comments in a line of SQL.
    pub(crate) tokens: Vec<String>,
}

impl Text {
    pub(crate) fn new(name: &str, sql: &str) -> Self {
        Self { name: name.to_owned(), tokens: tokens(sql) }
    }

    /// Whether these tokens stand at a place, in any letters.
    pub(crate) fn has(&self, place: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(offset, word)| self.at(place + offset).eq_ignore_ascii_case(word))
    }

    /// The token at a place; nothing beyond the end.
    pub(crate) fn at(&self, place: usize) -> &str {
        self.tokens.get(place).map_or("", String::as_str)
    }

    /// The place behind the bracket that closes the one at a place.
    pub(crate) fn behind(&self, open: usize) -> usize {
        let mut depth = 0;
        for place in open..self.tokens.len() {
            match self.at(place) {
                "(" => depth += 1,
                ")" if depth == 1 => return place + 1,
                ")" => depth -= 1,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Parts of what stands between two places, separated by commas outside of brackets.
    pub(crate) fn parts(&self, start: usize, end: usize) -> Vec<&[String]> {
        let (mut parts, mut from, mut depth) = (Vec::new(), start, 0);
        for place in start..end {
            match self.at(place) {
                "(" => depth += 1,
                ")" => depth -= 1,
                "," if depth == 0 => {
                    parts.push(&self.tokens[from..place]);
                    from = place + 1;
                }
                _ => {}
            }
        }
        parts.push(&self.tokens[from..end]);
        parts
    }
}

/// All texts of a folder and of those below it in the list, with the lines that hold under all departures or under none.
pub(crate) fn texts(folder: &str, departures: bool) -> Vec<Text> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites").join(folder);
    let mut files: Vec<_> =
        std::fs::read_dir(&path).expect("the folder is there").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "sql")) {
        let text = std::fs::read_to_string(file).expect("the file is readable");
        let (mut name, mut sql) = (file.file_stem().expect("a name").to_string_lossy().into_owned(), String::new());
        for line in text.lines() {
            let Some(line) = holding(line, departures) else { continue };
            if let Some(header) = line.trim().strip_prefix("-- name:") {
                found.push(Text::new(&name, &sql));
                (name, sql) = (header.split('(').next().expect("a name").trim().to_owned(), String::new());
            } else {
                sql.push_str(line);
                sql.push('\n');
            }
        }
        found.push(Text::new(&name, &sql));
    }
    found.retain(|text| !text.tokens.is_empty());
    found
}

/// A line without its mark, unless its mark says that it does not hold. Of marks that exclude each other, one holds.
fn holding(line: &str, departures: bool) -> Option<&str> {
    let Some((text, mark)) =
        line.rsplit_once("-- ").filter(|(_, mark)| mark.starts_with("under ") || mark.starts_with("not under "))
    else {
        return Some(line);
    };
    mark.split(',').all(|one| one.trim().starts_with("under ") == departures).then_some(text)
}

fn tokens(sql: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), sql);
    while let Some(first) = rest.chars().next() {
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '@' | '#');
        let length = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            ':' if rest.starts_with("::") => 2,
            first if is_part(first) => rest.find(|letter| !is_part(letter)).unwrap_or(rest.len()),
            first => first.len_utf8(),
        };
        let token = &rest[..length];
        if !token.starts_with("--") && !token.trim().is_empty() {
            found.push(token.to_owned());
        }
        rest = &rest[length..];
    }
    found
}
