//! Serves the live page: the page itself, its state as a stream of events, and metrics. Read-only; it takes nothing but GET, and a reader that is
//! slow or leaves disturbs nobody.

use super::address::Access;
use super::metrics::{MEDIA_TYPE, metrics};
use super::share::{PageShare, SeenState};
use futures_util::stream::{BoxStream, StreamExt, unfold};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName, X_CONTENT_TYPE_OPTIONS};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

/// The page.
const PAGE: &str = include_str!("page.html");

/// Readers at a time; others wait.
const READERS: usize = 32;

/// Time that a reader has to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(5);

/// Shortest time between two events of a stream.
const EVENT_TIME: Duration = Duration::from_millis(500);

/// Longest time between two events of a stream: a reader that is gone is noticed.
const SILENCE: Duration = Duration::from_secs(15);

/// What a page may load: nothing but itself and its own state.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A running server; it stops when it is dropped.
pub(crate) struct PageServer {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PageServer {
    /// Begins to serve on a thread of its own.
    ///
    /// # Errors
    /// The thread or its runtime cannot be made.
    pub(crate) fn start(listener: TcpListener, access: Access, share: Arc<PageShare>) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    () = accept(listener, Arc::new(access), share) => {}
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("page".to_owned()).spawn(serve)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

async fn accept(listener: tokio::net::TcpListener, access: Arc<Access>, share: Arc<PageShare>) {
    let readers = Arc::new(Semaphore::new(READERS));
    loop {
        let Ok(permit) = Arc::clone(&readers).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // No file is left, perhaps: the next try may be luckier.
            tokio::time::sleep(EVENT_TIME).await;
            continue;
        };
        let (access, share) = (Arc::clone(&access), Arc::clone(&share));
        tokio::spawn(async move {
            let _held = permit;
            let answer = service_fn(move |request: Request<Incoming>| {
                let response = respond(&request, &access, &share);
                async move { Ok::<_, Infallible>(response) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(16 * 1024);
            // A reader that leaves in between is no trouble of ours.
            let _left = server.serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

fn respond(request: &Request<Incoming>, access: &Access, share: &Arc<PageShare>) -> Response<Body> {
    if request.method() != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "the page is read-only\n");
    }
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let Some(path) = access.admitted(host, request.uri().path()) else {
        return plain(StatusCode::FORBIDDEN, "use the address that proofload printed\n");
    };
    match path {
        "/" => text("text/html; charset=utf-8", PAGE.to_owned()),
        "/metrics" => text(MEDIA_TYPE, metrics(share)),
        "/events" => {
            with_headers(Response::new(BodyExt::boxed_unsync(StreamBody::new(events(share)))), "text/event-stream")
        }
        _ => plain(StatusCode::NOT_FOUND, "there is no such page\n"),
    }
}

fn plain(status: StatusCode, words: &str) -> Response<Body> {
    let mut response = text("text/plain; charset=utf-8", words.to_owned());
    *response.status_mut() = status;
    response
}

fn text(kind: &'static str, text: String) -> Response<Body> {
    with_headers(Response::new(Full::new(Bytes::from(text)).boxed_unsync()), kind)
}

fn with_headers(mut response: Response<Body>, kind: &'static str) -> Response<Body> {
    let headers: [(HeaderName, &'static str); 5] = [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (hyper::header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, hyper::header::HeaderValue::from_static(value));
    }
    response
}

/// Everything at first, then what is new, at most twice a second.
fn events(share: &Arc<PageShare>) -> BoxStream<'static, Result<Frame<Bytes>, Infallible>> {
    let first = (Arc::clone(share), share.subscribe(), SeenState::default(), true);
    let stream = unfold(first, |(share, mut changed, seen, is_first)| async move {
        if !is_first {
            tokio::time::sleep(EVENT_TIME).await;
            let _quiet = tokio::time::timeout(SILENCE, changed.changed()).await;
        }
        let (news, seen) = share.news(seen);
        let frame = Frame::data(Bytes::from(format!("data: {news}\n\n")));
        Some((Ok(frame), (share, changed, seen, false)))
    });
    stream.boxed()
}
