//! What the tier of a study is in the words of the cache tier, how its cache is made, filled, opened and emptied, and what is told of it. For engines
//! that run on one in their process, and for the testbed, which serves one to servers. May not know a database.

mod cache_file;
mod plan;
mod tier_facts;
mod warm_list;
mod warming;

pub use cache_file::{OpenCache, empty_cache, make_cache, open_cache};
pub use plan::{array, cleaner, disks, lines, mode_word, settings, volumes};
pub(crate) use tier_facts::SOURCE;
pub use tier_facts::{ReadTier, facts};
pub use warm_list::{NamedLines, WarmList};
pub use warming::{NewCache, check_list, warm_cache};
