//! `site`: the documentation as pages with a search, made by mdBook from the pages of the repository as they are, and all its links checked.

mod contents;
mod links;
mod run;
mod sources;

pub(crate) use run::run;
