//! Settings that experiments change while an instance runs, by `SET GLOBAL`, which no later start sees. Which there are is of each flavour.

use super::address::ServerAddress;
use super::configuration::canonical;
use super::flavour::FamilyMember;
use super::page_flushing;
use super::quantity::literal;
use super::replication::ask;
use crate::contract::{Error, LiveSetting, LiveSettings, Target};
use proofload_model::intervention::PAGE_FLUSHING;
use std::time::Duration;

/// How long a server may take to change a size of its own, such as that of its log.
const WITHIN: Duration = Duration::from_secs(60);

impl<F: FamilyMember> LiveSettings for F {
    fn known(&self) -> &'static [LiveSetting] {
        F::FLAVOUR.live
    }

    fn read(&self, instance: &Target, names: &[&str]) -> Result<Vec<String>, Error> {
        ask(ServerAddress::of(instance)?, WITHIN, async |connection| {
            let mut found = Vec::with_capacity(names.len());
            for name in names {
                let rows = connection.rows(&format!("SELECT @@global.{}", canonical(name))).await?;
                found.push(rows.into_iter().flatten().next().flatten().unwrap_or_default());
            }
            Ok(found)
        })
        .map_err(|error| error.context("read settings of a running instance"))
    }

    fn put(&self, instance: &Target, settings: &[(String, String)]) -> Result<(), Error> {
        ask(ServerAddress::of(instance)?, WITHIN, async |connection| {
            for (name, value) in settings {
                let text = format!("SET GLOBAL {} = {}", canonical(name), literal(value));
                connection
                    .text(&text, |_| {})
                    .await
                    .map_err(|error| error.context(format!("set {name} to {value}")))?;
            }
            Ok(())
        })
        .map_err(|error| error.context("change settings of a running instance"))
    }

    fn is_at_work(&self, instance: &Target, resource: &str) -> Result<bool, Error> {
        if resource != PAGE_FLUSHING {
            return Ok(false);
        }
        ask(ServerAddress::of(instance)?, WITHIN, async |connection| {
            page_flushing::is_at_work(connection, F::FLAVOUR).await
        })
        .map_err(|error| error.context("read whether pages are written in the background"))
    }

    fn catch_up(&self, instance: &Target, resource: &str) -> Result<(), Error> {
        if resource != PAGE_FLUSHING {
            return Ok(());
        }
        ask(ServerAddress::of(instance)?, WITHIN, async |connection| {
            page_flushing::catch_up(connection, F::FLAVOUR).await
        })
        .map_err(|error| error.context("wait until pages that were put off are written"))
    }
}
