//! The last lines of `run` and `resume`: the verdict, what was written, what to do next. The exit code is `verdict`'s.

use crate::exit::Exit;
use crate::output;
use proofload_record::Record;
use proofload_report::findings::{Findings, Verdict, Void, VoidClass, evaluate};
use proofload_report::{Format, render};
use std::collections::BTreeSet;
use std::path::Path;

/// Bytes at the beginning of a page that `report` wrote.
const OURS: &str = "<meta name=\"generator\" content=\"Proofload\">";

/// Prints the last lines of a study that came to its end; its report is written unless nobody wants one.
pub(crate) fn tell(record: &Record, path: &Path, with_report: bool) -> Exit {
    let exit = super::verdict::exit_of(record);
    let findings = evaluate(record);
    output::note("");
    output::note(&verdict(&findings));
    output::note(&format!("record   {}", path.display()));
    if with_report {
        match write_report(record, path) {
            Ok(file) => output::note(&format!("report   {file}")),
            Err(text) => output::note(&format!("report   not written: {text}")),
        }
    }
    for line in next(&findings, path) {
        output::note(&format!("next     {line}"));
    }
    if exit != Exit::Good {
        output::note(&format!("exit     {}: {}", exit.number(), exit.meaning()));
    }
    exit
}

/// How many points are results.
fn verdict(findings: &Findings<'_>) -> String {
    let all = findings.points.len();
    let valid = findings.points.iter().filter(|point| point.verdict.is_valid()).count();
    let points = if all == 1 { "point" } else { "points" };
    match valid {
        0 => format!("verdict  no result: none of {all} {points} is valid"),
        _ => format!("verdict  {valid} of {all} {points} valid"),
    }
}

/// Writes the page beside the record, over an earlier page of ours only.
fn write_report(record: &Record, path: &Path) -> Result<String, String> {
    let file = path.with_extension("html");
    if file == path {
        return Err(format!("the record itself is called {}", path.display()));
    }
    let shown = file.display();
    if file.exists() && !is_ours(&file) {
        let named = format!("proofload report {} -o FILE", path.display());
        return Err(format!("{shown} exists and is not a report of Proofload; give a name with: {named}"));
    }
    let page = render(record, Format::Html).map_err(|error| error.to_string())?;
    std::fs::write(&file, page).map_err(|error| format!("writing {shown}: {error}"))?;
    Ok(shown.to_string())
}

/// Whether a file is a page that Proofload made.
pub(super) fn is_ours(file: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(1_024).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(OURS)
}

/// What to do with void points, by the classes of their reasons; one line each.
fn next(findings: &Findings<'_>, path: &Path) -> Vec<String> {
    let of_points = findings.points.iter().map(|point| reasons_of(&point.verdict));
    let classes: BTreeSet<VoidClass> = of_points.clone().flatten().map(|reason| reason.class).collect();
    let mut lines: Vec<String> = classes.into_iter().map(|class| class.remedy().to_owned()).collect();
    let again = of_points.filter(|reasons| super::run::is_mendable(reasons)).count();
    if again > 0 {
        let points = super::verdict::counted(again, "void point");
        lines.push(format!("proofload resume {} --void   measures {points} again", path.display()));
    }
    lines
}

/// Reasons of a void point; none of others.
fn reasons_of(verdict: &Verdict) -> &[Void] {
    match verdict {
        Verdict::Void(reasons) => reasons,
        Verdict::Valid | Verdict::Wide | Verdict::NotRun(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_page_is_recognised() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("page.html");
        std::fs::write(&file, format!("<!DOCTYPE html>\n{OURS}\n")).unwrap();
        assert!(is_ours(&file));
        std::fs::write(&file, "<!DOCTYPE html>\nmy own notes\n").unwrap();
        assert!(!is_ours(&file));
        assert!(!is_ours(&folder.path().join("missing.html")));
    }
}
