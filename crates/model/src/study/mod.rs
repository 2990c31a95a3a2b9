//! The study: what a study file says, checked as a whole. May not touch the world: existence of files, servers and rights is `doctor`'s business;
//! what an engine knows of its settings is asked through the catalogue.

mod advice;
mod client_rules;
mod contradictions;
mod drill_rules;
mod engine_rules;
mod factor;
mod factor_rules;
mod fault;
mod folder_rules;
mod host_rules;
mod manager_rules;
mod purge_rules;
mod read;
mod search;
mod secret_rules;
mod standby_rules;
mod thread_rules;
mod tier_rules;
mod typed;
mod validate;
mod value_set;
mod word_rules;

pub use advice::{FEWEST_WAREHOUSES_FOR_A_USER, advice, too_few_warehouses};
pub use factor::{Factor, values_of};
pub(crate) use factor_rules::groups;
pub(crate) use fault::nearest;
pub use fault::{Fault, MOST_FAULTS_TOLD, faults_text};
pub(crate) use read::take_apart;
pub use read::{Assignment, parse_assignment};
pub use search::{Goal, Search, load_of, search, value_of};
pub use secret_rules::holds_password;
pub use typed::{
    Procedure, WarmUp, clients_cpu, confirmation_of, data_place, limits_asked, limits_standby_thread, preconditioning,
    procedure, purged_devices, scraped, session_looks, standby_cpu, thread_limit, with_memory,
};
pub use validate::{Study, factors_left_out, validate};
