//! The table of chores and the choice among them.
//!
//! A new chore is a module with a `run` function and one line in [`CHORES`]; `cargo xtask help` prints the table.

use std::io::Write;

use crate::{
    answers, causes, crash, day, dist, drills, engines, fsx, hosts, installation, kernel, loads, page, papers,
    parse_tsql, pdf, perf, policies, publish, rehearse, site, test, tidy, tsql_answers, verdicts,
};

/// One chore: what one types after `cargo xtask`.
pub(crate) struct Chore {
    /// The word on the command line.
    name: &'static str,
    /// Arguments as shown by `help`, empty when there are none.
    arguments: &'static str,
    /// What it does, in one line.
    summary: &'static str,
    /// Does it; the error is printed as it stands and makes the exit code 1.
    run: fn(&[String]) -> Result<(), String>,
}

/// Every chore there is, in the order in which `help` lists them.
pub(crate) const CHORES: &[Chore] = &[
    Chore {
        name: "tidy",
        arguments: "[--bless]",
        summary: "the project's own rules; --bless lowers the ratchet to what the tree has",
        run: tidy::run,
    },
    Chore {
        name: "answers",
        arguments: "--scale SCALE | --check [--scale SCALE] [engine=NAME]",
        summary: "compute the warehouse's golden answers with DuckDB and PostgreSQL and write them if they agree; --check only compares, and with engine=NAME those of that engine",
        run: answers::run,
    },
    Chore {
        name: "causes",
        arguments: "[NUMBER …] [blocks=12] [step=0.2] [program=PATH] [keep=FOLDER]",
        summary: "run studies with a planted cause on SQLite, PostgreSQL and MariaDB, and tell whether experiments name it",
        run: causes::run,
    },
    Chore {
        name: "crash",
        arguments: "[KILLS] | tier [STATES]",
        summary: "kill conductor, agents and servers at random instants (1,000 times), or look at 1,000,000 states that a loss of power leaves of the cache tier, and prove that nothing is lost",
        run: crash::run,
    },
    Chore {
        name: "day",
        arguments: "[SECONDS | runs=RUNS]",
        summary: "write a record of a day of load, open it and render it, and tell memory, time and bytes; or show a plan of many runs, and tell CPU seconds",
        run: day::run,
    },
    Chore {
        name: "dist",
        arguments: "[TARGET …] [pdf=no]",
        summary: "build the files of a release into dist/: archives, Debian packages, Python wheels, symbols, checksums; without a TARGET for all that can be built here; pdf=no leaves out the typesetter",
        run: dist::run,
    },
    Chore {
        name: "drills",
        arguments: "[outages|losses|planted|lossless|kills][=TIMES]",
        summary: "1,000 scripted outages on real sockets, 200 planted losses, 200 failovers with losses, holes, phantoms, doubles or a second primary, 1,000 drills without a loss, 100 kills while a drill goes on",
        run: drills::run,
    },
    Chore {
        name: "engines",
        arguments: "",
        summary: "write docs/engines.md: engines, what each can do and how it is tested",
        run: engines::run,
    },
    Chore {
        name: "fsx",
        arguments: "[ROUNDS]",
        summary: "install fsx where it is missing, and exercise ext4 and xfs on a cache tier under FUSE and loop devices, 20 rounds each",
        run: fsx::run,
    },
    Chore {
        name: "hosts",
        arguments: "[ssh] [slurm] [kubernetes] [program=PATH]",
        summary: "run loads by ssh between network namespaces and by a real Slurm, cut links, kill hosts, change keys, and validate the objects for Kubernetes",
        run: hosts::run,
    },
    Chore {
        name: "installation",
        arguments: "[FOLDER]",
        summary: "install what dist made, each package into a folder of its own, and run a study from it as an ordinary user; ARM is emulated",
        run: installation::run,
    },
    Chore {
        name: "kernel",
        arguments: "[GROUP …] [--json]",
        summary: "boot Debian's kernel under QEMU and prove in it caches of the kernel, limits by control groups of version 2, reflinks, netem, ublk, and that flushes of a cache tier reach its devices",
        run: kernel::run,
    },
    Chore {
        name: "loads",
        arguments: "[LOADS]",
        summary: "load key-value data 10,000 times, killed at random instants, and prove that every record is there",
        run: loads::run,
    },
    Chore {
        name: "page",
        arguments: "[HOURS]",
        summary: "show eight hours of a study in one tab of Chromium, and tell what the tab takes of memory after each",
        run: page::run,
    },
    Chore {
        name: "papers",
        arguments: "[page|check] [P1 …] [key=PATH] [program=PATH]",
        summary: "run the quick studies of the five papers, sign their records and write docs/papers.md; page only writes it, check only proves it",
        run: papers::run,
    },
    Chore {
        name: "parse-tsql",
        arguments: "",
        summary: "have Microsoft's parser read every T-SQL text, with wrong ones as control; SKIPPED where it cannot be installed",
        run: parse_tsql::run,
    },
    Chore {
        name: "pdf",
        arguments: "[program=PATH] [RECORD …]",
        summary: "build proofload-pdf and look at the papers that it makes: pages, tags, fonts, order of the text, the same bytes twice; needs poppler-utils",
        run: pdf::run,
    },
    Chore {
        name: "perf",
        arguments: "[oltp [rounds=5] [seconds=20] [warehouses=10] [users=4] [only=CLIENTS]]",
        summary: "run the benches that goals are stated for, or TPROC-C beside other clients; keep the result in benches/history.jsonl",
        run: perf::run,
    },
    Chore {
        name: "policies",
        arguments: "[WAREHOUSES] [SECONDS]",
        summary: "compare the policies of the cache tier on the references of a TPROC-C load on SQLite (2 warehouses, 120 s)",
        run: policies::run,
    },
    Chore {
        name: "publish",
        arguments: "[verify]",
        summary: "pack every crate in order as crates.io would get it, by a dry run; verify also builds each from its package, 7 min of CPU",
        run: publish::run,
    },
    Chore {
        name: "rehearse",
        arguments: "[OPERATIONS]",
        summary: "run the key-value paper study in full against the null engine",
        run: rehearse::run,
    },
    Chore {
        name: "site",
        arguments: "[FOLDER]",
        summary: "the documentation as a site with a search, in target/site or FOLDER; needs mdBook; all links are checked",
        run: site::run,
    },
    Chore {
        name: "test",
        arguments: "[--lint] [--no-run] [--ignored=WORD] [CARGO ARGUMENTS]",
        summary: "all tests, programs that do not disturb each other side by side; with --lint, what is compiled is linted; with --ignored, only ignored tests with WORD in their names",
        run: test::run,
    },
    Chore {
        name: "tsql-answers",
        arguments: "",
        summary: "execute T-SQL texts translated for DuckDB: the warehouse's queries against the golden answers, TPROC-C's statements and procedures against the standard texts, wrong ones as control; SKIPPED where sqlglot and DuckDB cannot be installed",
        run: tsql_answers::run,
    },
    Chore {
        name: "verdicts",
        arguments: "[TRIALS]",
        summary: "run warehouse studies with a throttled device or throttled cores (10 of each) and prove that the verdict on the bound is right",
        run: verdicts::run,
    },
    Chore { name: "help", arguments: "", summary: "this list", run: help },
];

/// Runs the chore named by the first argument; without one, lists them.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let Some((name, rest)) = arguments.split_first() else {
        return help(&[]);
    };
    let chore = CHORES.iter().find(|chore| chore.name == name);
    match chore {
        Some(chore) => (chore.run)(rest),
        None => Err(format!("there is no chore \"{name}\"; cargo xtask help lists them")),
    }
}

fn help(_: &[String]) -> Result<(), String> {
    let mut text = String::from("usage: cargo xtask <chore>\n\n");
    for chore in CHORES {
        let usage = format!("{} {}", chore.name, chore.arguments);
        text.push_str(&format!("  {usage:<20} {}\n", chore.summary));
    }
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| format!("printed the chores: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_chore_is_refused_and_says_where_the_list_is() {
        let error = run(&["sweep".to_owned()]).unwrap_err();
        assert!(error.contains("\"sweep\"") && error.contains("cargo xtask help"), "{error}");
    }

    #[test]
    fn no_two_chores_have_one_name() {
        let mut names: Vec<_> = CHORES.iter().map(|chore| chore.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CHORES.len());
    }

    #[test]
    fn an_unknown_comparison_is_refused() {
        let error = run(&["perf".to_owned(), "olap".to_owned()]).unwrap_err();
        assert!(error.contains("\"olap\"") && error.contains("perf oltp"), "{error}");
    }
}
