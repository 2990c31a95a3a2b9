//! One folder per engine, one line each in `registry!`. Lists and re-exports.

mod blocking;
mod counter;
mod facts;
mod mysql_family;
mod parameters;
mod place;
mod program;
mod registry;
mod scratch;
mod switch;
mod watchdog;
mod wire;

pub use place::{place_settings, place_settings_with_room};
pub use registry::engine;

registry::registry! {
    sqlite: Sqlite { sql },
    postgresql: Postgresql { sql },
    mariadb: Mariadb { sql },
    mysql: Mysql { sql },
    sqlserver: Sqlserver { sql },
    mongodb: Mongodb { documents },
    duckdb: Duckdb { sql },
    null: Null { sql, documents },
    #[cfg(feature = "fixtures")]
    example: Example { sql },
}
