//! `tier predict`: throughput and hits with a cache of a size that was not measured. What is forecast is decided by `report`.

use super::words::Faults;
use crate::cli_tier::PredictArguments;
use crate::exit::Exit;
use crate::output;
use proofload_model::tier::CacheSize;
use proofload_model::units::Bytes;
use proofload_report::{ForecastFormat, render_forecast};

/// Forecasts sizes from a record.
pub(super) fn run(arguments: &PredictArguments) -> Result<Exit, Exit> {
    let mut faults = Faults::default();
    let sizes = sizes(arguments, &mut faults);
    let sizes = faults.settle(arguments.json, Some(sizes))?;
    let text = text(arguments, &sizes).map_err(|why| output::failure(arguments.json, Exit::Failure, &why))?;
    Ok(output::conclude(arguments.json, &text, Exit::Good))
}

fn sizes(arguments: &PredictArguments, faults: &mut Faults) -> Vec<CacheSize> {
    let mut sizes = Vec::new();
    for text in &arguments.sizes {
        match faults.take(&format!("--size {text}"), Bytes::parse(text)) {
            Some(Bytes(0)) => faults.add(format!("--size {text}: must be above 0")),
            found => sizes.extend(found.map(CacheSize::Bytes)),
        }
    }
    for percent in &arguments.percents {
        match percent {
            0 => faults.add("--percent 0: must be above 0"),
            _ => sizes.push(CacheSize::PercentOfData(*percent)),
        }
    }
    sizes
}

fn text(arguments: &PredictArguments, sizes: &[CacheSize]) -> Result<String, String> {
    let record = proofload_record::read(&arguments.record).map_err(|error| error.to_string())?;
    let format = if arguments.json { ForecastFormat::Json } else { ForecastFormat::Text };
    let told = |error| format!("failed to forecast from {}: {error}", arguments.record.display());
    render_forecast(&record, sizes, format).map_err(told)
}
