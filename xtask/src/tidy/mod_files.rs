//! `mod.rs` only lists and re-exports: modules, uses, and the list in which one line adds one thing:
//! a constant slice, or a call of a macro that makes one.

use super::rules::Fault;
use super::source::{Source, closing};
use super::tree::Tree;

/// Finds anything else in a `mod.rs`.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    // Below `tests/` cargo itself asks for a mod.rs: any other name would become a test of its own.
    let files = tree.rust().filter(|source| source.path.ends_with("/mod.rs") && !source.path.contains("/tests/"));
    files.filter_map(first_stranger).collect()
}

/// The first item that is neither a list nor a re-export.
fn first_stranger(source: &Source) -> Option<Fault> {
    let code = &source.code;
    let mut at = 0;
    loop {
        at += code[at..].len() - code[at..].trim_start().len();
        if at >= code.len() {
            return None;
        }
        let Some(end) = item_end(code, at) else {
            let text = "mod.rs only lists and re-exports; give this a file of its own";
            return Some(Fault::new(&source.path, source.line_of(at), text));
        };
        at = end;
    }
}

/// End of the item at `at`, if it is of an allowed kind.
fn item_end(code: &str, at: usize) -> Option<usize> {
    let rest = &code[at..];
    if rest.starts_with("#[") || rest.starts_with("#![") {
        return Some(closing(code, at + rest.find('[')?) + 1);
    }
    if let Some(open) = macro_call(rest) {
        let end = closing(code, at + open) + 1;
        return Some(if code[end..].starts_with(';') { end + 1 } else { end });
    }
    let item = without_visibility(rest);
    let is_list = item.starts_with("const ") && item.contains("&[");
    if item.starts_with("mod ") && item.find(';')? < item.find('{').unwrap_or(usize::MAX)
        || item.starts_with("use ")
        || is_list
    {
        return Some(at + semicolon(rest)? + 1);
    }
    None
}

/// Offset of the bracket that opens a macro call; `None` for a macro's definition.
fn macro_call(rest: &str) -> Option<usize> {
    let (path, after) = rest.split_once('!')?;
    let is_path = !path.is_empty() && path.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
    let blanks = after.len() - after.trim_start().len();
    let opens = after.trim_start().starts_with(['{', '(', '[']);
    (is_path && opens).then_some(path.len() + 1 + blanks)
}

fn without_visibility(rest: &str) -> &str {
    let Some(rest) = rest.strip_prefix("pub") else {
        return rest;
    };
    let rest = rest.trim_start();
    match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, rest)) => rest.trim_start(),
        None => rest,
    }
}

/// Offset of the semicolon that ends an item, not one inside brackets.
fn semicolon(rest: &str) -> Option<usize> {
    let mut depth = 0_i32;
    rest.bytes().position(|byte| {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            _ => {}
        }
        byte == b';' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn lists_and_re_exports_are_welcome() {
        let text = "//! Header.\n\n#[cfg(test)]\nmod tests;\npub mod a;\npub(crate) mod b;\npub use a::{X, Y};\n\n/// The list.\npub const ALL: &[&dyn X] = &[\n    &A,\n];\nlist::registry! {\n    a: A,\n}\nplain!(a);\n";
        check_rule(
            check,
            &[
                ("crates/x/src/y/mod.rs", text),
                ("crates/x/src/lib.rs", "fn f() {}\n"),
                ("crates/x/tests/support/mod.rs", "fn f() {}\n"),
            ],
            &[],
        );
    }

    #[test]
    fn anything_else_is_found() {
        let files = [
            ("a/mod.rs", "mod a;\nstruct S;\n"),
            ("b/mod.rs", "mod a;\n\nmod inline {\n    fn f() {}\n}\n"),
            ("c/mod.rs", "const N: u8 = 1;\n"),
            ("d/mod.rs", "macro_rules! m {\n    () => {};\n}\n"),
        ];
        check_rule(check, &files, &["a/mod.rs:2", "b/mod.rs:3", "c/mod.rs:1", "d/mod.rs:1"]);
    }
}
