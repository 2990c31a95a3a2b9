//! URLs of servers that run already, as far as they tell on which machine these are. Asks no resolver.

/// Tells whether every host of a URL, or of keywords such as `host=a,b`, is the one that asks.
pub fn is_of_this_host(url: &str) -> bool {
    let named = |word: &str| word.strip_prefix("host=").or_else(|| word.strip_prefix("hostaddr=")).map(str::to_owned);
    let listed: Vec<String> = match url.split_once("://") {
        Some((_, rest)) => {
            let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
            let authority = place.split('/').next().unwrap_or_default();
            let hosts = authority.rsplit_once('@').map_or(authority, |(_, hosts)| hosts);
            [hosts.to_owned()].into_iter().chain(query.split('&').filter_map(named)).collect()
        }
        None => {
            let words = url.replace(" =", "=").replace("= ", "=");
            words.split_whitespace().filter_map(named).map(|hosts| hosts.trim_matches('\'').to_owned()).collect()
        }
    };
    let mut hosts = listed.iter().flat_map(|hosts| hosts.split(','));
    hosts.all(|host| {
        let port = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
        let name = port.map_or(host, |(name, _)| name);
        // An instance of SQL Server has its name behind that of the host.
        let name = name.split('\\').next().unwrap_or(name);
        let is_socket = name.is_empty() || name.starts_with(['/', '%']);
        let is_loopback = name.starts_with("127.") && name.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
        is_socket || is_loopback || name.eq_ignore_ascii_case("localhost") || name == "[::1]" || host == "::1"
    })
}

#[cfg(test)]
mod tests {
    use super::is_of_this_host;

    #[test]
    fn a_url_of_another_host_is_told_from_one_of_this_host() {
        for here in [
            "postgresql://localhost/db",
            "postgresql://me@127.0.0.1:5432/db",
            "postgresql://[::1]:5432/db",
            "postgresql:///db",
            "postgresql://%2Frun%2Fpostgresql/db",
            "host=/run/postgresql dbname=db",
            "dbname=db",
            "host = 'localhost' dbname=db",
            "postgresql:///db?host=/run/postgresql&user=me",
            "mysql://me@LOCALHOST:3306/db",
            r"sqlserver://me@localhost\EXPRESS/db",
            "hostaddr=::1 dbname=db",
        ] {
            assert!(is_of_this_host(here), "{here}");
        }
        for other in [
            "postgresql://db1",
            "postgresql://me@db1:5432/db",
            "postgresql://localhost,db1/db",
            "postgresql:///db?user=me&host=db1",
            "host=db1,db2",
            "host = db1 dbname=db",
            "hostaddr=10.0.0.1",
            "postgresql://127.example.org/db",
            "postgresql://localhost.example.org/db",
        ] {
            assert!(!is_of_this_host(other), "{other}");
        }
    }
}
