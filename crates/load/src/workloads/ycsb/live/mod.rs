//! What can be changed of the load while it runs. Lists and re-exports.

mod pool;
mod settings;

pub(super) use pool::PoolTurn;
pub(super) use settings::LiveSettings;
