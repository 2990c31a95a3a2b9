//! What an account may do, as `SHOW GRANTS` tells it of the session that asks, its enabled roles included: read into types. Source: MariaDB
//! knowledge base, "GRANT" and "SHOW GRANTS"; MySQL manual, "Privileges Provided by MySQL", "SHOW GRANTS Statement", "Privilege Restriction
//! Using Partial Revokes".

/// A privilege that something here needs, or that includes others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engines) enum Privilege {
    /// Every privilege of a scope.
    All,
    Alter,
    AlterRoutine,
    Create,
    CreateRoutine,
    CreateTemporaryTables,
    Delete,
    Drop,
    Execute,
    Index,
    Insert,
    Process,
    /// `REPLICATION CLIENT`, which MariaDB calls `BINLOG MONITOR` since 10.5.
    ReplicationClient,
    ReplicationMasterAdmin,
    ReplicationSlave,
    Select,
    SessionVariablesAdmin,
    Super,
    SystemVariablesAdmin,
    Update,
}

/// How the servers spell them.
const WORDS: &[(&str, Privilege)] = &[
    ("ALL PRIVILEGES", Privilege::All),
    ("ALL", Privilege::All),
    ("ALTER", Privilege::Alter),
    ("ALTER ROUTINE", Privilege::AlterRoutine),
    ("BINLOG MONITOR", Privilege::ReplicationClient),
    ("CREATE", Privilege::Create),
    ("CREATE ROUTINE", Privilege::CreateRoutine),
    ("CREATE TEMPORARY TABLES", Privilege::CreateTemporaryTables),
    ("DELETE", Privilege::Delete),
    ("DROP", Privilege::Drop),
    ("EXECUTE", Privilege::Execute),
    ("INDEX", Privilege::Index),
    ("INSERT", Privilege::Insert),
    ("PROCESS", Privilege::Process),
    ("REPLICATION CLIENT", Privilege::ReplicationClient),
    ("REPLICATION MASTER ADMIN", Privilege::ReplicationMasterAdmin),
    ("REPLICATION SLAVE", Privilege::ReplicationSlave),
    ("SELECT", Privilege::Select),
    ("SESSION_VARIABLES_ADMIN", Privilege::SessionVariablesAdmin),
    ("SUPER", Privilege::Super),
    ("SYSTEM_VARIABLES_ADMIN", Privilege::SystemVariablesAdmin),
    ("UPDATE", Privilege::Update),
];

/// Where a grant holds.
#[derive(Debug, Clone, PartialEq, Eq)]
enum GrantScope {
    /// Every database, and the server itself.
    Server,
    /// The databases of a pattern, in which `_` is any letter, `%` any text, and `\` takes the meaning from the letter behind it.
    Databases(String),
}

/// One line of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Grant {
    privileges: Vec<Privilege>,
    scope: GrantScope,
    /// The account or the role that it is given to, as the line names it.
    account: String,
    /// Takes away what a grant for the server has given.
    revokes: bool,
}

impl Grant {
    /// Reads a line; `None` for what is of a table, of a routine, of a role or of another account.
    fn read(line: &str) -> Option<Self> {
        let line = line.trim();
        let (revokes, rest) = match line.strip_prefix("GRANT ") {
            Some(rest) => (false, rest),
            None => (true, line.strip_prefix("REVOKE ")?),
        };
        let (words, place) = rest.split_once(" ON ")?;
        let known = |word: &str| WORDS.iter().find(|(known, _)| word.trim().eq_ignore_ascii_case(known));
        let privileges = words.split(',').filter_map(known).map(|(_, privilege)| *privilege).collect();
        let (_, account) = place.rsplit_once(if revokes { " FROM " } else { " TO " })?;
        let account = account.split(" WITH ").next().unwrap_or(account).to_owned();
        Some(Self { privileges, scope: scope(place)?, account, revokes })
    }

    /// Place of the first wildcard of its pattern, of which the last fits a database best; `None` where it does not fit.
    fn fit(&self, database: &str) -> Option<usize> {
        match &self.scope {
            GrantScope::Databases(pattern) if fits(pattern, database) => Some(first_wildcard(pattern)),
            _ => None,
        }
    }

    fn has(&self, privilege: Privilege) -> bool {
        self.privileges.contains(&privilege) || self.privileges.contains(&Privilege::All)
    }
}

/// The scope that begins a text; `None` for that of a table or a routine.
fn scope(text: &str) -> Option<GrantScope> {
    if text.starts_with("*.*") {
        return Some(GrantScope::Server);
    }
    let (name, rest) = quoted(text)?;
    rest.starts_with(".*").then_some(GrantScope::Databases(name))
}

/// The name in quotes that begins a text, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|letter| matches!(letter, '`' | '"'))?;
    let mut rest = text.strip_prefix(quote)?;
    let mut name = String::new();
    loop {
        let (before, after) = rest.split_once(quote)?;
        name.push_str(before);
        match after.strip_prefix(quote) {
            Some(more) => {
                name.push(quote);
                rest = more;
            }
            None => return Some((name, after)),
        }
    }
}

/// Whether a name fits a pattern of databases.
fn fits(pattern: &str, name: &str) -> bool {
    let mut letters = pattern.chars();
    let (wanted, rest) = match letters.next() {
        None => return name.is_empty(),
        Some('%') => {
            let rest = letters.as_str();
            return name.char_indices().any(|(place, _)| fits(rest, &name[place..])) || fits(rest, "");
        }
        Some('_') => (None, letters.as_str()),
        Some('\\') => (Some(letters.next().unwrap_or('\\')), letters.as_str()),
        Some(letter) => (Some(letter), letters.as_str()),
    };
    let mut given = name.chars();
    given.next().is_some_and(|found| wanted.is_none_or(|wanted| wanted == found)) && fits(rest, given.as_str())
}

/// Place of the first wildcard of a pattern of databases; behind every other where there is none.
fn first_wildcard(pattern: &str) -> usize {
    let mut is_literal = false;
    for (place, letter) in pattern.char_indices() {
        match letter {
            _ if is_literal => is_literal = false,
            '\\' => is_literal = true,
            '%' | '_' => return place,
            _ => {}
        }
    }
    usize::MAX
}

/// All that an account may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grants(Vec<Grant>);

impl Grants {
    /// Reads the lines of the answer.
    pub(super) fn read<'t>(lines: impl Iterator<Item = &'t str>) -> Self {
        Self(lines.filter_map(Grant::read).collect())
    }

    /// Tells whether the account has a privilege for the whole server.
    pub(super) fn at_server(&self, privilege: Privilege) -> bool {
        let is_it = |grant: &Grant| !grant.revokes && grant.scope == GrantScope::Server && grant.has(privilege);
        self.0.iter().any(is_it)
    }

    /// Tells whether the account has a privilege in all of a database. Of the patterns that fit it, a server looks at one for each account and
    /// each role: that with the most letters before its first wildcard. Source: MySQL manual, "Access Control, Stage 2: Request Verification".
    pub(super) fn in_database(&self, privilege: Privilege, database: &str) -> bool {
        let is_best = |grant: &Grant, fit: usize| {
            let others = self.0.iter().filter(|other| !other.revokes && other.account == grant.account);
            others.filter_map(|other| other.fit(database)).all(|other| other <= fit)
        };
        let gives = |grant: &Grant| {
            !grant.revokes && grant.has(privilege) && grant.fit(database).is_some_and(|fit| is_best(grant, fit))
        };
        let takes = |grant: &Grant| grant.revokes && grant.has(privilege) && grant.fit(database).is_some();
        self.0.iter().any(gives) || (self.at_server(privilege) && !self.0.iter().any(takes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], privilege: Privilege, database: &str, expected: (bool, bool)) {
        let grants = Grants::read(lines.iter().copied());
        assert_eq!(
            (grants.at_server(privilege), grants.in_database(privilege, database)),
            expected,
            "{privilege:?} of {lines:?}"
        );
    }

    #[test]
    fn answers_of_mariadb_are_read() {
        let visitor = [
            "GRANT USAGE ON *.* TO `visitor`@`127.0.0.1` IDENTIFIED BY PASSWORD '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'",
            "GRANT ALL PRIVILEGES ON `shop`.* TO `visitor`@`127.0.0.1`",
        ];
        check(&visitor, Privilege::Create, "shop", (false, true));
        check(&visitor, Privilege::Create, "shop2", (false, false));
        check(&visitor, Privilege::Process, "shop", (false, true));
        let root = [
            "GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION",
            "GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION",
        ];
        check(&root, Privilege::Super, "shop", (true, true));
        let watcher = ["GRANT PROCESS, BINLOG MONITOR ON *.* TO `watcher`@`%`", "GRANT `reader` TO `watcher`@`%`"];
        check(&watcher, Privilege::ReplicationClient, "shop", (true, true));
        check(&watcher, Privilege::Select, "shop", (false, false));
    }

    #[test]
    fn answers_of_mysql_are_read() {
        let lines = [
            "GRANT SELECT, INSERT, CREATE ROUTINE, REPLICATION CLIENT ON *.* TO `me`@`%`",
            "GRANT SESSION_VARIABLES_ADMIN,XA_RECOVER_ADMIN ON *.* TO `me`@`%`",
            "REVOKE INSERT ON `shop`.* FROM `me`@`%`",
            "GRANT `app`@`%` TO `me`@`%`",
        ];
        check(&lines, Privilege::CreateRoutine, "shop", (true, true));
        check(&lines, Privilege::Create, "shop", (false, false));
        check(&lines, Privilege::SessionVariablesAdmin, "shop", (true, true));
        check(&lines, Privilege::Insert, "shop", (true, false));
        check(&lines, Privilege::Insert, "other", (true, true));
    }

    #[test]
    fn of_several_patterns_the_most_specific_holds_for_each_account() {
        let lines = [
            "GRANT ALL PRIVILEGES ON `%`.* TO `me`@`%` WITH GRANT OPTION",
            "GRANT SELECT, INSERT ON `shop\\_%`.* TO `me`@`%`",
            "GRANT SELECT ON `shop\\_one`.* TO `me`@`%`",
            "GRANT UPDATE ON `shop\\_one`.* TO `me`@`%` WITH GRANT OPTION",
        ];
        check(&lines, Privilege::Select, "shop_one", (false, true));
        check(&lines, Privilege::Update, "shop_one", (false, true));
        check(&lines, Privilege::Insert, "shop_one", (false, false));
        check(&lines, Privilege::Insert, "shop_two", (false, true));
        check(&lines, Privilege::Drop, "shop_two", (false, false));
        check(&lines, Privilege::Drop, "other", (false, true));
        let of_role = [&lines[..], &["GRANT DROP ON `shop%`.* TO `owners`"]].concat();
        check(&of_role, Privilege::Drop, "shop_one", (false, true));
    }

    #[test]
    fn tables_columns_and_routines_are_no_databases() {
        for line in [
            "GRANT SELECT, INSERT ON `shop`.`orders` TO `me`@`%`",
            "GRANT SELECT (`a`, `b`), INSERT ON `shop`.`orders` TO `me`@`%`",
            "GRANT EXECUTE ON PROCEDURE `shop`.`pay` TO `me`@`%`",
            "SET DEFAULT ROLE `app` FOR `me`@`%`",
        ] {
            assert_eq!(Grant::read(line), None, "{line}");
        }
    }

    #[test]
    fn names_are_patterns_and_quotes_are_doubled() {
        assert!(fits("proofload\\_%", "proofload_selftest") && !fits("proofload\\_%", "proofloads"));
        assert!(fits("a_c", "abc") && fits("%", "") && fits("%", "x") && fits("a%c%", "abcd") && !fits("a_c", "ac"));
        let line = "GRANT DROP ON `it``s`.* TO `me`@`%`";
        check(&[line], Privilege::Drop, "it`s", (false, true));
    }
}
