//! A client of the network block device protocol, as small as a test needs.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A connection to a volume.
pub(crate) struct NbdClient {
    stream: UnixStream,
    pub(crate) bytes: u64,
}

impl NbdClient {
    /// Connects to the only volume of a socket.
    pub(crate) fn connect(path: &Path) -> Self {
        let mut stream = UnixStream::connect(path).expect("the server listens");
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).expect("a greeting");
        // Fixed newstyle without zeros; then the option of an export name, which is empty.
        let mut hello = 3_u32.to_be_bytes().to_vec();
        hello.extend(b"IHAVEOPT");
        hello.extend(1_u32.to_be_bytes());
        hello.extend(0_u32.to_be_bytes());
        stream.write_all(&hello).expect("the server reads");
        let mut answer = [0; 10];
        stream.read_exact(&mut answer).expect("a size");
        let bytes = u64::from_be_bytes(answer[..8].try_into().expect("eight bytes"));
        Self { stream, bytes }
    }

    fn request(&mut self, kind: u32, at: u64, length: usize, data: &[u8], answer: usize) -> Vec<u8> {
        let mut bytes = 0x2560_9513_u32.to_be_bytes().to_vec();
        bytes.extend(kind.to_be_bytes());
        bytes.extend(7_u64.to_be_bytes());
        bytes.extend(at.to_be_bytes());
        bytes.extend(u32::try_from(length).expect("small").to_be_bytes());
        bytes.extend(data);
        self.stream.write_all(&bytes).expect("the server reads");
        let mut head = [0; 16];
        self.stream.read_exact(&mut head).expect("a reply");
        assert_eq!(head[4..8], [0; 4], "request {kind} at {at}");
        let mut read = vec![0; answer];
        self.stream.read_exact(&mut read).expect("data");
        read
    }

    pub(crate) fn read(&mut self, at: u64, length: usize) -> Vec<u8> {
        self.request(0, at, length, &[], length)
    }

    pub(crate) fn write(&mut self, at: u64, data: &[u8]) {
        self.request(1, at, data.len(), data, 0);
    }

    pub(crate) fn flush(&mut self) {
        self.request(3, 0, 0, &[], 0);
    }
}
