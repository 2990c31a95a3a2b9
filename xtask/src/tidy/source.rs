//! One text file, and for Rust a light scanner: what is code, what is a test, where functions begin and end.
//!
//! The scanner knows strings, characters and comments and matches braces. It is not a parser: it takes the
//! price of being wrong about code hidden in macros for the gain of building in a second.

/// A text file.
#[derive(Debug)]
pub(super) struct Source {
    /// Relative to the root of the repository, with `/`.
    pub(super) path: String,
    /// Text of the file, unchanged.
    pub(super) text: String,
    /// Code alone, for Rust: of equal length and lines, with every comment, string and character literal blanked out.
    pub(super) code: String,
    /// Byte offset of the start of each line.
    starts: Vec<usize>,
    /// Byte ranges that belong to tests, for Rust.
    tests: Vec<(usize, usize)>,
}

/// A function found by the scanner.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// Its name.
    pub(super) name: String,
    /// Line of the word `fn`, counted from 1.
    pub(super) line: usize,
    /// Number of lines from that one to the one of the closing brace, both counted.
    pub(super) lines: usize,
}

impl Source {
    /// Scans a file.
    pub(super) fn new(path: &str, text: String) -> Self {
        let code = if path.ends_with(".rs") { blank(&text) } else { String::new() };
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let tests = test_ranges(path, &code);
        Self { path: path.to_owned(), text, code, starts, tests }
    }

    /// Whether it is a Rust file.
    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether it is a page.
    pub(super) fn is_page(&self) -> bool {
        self.path.ends_with(".md")
    }

    /// Number of lines.
    pub(super) fn line_count(&self) -> usize {
        self.text.lines().count()
    }

    /// The line, counted from 1, in which a byte stands.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The text of a line counted from 1.
    pub(super) fn line(&self, number: usize) -> &str {
        let start = self.starts[number - 1];
        let end = self.starts.get(number).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// Whether a byte is part of a test: a test file, or an item under `#[cfg(test)]`.
    pub(super) fn is_test(&self, offset: usize) -> bool {
        self.tests.iter().any(|(from, to)| (*from..*to).contains(&offset))
    }

    /// Offsets in code where `needle` stands as a whole word (or path of words).
    pub(super) fn words<'a>(&'a self, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
        word_offsets(&self.code, needle)
    }

    /// Every function with a body, in the order of their names in the file.
    pub(super) fn functions(&self) -> Vec<Function> {
        self.words("fn").filter_map(|at| self.function(at)).collect()
    }

    fn function(&self, at: usize) -> Option<Function> {
        let rest = self.code[at + 2..].trim_start();
        let name: String = rest.chars().take_while(|c| is_word(*c)).collect();
        if name.is_empty() {
            return None; // a function pointer type
        }
        let open = body(&self.code, at)?;
        let line = self.line_of(at);
        Some(Function { name, line, lines: self.line_of(closing(&self.code, open)) - line + 1 })
    }
}

/// Offset of the brace that opens the body of the item at `at`; `None` when it ends with a semicolon.
fn body(code: &str, at: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (offset, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b';' if depth == 0 => return None,
            b'{' if depth == 0 => return Some(offset),
            _ => {}
        }
    }
    None
}

/// Offset of the brace that closes the one at `open`, or the end of the text.
pub(super) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_i32;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return offset;
        }
    }
    code.len().saturating_sub(1)
}

fn test_ranges(path: &str, code: &str) -> Vec<(usize, usize)> {
    let parts: Vec<&str> = path.split('/').collect();
    let folder = parts.iter().any(|part| matches!(*part, "tests" | "benches" | "fuzz"));
    if folder || parts.last().is_some_and(|name| name.ends_with("tests.rs")) {
        return vec![(0, usize::MAX)];
    }
    let marks = ["#[cfg(test)]", "#[cfg(all(test"];
    let found = marks.iter().flat_map(|mark| code.match_indices(mark));
    found
        .map(|(at, mark)| match body(code, at + mark.len()) {
            Some(open) => (at, closing(code, open) + 1),
            None => (at, at + code[at..].find(';').unwrap_or(0) + 1),
        })
        .collect()
}

/// Whether a character can stand in an identifier.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Offsets in `text` where `needle` stands with no identifier character on either side.
pub(super) fn word_offsets<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(needle).map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + needle.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Replaces all that is not code by blanks, byte for byte, leaving the line breaks.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let end = literal_end(text, at).unwrap_or(at);
        if end == at {
            // Bytes of a character beyond ASCII are blanked too; they are no braces and no keywords.
            out.push(if bytes[at].is_ascii() { bytes[at] } else { b' ' });
            at += 1;
        } else {
            out.extend(bytes[at..end].iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
            at = end;
        }
    }
    String::from_utf8(out).expect("only ASCII was pushed")
}

/// End of the comment, string or character that begins at `at`, if one does.
fn literal_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let bytes = rest.as_bytes();
    let length = match bytes.first()? {
        b'/' if bytes.get(1) == Some(&b'/') => rest.find('\n').unwrap_or(rest.len()),
        b'/' if bytes.get(1) == Some(&b'*') => block_comment(bytes),
        b'"' => quoted(bytes, b'"'),
        b'\'' => character(rest)?,
        b'r' | b'b' | b'c' if !text[..at].chars().next_back().is_some_and(is_word) => prefixed(bytes)?,
        _ => return None,
    };
    Some(at + length)
}

fn block_comment(bytes: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

/// Length of a literal that begins with a quote at offset 0 and ends at the next quote without a backslash.
fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Length of a character literal; `None` for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        return Some(quoted(rest.as_bytes(), b'\''));
    }
    let (end, second) = chars.next()?;
    (second == '\'').then_some(end + 1)
}

/// Length of a literal with a prefix such as `r#"`, `b"`, `br"`, `c"` or `b'`.
fn prefixed(bytes: &[u8]) -> Option<usize> {
    let letters = bytes.iter().take_while(|byte| matches!(byte, b'r' | b'b' | b'c')).count();
    let hashes = bytes[letters..].iter().take_while(|byte| **byte == b'#').count();
    let open = letters + hashes;
    match bytes.get(open)? {
        b'"' if bytes[..letters].contains(&b'r') => {
            let mut end = vec![b'"'];
            end.resize(hashes + 1, b'#');
            let body = &bytes[open + 1..];
            let length = body.windows(end.len()).position(|window| window == end);
            Some(open + 1 + length.map_or(body.len(), |length| length + end.len()))
        }
        quote @ (b'"' | b'\'') if hashes == 0 => Some(open + quoted(&bytes[open..], *quote)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_code(text: &str, expected: &str) {
        let code = blank(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn comments_and_strings_are_not_code() {
        check_code("a // {\nb", "a b");
        check_code("a /* { /* nested } */ } */ b", "a b");
        check_code(r#"f("{ \" }", b"{", c"}")"#, "f( , , )");
        check_code("f(r#\"{ \"quoted\" \"#, r\"\\\", br##\"\"#\"##)", "f( , , )");
        check_code("let s = \"é{\"; }", "let s = ; }");
    }

    #[test]
    fn characters_are_told_from_lifetimes() {
        check_code("match c { '{' | '\\'' | '\\u{7d}' | b'}' | 'é' => x }", "match c { | | | | => x }");
        check_code(
            "fn f<'a>(x: &'a str) -> Foo<'a> { 'outer: loop {} }",
            "fn f<'a>(x: &'a str) -> Foo<'a> { 'outer: loop {} }",
        );
        check_code("crabs(r, b, c)", "crabs(r, b, c)");
    }

    #[track_caller]
    fn check_functions(text: &str, expected: &[(&str, usize, usize)]) {
        let source = Source::new("a.rs", text.to_owned());
        let found = source.functions();
        let found: Vec<_> = found.iter().map(|f| (f.name.as_str(), f.line, f.lines)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn functions_are_measured_from_their_word_to_their_closing_brace() {
        check_functions("fn a() {}\n\nfn b(\n    x: [u8; 2],\n) {\n    \"}\";\n}\n", &[("a", 1, 1), ("b", 3, 5)]);
        check_functions("trait T {\n    fn without_body(&self);\n    fn with(&self) { x }\n}", &[("with", 3, 1)]);
        check_functions("type F = fn(u8) -> u8;\nfn g(f: fn(u8)) {\n}", &[("g", 2, 2)]);
        check_functions("fn outer() {\n    fn inner() {\n    }\n}", &[("outer", 1, 4), ("inner", 2, 2)]);
        check_functions("macro_rules! m { () => { fn $name() {} } }", &[]);
    }

    #[test]
    fn tests_are_found_by_mark_and_by_place() {
        let text =
            "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod more;\nfn d() {}\n";
        let source = Source::new("crates/x/src/a.rs", text.to_owned());
        let in_test = |needle: &str| source.is_test(text.find(needle).unwrap());
        assert!(in_test("fn b") && in_test("mod more"));
        assert!(!in_test("fn a") && !in_test("fn c") && !in_test("fn d"));
        for path in ["crates/x/tests/a.rs", "crates/x/benches/a.rs", "crates/x/src/a/tests.rs"] {
            assert!(Source::new(path, text.to_owned()).is_test(0), "{path}");
        }
    }

    #[test]
    fn offsets_become_lines() {
        let source = Source::new("a.md", "one\ntwo\n\nfour".to_owned());
        assert_eq!((source.line_of(0), source.line_of(3), source.line_of(4), source.line_of(9)), (1, 1, 2, 4));
        assert_eq!((source.line(2), source.line(3), source.line(4)), ("two", "", "four"));
        assert_eq!(source.line_count(), 4);
    }

    #[test]
    fn words_are_whole() {
        let found: Vec<_> = word_offsets("unsafe_code unsafe (unsafe)", "unsafe").collect();
        assert_eq!(found, [12, 20]);
    }
}
