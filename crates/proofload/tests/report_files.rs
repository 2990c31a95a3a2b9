//! What `report` and `compare` write beside the page: figures as files, tables as CSV, the form that a file's ending asks for; and the logo.

mod support;

use support::synthetic::Synthetic;
use support::{Bench, small_study, text};

fn bench(name: &str) -> Bench {
    let bench = Bench::new(name);
    Synthetic { repetitions: 1, ..Synthetic::of(400.0, 1) }.write(&bench.path("x.proof"));
    bench
}

#[track_caller]
fn run(bench: &Bench, arguments: &[&str], code: i32) -> String {
    let output = bench.run(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stderr)
}

/// Whether every element is closed in the order in which it was opened.
fn is_well_formed(xml: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for tag in xml.split('<').skip(1) {
        let Some((tag, _)) = tag.split_once('>') else { return false };
        match (tag.strip_prefix('/'), tag.ends_with('/')) {
            (Some(name), _) if open.pop() != Some(name) => return false,
            (None, false) => open.push(tag.split(' ').next().unwrap_or(tag)),
            _ => {}
        }
    }
    open.is_empty()
}

#[test]
fn an_ending_that_stands_for_no_format_is_refused() {
    let bench = bench("ending");
    let told = run(&bench, &["report", "x.proof", "-o", "x.docx"], 1);
    assert!(told.contains("the ending .docx stands for no format") && !bench.path("x.docx").exists(), "{told}");
    run(&bench, &["report", "x.proof", "-o", "x.docx", "--format", "text"], 0);
    run(&bench, &["report", "x.proof", "-o", "page"], 0);
    assert!(std::fs::read_to_string(bench.path("page")).is_ok_and(|page| page.starts_with("<!DOCTYPE html>")));
}

#[test]
fn every_figure_is_a_drawing_that_stands_alone_and_its_data() {
    let bench = bench("figures");
    let told = run(&bench, &["report", "x.proof", "--figures", "figures"], 0);
    let mut names: Vec<String> = std::fs::read_dir(bench.path("figures"))
        .expect("the folder was made")
        .map(|entry| entry.expect("it is read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(told.contains(&format!("{} figures in figures", names.len() / 2)), "{told}");
    assert!(names.len() >= 8 && names.iter().any(|name| name == "figure-2-setup.svg"), "{names:?}");
    for name in &names {
        let content = std::fs::read_to_string(bench.path("figures").join(name)).expect("a text");
        match name.ends_with(".svg") {
            true => assert!(
                content.starts_with("<svg xmlns=") && is_well_formed(&content) && !content.contains("var("),
                "{name}: {content}"
            ),
            false => assert!(content.lines().count() > 1 && content.contains(','), "{name}: {content}"),
        }
    }
    let told = run(&bench, &["report", "x.proof", "--figures", "figures"], 1);
    assert!(told.contains("exists; replace it with --overwrite"), "{told}");
    run(&bench, &["report", "x.proof", "--figures", "figures", "--overwrite"], 0);
}

#[test]
fn a_table_has_a_row_for_each_point_with_intervals() {
    let bench = bench("points");
    let output = bench.run(&["report", "x.proof", "--format", "points"]);
    let told = text(&output.stdout);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[0].contains("Throughput") && lines[0].contains("low") && lines[0].contains("Verdict"), "{told}");
    assert!(
        lines[1].starts_with("4,20,,,1,39") && lines[1].ends_with(",valid") && told.ends_with(",valid\r\n"),
        "{told}"
    );
}

#[test]
fn the_ending_of_a_file_asks_for_its_form() {
    let bench = bench("endings");
    std::fs::copy(bench.path("x.proof"), bench.path("y.proof")).expect("a copy");
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).expect("it was written");
    let compare = |name: &str| run(&bench, &["compare", "x.proof", "y.proof", "-o", name], 0);
    for name in ["a.html", "a.md", "a.json", "a"] {
        compare(name);
    }
    assert!(read("a.html").starts_with("<!DOCTYPE html>") && read("a.md").starts_with("# "));
    assert!(read("a.json").starts_with('{') && read("a").starts_with("A "), "{}", read("a"));
    run(&bench, &["report", "x.proof", "-o", "b.md"], 0);
    run(&bench, &["report", "x.proof", "-o", "b.csv", "--format", "html"], 0);
    assert!(read("b.md").starts_with("# ") && read("b.csv").starts_with("<!DOCTYPE html>"));
}

/// The program in a folder of its own, where no `proofload-pdf` of a build lies beside it.
fn alone(bench: &Bench) -> std::path::PathBuf {
    let (program, link) = (env!("CARGO_BIN_EXE_proofload"), bench.path("proofload"));
    std::fs::hard_link(program, &link).or_else(|_| std::fs::copy(program, &link).map(drop)).expect("a link or a copy");
    link
}

/// A program `proofload-pdf` in a folder, and a search path that has it.
fn stub(bench: &Bench, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let folder = bench.path("programs");
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join("proofload-pdf");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    format!("{}:/usr/bin:/bin", folder.display())
}

#[test]
fn a_pdf_is_made_by_a_program_of_its_own_and_its_failures_are_told() {
    let bench = bench("pdf");
    let proofload = alone(&bench);
    let report = |path: &str, arguments: &[&str], code: i32| {
        let mut command = std::process::Command::new(&proofload);
        command.args(["report", "x.proof"]).args(arguments).current_dir(bench.path("")).env("PATH", path);
        let output = command.output().expect("it runs");
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        told
    };
    let told = report("/nowhere", &["-o", "a.pdf"], 1);
    assert!(told.contains("proofload-pdf, which is not in") && told.contains("--format typst"), "{told}");
    let told = report(&stub(&bench, "cat > /dev/null; echo 'no such font' >&2; exit 1"), &["-o", "a.pdf"], 1);
    assert!(told.contains("made no PDF: exit status: 1: no such font"), "{told}");
    let told = report(&stub(&bench, "cat > /dev/null; echo hello"), &["-o", "a.pdf"], 1);
    assert!(told.contains("is it another program of that name?"), "{told}");
    assert!(!bench.path("a.pdf").exists(), "nothing was written");
    let path = stub(&bench, "echo '%PDF-1.7'; cat; echo 'a note' >&2");
    let told = report(&path, &["-o", "none/a.pdf"], 1);
    assert!(told.contains("failed to write none/a.pdf"), "{told}");
    let told = report(&path, &["--format", "pdf"], 0);
    assert!(told.contains("a note") && told.contains("written: x.pdf"), "{told}");
    assert!(report(&path, &["--format", "pdf"], 1).contains("x.pdf exists; replace it with --overwrite"));
    report(&path, &["-o", "x.typ"], 0);
    let source = std::fs::read_to_string(bench.path("x.typ")).expect("it was written");
    let handed = std::fs::read_to_string(bench.path("x.pdf")).expect("it was written");
    assert_eq!(handed, format!("%PDF-1.7\n{source}"), "the program gets what --format typst writes");
    let hash = proofload_record::file_sha256(&bench.path("x.proof")).expect("the record is readable");
    assert!(source.contains(&hash), "the hash of the record stands in the paper");
}

#[test]
fn a_logo_is_in_the_record_and_on_the_page() {
    let bench = Bench::new("logo");
    bench.study(&small_study("null", "[paper]\nlogo = \"logo.svg\"\n", 1));
    let told = run(&bench, &["run", "study.toml", "-o", "x.proof"], 3);
    assert!(told.contains("paper.logo") && told.contains("logo.svg"), "{told}");
    std::fs::write(bench.path("logo.svg"), "no image").expect("a file");
    let told = run(&bench, &["run", "study.toml", "-o", "x.proof"], 3);
    assert!(told.contains("no PNG, JPEG or SVG"), "{told}");
    std::fs::write(bench.path("logo.svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>").expect("a file");
    run(&bench, &["run", "study.toml", "-o", "x.proof", "--void", "ok"], 0);
    std::fs::remove_file(bench.path("logo.svg")).expect("it is there");
    run(&bench, &["report", "x.proof", "-o", "again.html"], 0);
    let page = std::fs::read_to_string(bench.path("again.html")).expect("it was written");
    assert!(page.contains("<img class=\"logo\" alt=\"\" src=\"data:image/svg+xml;base64,PHN2Zy"), "{page}");
    bench.expect_no_process();
}
