//! The browser service of a host, which tells the ports of its instances over UDP, with an encoder of its own.

use std::net::UdpSocket;
use std::sync::{Arc, Mutex};

/// A running browser service; it ends with the process.
pub(crate) struct Browser {
    port: u16,
    questions: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Browser {
    /// Starts one that answers each question as `answer` says, or not at all.
    pub(crate) fn start(mut answer: impl FnMut(&[u8]) -> Option<Vec<u8>> + Send + 'static) -> Self {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("a free port");
        let port = socket.local_addr().expect("it is bound").port();
        let questions = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&questions);
        std::thread::spawn(move || {
            let mut room = [0; 64];
            while let Ok((size, from)) = socket.recv_from(&mut room) {
                shared.lock().expect("nobody panicked").push(room[..size].to_vec());
                if let Some(answer) = answer(&room[..size]) {
                    // The client may be gone.
                    let _sent = socket.send_to(&answer, from);
                }
            }
        });
        Self { port, questions }
    }

    /// An answer that tells of instances with their TCP ports.
    pub(crate) fn tells(instances: &[(&str, Option<u16>)]) -> Vec<u8> {
        let text: String = instances
            .iter()
            .map(|(name, port)| {
                let tcp = port.map(|port| format!(";tcp;{port}")).unwrap_or_default();
                format!(
                    r"ServerName;HOST;InstanceName;{name};IsClustered;No;Version;16.0.1000.6;np;\\HOST\pipe\{name}{tcp};;"
                )
            })
            .collect();
        let mut answer = vec![5];
        answer.extend((text.len() as u16).to_le_bytes());
        answer.extend(text.bytes());
        answer
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// What it was asked.
    pub(crate) fn questions(&self) -> Vec<Vec<u8>> {
        self.questions.lock().expect("nobody panicked").clone()
    }
}
