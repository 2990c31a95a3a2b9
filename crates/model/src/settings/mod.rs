//! Settings: every key of a study file in one table, from which the parser, the JSON Schema, the reference page, `--set` and factors derive.

mod kind;
mod schema;
pub mod setting;
mod spec;
mod table;
mod value;

pub use kind::Kind;
pub use schema::{json_schema, reference_page};
pub use spec::{Scope, SettingSpec, SettingWord};
pub use table::{GROUP_TITLES, STANDARD, limit_settings};
pub use value::{Settings, Value, table_text};
