//! Deliveries that are queued and done later (clause 2.7.2): the queues, the workers, and their log. The queues are in
//! our process and not on the server, which the report says.

use crate::drive::{self, QueuedItem, VirtualUser};
use crate::operation::Completion;
use crate::workloads::tprocc::transaction_runner::TransactionRunner;
use crate::workloads::tprocc::transactions::delivery::DISTRICTS;
use proofload_engine::{Error, ErrorClass};
use proofload_gen::tprocc::inputs::{Delivery, Transaction};
use proofload_model::samples::Reading;
use proofload_model::time::Moment;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Deliveries that may wait for one worker. At one a second, half an hour: a queue as long as that is a fault, not a
/// wait.
const ROOM: usize = 2_048;

/// A queue for each worker.
pub(crate) struct DeliveryQueues {
    sender: DeliverySender,
    /// Taken by the workers when they begin.
    receivers: Mutex<Vec<Option<Receiver<QueuedItem<Delivery>>>>>,
}

impl DeliveryQueues {
    /// Empty ones.
    pub(crate) fn new(workers: u32) -> Self {
        let (senders, receivers) = (0..workers.max(1)).map(|_| channel(ROOM)).unzip::<_, _, Vec<_>, Vec<_>>();
        let receivers = Mutex::new(receivers.into_iter().map(Some).collect());
        Self { sender: DeliverySender { senders, next: 0 }, receivers }
    }

    /// A sender of Deliveries for one session. The queues end when the last sender is gone.
    pub(crate) fn sender(&self) -> DeliverySender {
        self.sender.clone()
    }

    /// The queue of a worker, from 0; once.
    pub(crate) fn of_worker(&self, worker: usize) -> Option<Receiver<QueuedItem<Delivery>>> {
        self.receivers.lock().unwrap_or_else(PoisonError::into_inner).get_mut(worker)?.take()
    }
}

/// Sender of one session's Deliveries: to one worker after the other.
#[derive(Clone)]
pub(crate) struct DeliverySender {
    senders: Vec<Sender<QueuedItem<Delivery>>>,
    next: usize,
}

impl DeliverySender {
    /// Fails when its queue is full or its worker has ended.
    pub(super) fn put(&mut self, item: Delivery, at: Moment) -> Result<(), Error> {
        let sender = &self.senders[self.next];
        self.next = (self.next + 1) % self.senders.len();
        sender.try_send(QueuedItem { item, at }).map_err(|_| {
            let text = format!("a queue of Deliveries is full ({ROOM}), or its worker ended");
            Error::new(ErrorClass::Other, "delivery_queue", text)
        })
    }
}

/// One Delivery that was done.
#[derive(Debug, Clone, Copy)]
struct LoggedDelivery {
    queued: Moment,
    ended: Moment,
    w_id: i32,
    carrier: i32,
    orders: [Option<i32>; DISTRICTS],
}

/// Log of the Deliveries that workers did.
#[derive(Debug, Default)]
pub(crate) struct DeliveryLog(Vec<LoggedDelivery>);

/// Entries of one document.
const PER_DOCUMENT: usize = 20_000;

impl DeliveryLog {
    /// Adds another log.
    pub(crate) fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The log as documents of the record, in the order of the ends, times counted from `origin`.
    pub(crate) fn documents(&mut self, origin: Moment) -> Vec<(String, String)> {
        self.0.sort_by_key(|entry| entry.ended);
        let parts = (1..).zip(self.0.chunks(PER_DOCUMENT));
        parts.map(|(number, entries)| (format!("deliveries-{number}.csv"), written(entries, origin))).collect()
    }
}

fn written(entries: &[LoggedDelivery], origin: Moment) -> String {
    let districts: Vec<String> = (1..=DISTRICTS).map(|district| format!("o_id_of_district_{district}")).collect();
    let mut text = format!("queued_s,ended_s,w_id,o_carrier_id,{}\n", districts.join(","));
    for entry in entries {
        let seconds = |moment: Moment| moment.offset_from(origin).as_seconds();
        let orders = entry.orders.map(|order| order.map_or_else(String::new, |order| order.to_string())).join(",");
        let (queued, ended) = (seconds(entry.queued), seconds(entry.ended));
        let _in_memory = writeln!(text, "{queued:.6},{ended:.6},{},{},{orders}", entry.w_id, entry.carrier);
    }
    text
}

/// A session that does queued Deliveries.
pub(crate) struct DeliveryWorker {
    pub(crate) runner: TransactionRunner,
    pub(crate) log: DeliveryLog,
    current: Option<QueuedItem<Delivery>>,
}

impl DeliveryWorker {
    /// A worker with nothing to do.
    pub(crate) fn new(runner: TransactionRunner) -> Self {
        Self { runner, log: DeliveryLog::default(), current: None }
    }
}

impl drive::QueueWorker for DeliveryWorker {
    type Item = Delivery;

    fn take(&mut self, queued: QueuedItem<Delivery>) {
        self.current = Some(queued);
    }
}

impl VirtualUser for DeliveryWorker {
    fn draw(&mut self) -> usize {
        super::DEFERRED
    }

    async fn run(&mut self) -> Result<Completion, Error> {
        let Some(QueuedItem { item, at }) = self.current else { return Ok(Completion::Done) };
        let output = self.runner.deliver(&item).await?;
        self.log.0.push(LoggedDelivery {
            queued: at,
            ended: self.runner.work.clock.now(),
            w_id: item.w_id,
            carrier: item.o_carrier_id,
            orders: output.orders,
        });
        Ok(Completion::Done)
    }

    fn lost(&mut self) {
        self.runner.tally.unknown(Transaction::Delivery);
    }

    async fn recover(&mut self) -> Result<(), Error> {
        self.runner.recover().await
    }

    async fn reconnect(&mut self) -> Result<(), Error> {
        self.runner.reconnect().await
    }

    fn counters(&mut self, into: &mut Vec<Reading>) {
        self.runner.counters(into);
    }
}
