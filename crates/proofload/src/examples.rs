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
            ("proofload studies --copy memory-sweep", "copy a built-in study"),
            ("proofload run memory-sweep.toml", "run it; writes memory-sweep.proof and its report"),
            ("proofload init", "create your own study"),
        ],
    ),
    (
        "init",
        &[
            ("proofload init", "ask what to measure, where, and what varies"),
            ("proofload init --workload oltp --engine postgresql --vary memory", "ask nothing"),
            ("proofload init --workload key-value --url postgresql://bench@db1/bench", "measure your own server"),
            ("proofload init --vary 'engine.settings.cache_size=[\"4MiB\", \"64MiB\"]'", "vary an engine setting"),
        ],
    ),
    (
        "studies",
        &[
            ("proofload studies", "list them"),
            ("proofload studies --show key-value", "read one"),
            ("proofload studies --copy key-value -o mine.toml", "copy one to a file to run or edit"),
        ],
    ),
    ("validate", &[("proofload validate study.toml", "list every fault at once")]),
    (
        "plan",
        &[
            ("proofload plan study.toml", "show what would be done"),
            ("proofload plan study.toml --set study.repetitions=5", "show the plan with more repetitions"),
            ("proofload plan study.toml --pilot short.proof", "estimate how long a wanted interval takes"),
        ],
    ),
    (
        "run",
        &[
            ("proofload run study.toml", "write <study name>.proof and its report"),
            ("proofload run study.toml -o monday.proof", "name the record"),
            ("proofload run study.toml --plan", "show the plan, start nothing"),
            ("proofload run study.toml --set procedure.measure=10s", "measure for a shorter time than the file says"),
            ("proofload run study.toml --set 'factor.limits.memory=[\"64MiB\"]'", "run other levels of a factor"),
        ],
    ),
    (
        "watch",
        &[
            ("proofload watch study.proof", "serve the page of a record on http://127.0.0.1:7070/"),
            ("proofload watch study.proof --listen 127.0.0.1:0", "take any free port"),
        ],
    ),
    (
        "resume",
        &[
            ("proofload resume study.proof", "run the missing runs"),
            ("proofload resume study.proof --void", "repeat points that are void because of the host"),
            ("proofload resume study.proof --void --wait 2h", "the same, once the host is quiet, after 2 h at most"),
        ],
    ),
    (
        "confirm",
        &[
            ("proofload confirm study.proof", "find out what bound the largest point"),
            ("proofload confirm study.proof --points knee --plan", "show which points, and how long it takes at most"),
            ("proofload confirm study.proof --points 1,4 --step 0.3", "lower by 30 %, on a host that is not quiet"),
        ],
    ),
    ("status", &[("proofload status study.proof", "show progress, also while the study runs")]),
    (
        "verify",
        &[
            ("proofload verify study.proof", "check whether anything was changed"),
            ("proofload verify study.proof --allowed-signers signers", "check who signed it"),
        ],
    ),
    ("sign", &[("proofload sign study.proof --key ~/.ssh/id_ed25519", "write study.proof.sig")]),
    (
        "report",
        &[
            ("proofload report study.proof", "write study.html beside the record"),
            ("proofload report study.proof --format text", "print the table"),
            ("proofload report study.proof --format markdown -o study.md", "write Markdown"),
            ("proofload report study.proof -o study.pdf", "write a PDF; needs the program proofload-pdf"),
        ],
    ),
    (
        "compare",
        &[
            ("proofload compare before.proof after.proof", "print ratios with intervals"),
            ("proofload compare --run before.toml after.toml", "run two studies in turns, then compare them"),
            ("proofload compare before.proof after.proof --format html -o compared.html", "write an HTML page"),
        ],
    ),
    (
        "gate",
        &[
            ("proofload gate baseline.proof candidate.proof --tolerance 3%", "fail on a loss of more than 3 %"),
            (
                "proofload gate a.proof b.proof --tolerance 3% --metric response_ns_p99=10%",
                "give a percentile its own tolerance",
            ),
            ("proofload gate records/ candidate.proof --tolerance 3%", "against the newest record of the same study"),
        ],
    ),
    (
        "history",
        &[
            ("proofload history records/", "list the records of every study, and where a figure changed its level"),
            ("proofload history records/ --study memory-sweep -o history.html", "write the page of one study"),
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
            ("proofload import ycsb.txt -o ycsb.toml", "import a result for report --beside ycsb.toml"),
            ("proofload import workloada --as study -o a.toml", "turn a YCSB property file into a study"),
        ],
    ),
    ("tier", &[("proofload tier format cache.img --origin data=slow.img --size 1GiB", "create a pool from two files")]),
    (
        "tier format",
        &[(
            "proofload tier format /dev/sdc --origin data=/dev/sdb --yes /dev/sdc,/dev/sdb",
            "create a pool from devices",
        )],
    ),
    (
        "tier serve",
        &[(
            "proofload tier serve ssd --origin data=hdd --control pool.sock --nbd nbd.sock",
            "serve the volume on a socket",
        )],
    ),
    ("tier stats", &[("proofload tier stats pool.sock --over 10s", "show the activity of ten seconds")]),
    ("tier predict", &[("proofload tier predict study.proof --size 5GiB,10GiB", "forecast two sizes")]),
    (
        "tier drain",
        &[
            ("proofload tier drain pool.sock --within 5m", "clean a pool that is being served"),
            (
                "proofload tier drain --cache cache.img --origin data=slow.img --detach",
                "detach the origin from its cache",
            ),
        ],
    ),
    (
        "tier resize",
        &[(
            "proofload tier resize cache.img --origin data=slow.img --size 500MiB",
            "make the cache of a stopped pool smaller",
        )],
    ),
    ("tier stop", &[("proofload tier stop pool.sock", "stop its server")]),
    ("tier check", &[("proofload tier check cache.img --origin data=slow.img", "check all checksums")]),
    ("tier dump", &[("proofload tier dump cache.img", "list dirty ranges")]),
    (
        "tier kernel",
        &[(
            "proofload tier kernel set-up /dev/sdc --origin /dev/sdb --with bcache",
            "refused without --yes /dev/sdc,/dev/sdb; --dry-run prints the commands",
        )],
    ),
    (
        "tier kernel set-up",
        &[(
            "proofload tier kernel set-up /dev/sdc --origin /dev/sdb --with bcache",
            "refused without --yes /dev/sdc,/dev/sdb, which runs it; --dry-run prints the commands",
        )],
    ),
    (
        "tier kernel stats",
        &[("proofload tier kernel stats /dev/sdc --origin /dev/sdb --with bcache --over 5s", "count for five seconds")],
    ),
    (
        "tier kernel recover",
        &[("proofload tier kernel recover /dev/sdc --origin /dev/sdb --with bcache", "restore it after a reboot")],
    ),
    (
        "tier kernel take-down",
        &[("proofload tier kernel take-down /dev/sdc --origin /dev/sdb --with bcache", "clean and remove it")],
    ),
    (
        "doctor",
        &[("proofload doctor", "check this machine"), ("proofload doctor study.toml", "check it against a study")],
    ),
    ("agents", &[("proofload agents study.toml", "before a run on several machines")]),
    ("engines", &[("proofload engines", "show which engines are available here")]),
    (
        "selftest",
        &[
            ("proofload selftest --engine postgresql", "test a local instance in a temporary folder"),
            ("proofload selftest --engine postgresql --url postgresql://me@db1/bench", "test your own server"),
            (
                "proofload selftest --engine sqlserver --url URL --changes allowed",
                "test backup, restore and limits as well",
            ),
            ("proofload selftest --check selftest.json", "check a result that was sent"),
        ],
    ),
    (
        "release",
        &[(
            "proofload release --engine sqlserver URL --yes db1:1433/bench",
            "put its settings back; --yes repeats host and database of the URL",
        )],
    ),
    ("workloads", &[("proofload workloads", "list them")]),
    (
        "schema",
        &[
            ("proofload schema", "print the schema, for an editor"),
            ("proofload schema --reference", "print every setting with its default"),
        ],
    ),
    ("completions", &[("proofload completions bash", "print them for your shell")]),
    ("man", &[("proofload man -o pages", "write them to a folder; read one with man -l pages/proofload.1")]),
    ("agent", &[("ssh -T db1 proofload agent", "used in a study as agents.host; not meant to be typed")]),
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
