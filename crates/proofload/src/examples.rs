//! The examples at the end of every `--help` and in the manual pages, in one table. Each is parsed by a test.

use crate::cli::Arguments;
use clap::{Command, CommandFactory};

/// The line to type, and what it does.
type Example = (&'static str, &'static str);

/// Examples of each command by its words after `proofload`; the first are those of the program.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "",
        &[
            ("proofload studies --copy memory-sweep", "take a study that comes with the program"),
            ("proofload run memory-sweep.toml", "run it; writes memory-sweep.proof and its report"),
            ("proofload init", "make a study of your own"),
        ],
    ),
    (
        "init",
        &[
            ("proofload init", "ask what, where and what varies"),
            ("proofload init --workload oltp --engine postgresql --vary memory", "ask nothing"),
            ("proofload init --workload key-value --url postgresql://bench@db1/bench", "measure a server of yours"),
            (
                "proofload init --vary 'engine.settings.cache_size=[\"4MiB\", \"64MiB\"]'",
                "vary a setting of the engine",
            ),
        ],
    ),
    (
        "studies",
        &[
            ("proofload studies", "list them"),
            ("proofload studies --show key-value", "read one"),
            ("proofload studies --copy key-value -o mine.toml", "copy one to a file, to run or change it"),
        ],
    ),
    ("validate", &[("proofload validate study.toml", "list every fault at once")]),
    (
        "plan",
        &[
            ("proofload plan study.toml", "read what would be done"),
            ("proofload plan study.toml --set study.repetitions=5", "read the same for more repetitions"),
            ("proofload plan study.toml --pilot short.proof", "learn how long a wanted interval takes"),
        ],
    ),
    (
        "run",
        &[
            ("proofload run study.toml", "write <study name>.proof and its report"),
            ("proofload run study.toml -o monday.proof", "name the record"),
            ("proofload run study.toml --plan", "read the plan, start nothing"),
            ("proofload run study.toml --set procedure.measure=10s", "measure shorter than the file says"),
            ("proofload run study.toml --set 'factor.limits.memory=[\"64MiB\"]'", "run other levels of a factor"),
        ],
    ),
    (
        "resume",
        &[
            ("proofload resume study.proof", "run what is missing"),
            ("proofload resume study.proof --void", "measure points again that are void for the host's sake"),
        ],
    ),
    ("status", &[("proofload status study.proof", "see how far it is, also while it runs")]),
    (
        "verify",
        &[
            ("proofload verify study.proof", "find out whether anything was changed"),
            ("proofload verify study.proof --allowed-signers signers", "and who signed it"),
        ],
    ),
    ("sign", &[("proofload sign study.proof --key ~/.ssh/id_ed25519", "write study.proof.sig")]),
    (
        "report",
        &[
            ("proofload report study.proof", "write study.html beside the record"),
            ("proofload report study.proof --format text", "print the table"),
            ("proofload report study.proof --format markdown -o study.md", "write Markdown"),
        ],
    ),
    (
        "compare",
        &[
            ("proofload compare before.proof after.proof", "print ratios with intervals"),
            ("proofload compare --run before.toml after.toml", "run two studies in turns, then compare them"),
            ("proofload compare before.proof after.proof --format html -o compared.html", "write a page"),
        ],
    ),
    (
        "gate",
        &[
            ("proofload gate baseline.proof candidate.proof --tolerance 3%", "fail on a loss beyond 3 %"),
            (
                "proofload gate a.proof b.proof --tolerance 3% --metric response_ns_p99=10%",
                "judge a percentile with a tolerance of its own",
            ),
        ],
    ),
    (
        "export",
        &[
            ("proofload export study.proof --format csv --table operations", "print one table"),
            ("proofload export study.proof --format csv -o tables", "write all tables to a folder"),
            ("proofload export study.proof --format openmetrics -o study.om", "write them for a time series database"),
        ],
    ),
    (
        "import",
        &[
            ("proofload import ycsb.txt -o ycsb.toml", "read a result, to draw it with report --beside ycsb.toml"),
            ("proofload import workloada --as study -o a.toml", "make a study of a YCSB property file"),
        ],
    ),
    ("tier", &[("proofload tier format cache.img --origin data=slow.img --size 1GiB", "make a pool of two files")]),
    (
        "tier format",
        &[("proofload tier format /dev/sdc --origin data=/dev/sdb --yes /dev/sdc,/dev/sdb", "make a pool of devices")],
    ),
    (
        "tier serve",
        &[(
            "proofload tier serve ssd --origin data=hdd --control pool.sock --nbd nbd.sock",
            "serve the volume on a socket",
        )],
    ),
    ("tier stats", &[("proofload tier stats pool.sock --over 10s", "show what happens in ten seconds")]),
    ("tier predict", &[("proofload tier predict study.proof --size 5GiB,10GiB", "forecast two sizes")]),
    (
        "tier drain",
        &[
            ("proofload tier drain pool.sock --within 5m", "clean a pool that is served"),
            ("proofload tier drain --cache cache.img --origin data=slow.img --detach", "set the origin free"),
        ],
    ),
    ("tier stop", &[("proofload tier stop pool.sock", "end its server")]),
    ("tier check", &[("proofload tier check cache.img --origin data=slow.img", "check all checksums")]),
    ("tier dump", &[("proofload tier dump cache.img", "list dirty ranges")]),
    (
        "tier kernel",
        &[(
            "proofload tier kernel set-up /dev/sdc --origin /dev/sdb --with bcache",
            "make a cache; --dry-run prints each command only",
        )],
    ),
    (
        "tier kernel set-up",
        &[(
            "proofload tier kernel set-up /dev/sdc --origin /dev/sdb --with bcache",
            "make a cache; --dry-run prints, --yes /dev/sdc,/dev/sdb does it",
        )],
    ),
    (
        "tier kernel stats",
        &[("proofload tier kernel stats /dev/sdc --origin /dev/sdb --with bcache --over 5s", "count for five seconds")],
    ),
    (
        "tier kernel recover",
        &[(
            "proofload tier kernel recover /dev/sdc --origin /dev/sdb --with bcache",
            "put it in place after a restart",
        )],
    ),
    (
        "tier kernel take-down",
        &[("proofload tier kernel take-down /dev/sdc --origin /dev/sdb --with bcache", "clean and remove it")],
    ),
    (
        "doctor",
        &[("proofload doctor", "look at this machine"), ("proofload doctor study.toml", "hold a study against it")],
    ),
    ("engines", &[("proofload engines", "see which engines are found here")]),
    ("workloads", &[("proofload workloads", "list them")]),
    (
        "schema",
        &[
            ("proofload schema", "print the schema, for an editor"),
            ("proofload schema --reference", "print every setting with its default"),
        ],
    ),
    ("completions", &[("proofload completions bash", "print them, for a file that the shell reads")]),
    ("man", &[("proofload man -o pages", "write them to a folder")]),
    ("agent", &[("ssh -T db1 proofload agent", "what a study names as agents.host; nobody types it")]),
];

/// The command line with its examples.
pub(crate) fn program() -> Command {
    with_examples(Arguments::command(), "")
}

/// Examples of a command by its words after `proofload`, one or more for each.
pub(crate) fn examples_of(words: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|(of, _)| *of == words).map_or(&[], |(_, examples)| examples)
}

fn with_examples(command: Command, words: &str) -> Command {
    let examples = examples_of(words);
    let command = if examples.is_empty() { command } else { command.after_help(help(examples)) };
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| {
        let below = format!("{words} {name}");
        command.mut_subcommand(name, |command| with_examples(command, below.trim_start()))
    })
}

fn help(examples: &[Example]) -> String {
    let line = |(line, does): &Example| format!("\n  {line}\n      {does}");
    format!("Examples:{}", examples.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::collections::BTreeSet;

    /// Words as a shell takes them; quotes are single ones.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut quoted, mut open) = (vec![String::new()], false, false);
        for letter in line.chars() {
            match letter {
                '\'' => quoted = !quoted,
                ' ' if !quoted => open = true,
                _ => {
                    if std::mem::take(&mut open) {
                        words.push(String::new());
                    }
                    words.last_mut().unwrap().push(letter);
                }
            }
        }
        words
    }

    #[test]
    fn every_example_is_of_its_command_and_parses() {
        for (command, examples) in EXAMPLES {
            for (line, does) in *examples {
                let own = line.strip_prefix("ssh -T db1 ").unwrap_or(line);
                let found = Arguments::try_parse_from(words(own));
                assert!(found.is_ok(), "{line}: {}", found.err().map(|error| error.to_string()).unwrap_or_default());
                assert!(own.strip_prefix("proofload ").is_some_and(|rest| rest.starts_with(command)), "{line}");
                assert!(!does.is_empty() && !does.ends_with('.'), "{line}: {does}");
                assert!(line.len() <= 78, "{line} would be broken on a terminal of 80 columns");
            }
        }
    }

    #[test]
    fn every_command_has_examples_and_every_line_a_command() {
        fn collect(command: &Command, words: &str, found: &mut BTreeSet<String>) {
            found.insert(words.to_owned());
            for below in command.get_subcommands() {
                collect(below, format!("{words} {}", below.get_name()).trim_start(), found);
            }
        }
        let mut commands = BTreeSet::new();
        collect(&Arguments::command(), "", &mut commands);
        let listed: BTreeSet<String> = EXAMPLES.iter().map(|(command, _)| (*command).to_owned()).collect();
        assert_eq!(listed, commands);
        assert!(EXAMPLES.iter().all(|(_, examples)| !examples.is_empty()));
    }
}
