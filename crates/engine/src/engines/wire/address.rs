//! Hosts of server URLs of the form `scheme://user@host:port,host:port/path`, as several engines write them.

/// Host and port, else the usual port; an IPv6 address stands in brackets. `None` where the port is no number.
pub(crate) fn host_and_port(host: &str, usual: u16) -> Option<(&str, u16)> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => host.find(':').map_or((host, ""), |place| host.split_at(place)),
    };
    let port = if rest.is_empty() { usual } else { rest.strip_prefix(':')?.parse().ok()? };
    Some((name, port))
}

/// The URLs of each host; the whole text alone where it names one host, or one of them is not understood.
pub(crate) fn each_host(text: &str, is_understood: impl Fn(&str) -> bool) -> Vec<String> {
    let parts = || {
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (user, hosts) = authority.rsplit_once('@').map_or(("", authority), |(user, hosts)| (user, hosts));
        let at = if user.is_empty() { "" } else { "@" };
        Some(hosts.split(',').map(|host| format!("{scheme}://{user}{at}{host}{path}")).collect::<Vec<_>>())
    };
    match parts() {
        Some(parts) if parts.len() > 1 && parts.iter().all(|part| is_understood(part)) => parts,
        _ => vec![text.to_owned()],
    }
}
