//! What a server calls the parts of its replication, as data: settings, statements, places in answers. Who asks is in `replication.rs` and
//! `replication_watch.rs`.

use super::version::VersionedText;
use proofload_model::replication::Confirmation;

/// Words of one server.
#[derive(Debug)]
pub(in crate::engines) struct ReplicationWords {
    /// Whom commits may be asked to wait for.
    pub(in crate::engines) confirmations: &'static [Confirmation],
    /// Settings that are ours in a study with standbys.
    pub(in crate::engines) settings: &'static [&'static str],
    /// Setting: whether commits wait for standbys.
    pub(in crate::engines) waits: &'static str,
    /// Setting: how long they do, ms; then they go on without one.
    pub(in crate::engines) timeout: &'static str,
    /// Setting: whether they wait while too few standbys are connected, too.
    pub(in crate::engines) waits_unconnected: &'static str,
    /// Setting: how many standbys they wait for; `None` where it is always one.
    pub(in crate::engines) count: Option<&'static str>,
    /// Setting of a standby: whether it confirms.
    pub(in crate::engines) confirms: &'static str,
    /// Number of the status: whether commits wait at this moment.
    pub(in crate::engines) is_active: &'static str,
    /// Number of the status: standbys that confirm.
    pub(in crate::engines) confirming: &'static str,
    /// Number of the status: commits that have returned without a confirmation.
    pub(in crate::engines) unconfirmed: &'static str,
    /// Values of settings and of the status of the `{names}`, by name.
    pub(in crate::engines) read: &'static str,
    /// Where the log of a primary ends: file and place.
    pub(in crate::engines) log_end: VersionedText,
    /// Standbys that are connected; the second column is the name by which one presents itself.
    pub(in crate::engines) connected: &'static str,
    /// How far a standby is.
    pub(in crate::engines) standby_status: &'static str,
    /// Column of that answer: transactions that were received whole, by global number.
    pub(in crate::engines) received_id: usize,
    /// Makes the `{account}` of a standby, which comes by a `{password}`.
    pub(in crate::engines) account: &'static str,
    /// Statements before a server lets anybody in, one a line: over the network nobody comes in but accounts that are made for standbys.
    pub(in crate::engines) closed: &'static str,
    /// Names the instance at a `{port}` of this host as the one to follow, by `{account}` and `{password}`.
    pub(in crate::engines) follow: &'static str,
    /// Begins to follow.
    pub(in crate::engines) start: &'static str,
    /// Follows no more.
    pub(in crate::engines) stop: &'static str,
    /// Forgets whom it followed.
    pub(in crate::engines) forget: &'static str,
    /// Waits `{seconds}` until the `{transactions}` are applied; the answer is 0 if they are.
    pub(in crate::engines) until_applied: &'static str,
    /// File of a folder by which servers tell each other apart, beside their numbers.
    pub(in crate::engines) identity: Option<&'static str>,
}
