//! A URL with several hosts as one for each: which of them takes writes is found by asking, and found again when it moves. Source: PostgreSQL
//! manual, "Connection Strings", "Specifying Multiple Hosts".

use super::connection::parse;

/// The URLs of each host; the whole text alone where it names one host, or where its parts are no URLs.
pub(super) fn each(text: &str) -> Vec<String> {
    let parts = if text.contains("://") { of_url(text) } else { of_words(text) };
    match parts {
        Some(parts) if parts.len() > 1 && parts.iter().all(|part| parse(part).is_ok()) => parts,
        _ => vec![text.to_owned()],
    }
}

/// `postgresql://user@a:1,b:2/name?options`.
fn of_url(text: &str) -> Option<Vec<String>> {
    let (scheme, rest) = text.split_once("://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (user, hosts) = authority.rsplit_once('@').map_or(("", authority), |(user, hosts)| (user, hosts));
    let at = if user.is_empty() { "" } else { "@" };
    Some(hosts.split(',').map(|host| format!("{scheme}://{user}{at}{host}{path}")).collect())
}

/// `host=a,b port=1,2 dbname=name`; one port holds for all hosts.
fn of_words(text: &str) -> Option<Vec<String>> {
    let words = words(text)?;
    let list = |key: &str| {
        let found = words.iter().find(|(known, _)| known == key);
        found.map_or(Vec::new(), |(_, value)| value.split(',').map(str::to_owned).collect())
    };
    let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"));
    let count = hosts.len().max(addresses.len());
    let one = |number: usize| {
        let of = |list: &[String]| list.get(number).or_else(|| list.first().filter(|_| list.len() == 1)).cloned();
        let parts = words.iter().filter_map(|(key, value)| {
            let value = match key.as_str() {
                "host" => of(&hosts)?,
                "hostaddr" => of(&addresses)?,
                "port" => of(&ports)?,
                _ => value.clone(),
            };
            Some(format!("{key}='{}'", value.replace('\\', "\\\\").replace('\'', "\\'")))
        });
        parts.collect::<Vec<_>>().join(" ")
    };
    Some((0..count).map(one).collect())
}

/// Keys and values; `None` where the text has another form.
pub(super) fn words(text: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=')?;
        let (value, left) = value(after.trim_start())?;
        found.push((key.trim().to_owned(), value));
        rest = left.trim_start();
    }
    Some(found)
}

/// The first value of a text, in quotes or up to a space, and what follows it.
fn value(text: &str) -> Option<(String, &str)> {
    let quoted = text.starts_with('\'');
    let mut letters = text.char_indices().skip(usize::from(quoted));
    let mut value = String::new();
    while let Some((place, letter)) = letters.next() {
        match letter {
            '\\' => value.push(letters.next()?.1),
            '\'' if quoted => return Some((value, &text[place + 1..])),
            _ if !quoted && letter.is_whitespace() => return Some((value, &text[place..])),
            _ => value.push(letter),
        }
    }
    (!quoted).then_some((value, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(each(text), expected, "{text}");
    }

    #[test]
    fn a_url_of_several_hosts_is_one_for_each() {
        check(
            "postgresql://me@a:1,b:2/shop?connect_timeout=2",
            &["postgresql://me@a:1/shop?connect_timeout=2", "postgresql://me@b:2/shop?connect_timeout=2"],
        );
        check("postgresql://a,b", &["postgresql://a", "postgresql://b"]);
        check("host=a,b port=1,2 dbname=x", &["host='a' port='1' dbname='x'", "host='b' port='2' dbname='x'"]);
        check(
            "host='a,b' port=5433 user='it\\'s me'",
            &["host='a' port='5433' user='it\\'s me'", "host='b' port='5433' user='it\\'s me'"],
        );
        check("host=/one/folder,/other user=u", &["host='/one/folder' user='u'", "host='/other' user='u'"]);
    }

    #[test]
    fn what_names_one_host_or_is_not_understood_stays_as_it_is() {
        for text in
            ["postgresql://me@a:1/shop", "host=/tmp port=5433", "dbname=x", "host='a,b", "postgresql://a:x,b:y/z"]
        {
            check(text, &[text]);
        }
    }
}
