//! Prometheus' text format, as far as values go. May not know what a metric means.
//!
//! Source: the exposition formats of Prometheus, text format 0.0.4, and OpenMetrics 1.0, whose lines are alike.

/// One line of an exposition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample<'t> {
    /// Name of the metric.
    pub(super) name: &'t str,
    /// What stands between the braces, without them; empty when there are none.
    labels: &'t str,
    /// The value.
    pub(super) value: f64,
}

impl<'t> Sample<'t> {
    /// The value of a label as it is written: escapes are kept, since no name of a core or a device has any.
    pub(super) fn label(&self, wanted: &str) -> Option<&'t str> {
        let mut rest = self.labels;
        while let Some((name, quoted)) = rest.split_once("=\"") {
            let end = closing_quote(quoted)?;
            if name.trim_start_matches([',', ' ']) == wanted {
                return Some(&quoted[..end]);
            }
            rest = &quoted[end + 1..];
        }
        None
    }

    /// All labels, as written.
    pub(super) const fn labels(&self) -> &'t str {
        self.labels
    }
}

/// The samples of a text; lines that are none (comments, faulty ones) are passed over.
pub(super) fn samples(text: &str) -> impl Iterator<Item = Sample<'_>> {
    text.lines().filter_map(sample)
}

/// Whether the metric is declared as a counter.
pub(super) fn is_counter(text: &str, name: &str) -> bool {
    // OpenMetrics declares the family `x` of the counter `x_total`.
    let family = name.strip_suffix("_total").unwrap_or(name);
    text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).any(|declared| {
        declared.split_once(' ').is_some_and(|(of, kind)| (of == name || of == family) && kind.trim() == "counter")
    })
}

/// `name{labels} value [timestamp]`.
fn sample(line: &str) -> Option<Sample<'_>> {
    if line.starts_with('#') {
        return None;
    }
    let end = line.find(['{', ' ', '\t'])?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => {
            let end = closing_brace(inside)?;
            (&inside[..end], &inside[end + 1..])
        }
        None => ("", rest),
    };
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    (!name.is_empty()).then_some(Sample { name, labels, value })
}

/// The brace that ends labels: one outside quotes.
fn closing_brace(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let next = from + text[from..].find(['"', '}'])?;
        if text.as_bytes()[next] == b'}' {
            return Some(next);
        }
        from = next + 1 + closing_quote(&text[next + 1..])? + 1;
    }
}

/// The first quote that no backslash escapes.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !escaped => return Some(place),
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let text = "# HELP a b\n# TYPE a counter\na{x=\"1\",path=\"C:\\\\ }\\\"\"} 2.5e3 1700000000\nb 7\nc{} NaN\nfaulty{\n d\n";
        let found: Vec<_> = samples(text).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!((found[0].name, found[0].value), ("a", 2500.0));
        assert_eq!((found[0].label("x"), found[0].label("path")), (Some("1"), Some("C:\\\\ }\\\"")));
        assert_eq!(found[0].label("y"), None);
        assert_eq!((found[1].name, found[1].labels(), found[1].value), ("b", "", 7.0));
        assert!(found[2].value.is_nan());
    }

    #[test]
    fn counters_are_known_by_their_declaration() {
        let text = "# TYPE a counter\n# TYPE b gauge\n# TYPE c counter\n";
        assert!(
            is_counter(text, "a") && !is_counter(text, "b") && is_counter(text, "c_total") && !is_counter(text, "d")
        );
    }
}
