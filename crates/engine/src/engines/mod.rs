//! One folder per engine, one line each in `registry!`. Lists and re-exports.

mod parameters;
mod registry;
mod watchdog;

pub use registry::engine;

registry::registry! {
    sqlite: Sqlite { sql },
    postgresql: Postgresql { sql },
    mongodb: Mongodb { documents },
    duckdb: Duckdb { sql },
    null: Null { sql, documents },
}
