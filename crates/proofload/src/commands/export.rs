//! `export`: a record for other tools, written piece by piece. Opens files; what stands in them is decided by `report::export`.

use super::target;
use crate::cli::{ExportArguments, ExportFormat};
use crate::exit::Exit;
use crate::output;
use proofload_record::Record;
use proofload_report::export::{
    ExportTable, Selection, TABLES, history, write_csv, write_hdr, write_json, write_openmetrics, write_parquet,
};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Exports a record.
pub(crate) fn run(arguments: &ExportArguments) -> Exit {
    match carry_out(arguments) {
        Ok(()) => Exit::Good,
        Err((exit, text)) => output::failure(false, exit, &text),
    }
}

fn carry_out(arguments: &ExportArguments) -> Result<(), (Exit, String)> {
    let tables = tables(arguments)?;
    let record = proofload_record::read(&arguments.record).map_err(|error| (Exit::Failure, error.to_string()))?;
    let selection = selection(&arguments.runs, &record).map_err(|text| (Exit::Usage, text))?;
    if arguments.format == ExportFormat::History {
        history(&record, &selection).map_err(|error| (Exit::Usage, error.to_string()))?;
    }
    let written = match (&arguments.output, arguments.format) {
        (Some(folder), format) if a_file_each(format).is_some() && tables.len() > 1 => {
            files(&record, &selection, &tables, folder, arguments)
        }
        (Some(file), _) if file.as_os_str() != "-" => to_file(&record, &selection, arguments, &tables, file),
        _ => output::stream(|out| one(&record, &selection, arguments.format, &tables, out))
            .map_err(|error| output::not_written(&error)),
    };
    written.map_err(|text| (Exit::Failure, text))
}

/// The runs of numbers that count from 1, as people count them; the plan and the tables count from 0.
fn selection(numbers: &[u32], record: &Record) -> Result<Selection, String> {
    let index = |number: &u32| {
        let index = number.checked_sub(1).filter(|index| record.plan.runs.iter().any(|run| run.index == *index));
        index.ok_or_else(|| {
            let there = match record.plan.runs.len() {
                0 => "no run".to_owned(),
                1 => "run 1 alone".to_owned(),
                last => format!("runs 1 to {last}"),
            };
            format!("--run {number}: no such run; the plan has {there}, in the order of `proofload status`")
        })
    };
    Ok(Selection { runs: numbers.iter().map(index).collect::<Result<_, _>>()? })
}

/// The ending of files of a format that holds one table in a file.
fn a_file_each(format: ExportFormat) -> Option<&'static str> {
    match format {
        ExportFormat::Csv => Some("csv"),
        ExportFormat::Parquet => Some("parquet"),
        ExportFormat::Hdr | ExportFormat::History | ExportFormat::Json | ExportFormat::Openmetrics => None,
    }
}

/// The tables that were asked for, in their own order.
fn tables(arguments: &ExportArguments) -> Result<Vec<&'static ExportTable>, (Exit, String)> {
    let a_file_each = a_file_each(arguments.format);
    if a_file_each.is_none() && arguments.format != ExportFormat::Json && !arguments.tables.is_empty() {
        return Err((Exit::Usage, "--table is only used with --format csv, parquet or json".to_owned()));
    }
    let asked =
        |table: &&ExportTable| arguments.tables.is_empty() || arguments.tables.iter().any(|name| name == table.name);
    let tables: Vec<&'static ExportTable> = TABLES.iter().filter(asked).collect();
    let to_stdout = arguments.output.as_ref().is_none_or(|path| path.as_os_str() == "-");
    if let Some(format) = a_file_each.filter(|_| tables.len() > 1 && to_stdout) {
        let text =
            format!("{format} has {} tables: choose one with --table, or write all to a folder with -o", tables.len());
        return Err((Exit::Usage, text));
    }
    Ok(tables)
}

fn one(
    record: &Record,
    selection: &Selection,
    format: ExportFormat,
    tables: &[&ExportTable],
    to: &mut dyn Write,
) -> std::io::Result<()> {
    match format {
        ExportFormat::Hdr => write_hdr(record, selection, to),
        ExportFormat::Csv => tables.iter().try_for_each(|table| write_csv(record, selection, table, to)),
        ExportFormat::Parquet => tables.iter().try_for_each(|table| write_parquet(record, selection, table, to)),
        ExportFormat::Json => write_json(record, selection, tables, to),
        ExportFormat::Openmetrics => write_openmetrics(record, selection, to),
        ExportFormat::History => history(record, selection).map_err(std::io::Error::other)?.write(to),
    }
}

fn to_file(
    record: &Record,
    selection: &Selection,
    arguments: &ExportArguments,
    tables: &[&ExportTable],
    path: &Path,
) -> Result<(), String> {
    if let (Some(ending), [table]) = (a_file_each(arguments.format), tables)
        && target::is_folder(path)
    {
        let file = path.join(format!("{}.{ending}", table.name));
        return Err(format!("{} is a folder, and one table is one file: use -o {}", path.display(), file.display()));
    }
    let mut file = BufWriter::new(target::make(path, arguments.overwrite)?);
    let written = one(record, selection, arguments.format, tables, &mut file).and_then(|()| file.flush());
    written.map_err(|error| format!("failed to write {}: {error}", path.display()))?;
    target::say_written(path);
    Ok(())
}

/// Writes one file for each table; writes nothing when one of them exists and may not be replaced.
fn files(
    record: &Record,
    selection: &Selection,
    tables: &[&ExportTable],
    folder: &Path,
    arguments: &ExportArguments,
) -> Result<(), String> {
    let (format, overwrite) = (arguments.format, arguments.overwrite);
    let ending = a_file_each(format).unwrap_or_default();
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("failed to create the folder {}: {error}", folder.display()))?;
    let paths: Vec<_> = tables.iter().map(|table| folder.join(format!("{}.{ending}", table.name))).collect();
    if let Some(there) = paths.iter().find(|path| !overwrite && path.exists()) {
        return Err(target::exists(there, "folder"));
    }
    for (table, path) in tables.iter().zip(&paths) {
        let mut file = BufWriter::new(target::make(path, overwrite)?);
        let written = one(record, selection, format, &[table], &mut file).and_then(|()| file.flush());
        written.map_err(|error| format!("failed to write {}: {error}", path.display()))?;
    }
    target::say_written(folder);
    Ok(())
}
