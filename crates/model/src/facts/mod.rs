//! The table of facts: subject, name, title and reading of each, as handles that makers write by and readers find by. Lists and
//! re-exports.

mod fact_name;
mod table;
mod value;

pub use fact_name::{FactFamily, FactName, known, of_agent, without_agent};
pub use table::{
    FACTS, FAMILIES, HOST_IDENTITY, calibration, client, data, engine, host, limit, load_agent, query, replication,
    storage, tier, tool, usage,
};
pub use value::{CoreSet, Description, FactValue, Reading, in_list, list};
