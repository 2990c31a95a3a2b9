//! A server that speaks as much of PostgreSQL's protocol as a session needs, and answers every call with the same bytes. One thread for
//! each connection. Source: PostgreSQL manual, "Message Formats".

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// Numbers of types.
const INT4: i32 = 23;
const TEXT: i32 = 25;

/// Starts one whose rows hold a number and a text; its URL.
pub(crate) fn start(number: i32, text: &str) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let answer = answer(number, text);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            // The client goes.
            std::thread::spawn(move || drop(serve(&stream, &answer)));
        }
    });
    format!("postgresql://me@127.0.0.1:{port}/shop")
}

/// A message: its tag, its length, which counts itself, and its body.
fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).expect("short");
    [&[tag][..], &length.to_be_bytes(), body].concat()
}

/// The server waits for what comes next, outside of a transaction.
fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// What a call is answered with: bound, one row, its end.
fn answer(number: i32, text: &str) -> Vec<u8> {
    let mut row = 2i16.to_be_bytes().to_vec();
    for field in [&number.to_be_bytes()[..], text.as_bytes()] {
        row.extend(i32::try_from(field.len()).expect("short").to_be_bytes());
        row.extend(field);
    }
    [message(b'2', b""), message(b'D', &row), message(b'C', b"SELECT 1\0"), ready()].concat()
}

/// The parameters and columns of the statement that is called; transaction control, whose name is one of its words, has none.
fn description(name: &[u8]) -> Vec<u8> {
    if name != b"s0" {
        return [message(b't', &0i16.to_be_bytes()), message(b'n', b"")].concat();
    }
    let mut parameters = 3i16.to_be_bytes().to_vec();
    [INT4, INT4, TEXT].iter().for_each(|kind| parameters.extend(kind.to_be_bytes()));
    let mut columns = 2i16.to_be_bytes().to_vec();
    for (name, kind, size) in [("ol_i_id", INT4, 4i16), ("ol_dist_info", TEXT, -1)] {
        columns.extend(name.as_bytes());
        // Its end, the number of its table and its place in it: none.
        columns.extend([0; 7]);
        columns.extend(kind.to_be_bytes());
        columns.extend(size.to_be_bytes());
        // No modifier, and the form is not decided yet.
        columns.extend((-1i32).to_be_bytes());
        columns.extend([0; 2]);
    }
    [message(b't', &parameters), message(b'T', &columns)].concat()
}

fn serve(stream: &TcpStream, answer: &[u8]) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut from = BufReader::with_capacity(64 << 10, stream);
    let mut into = stream;
    let mut head = [0; 5];
    from.read_exact(&mut head[..4])?;
    skip(&mut from, body_bytes([head[0], head[1], head[2], head[3]]))?;
    // Let in without a password.
    into.write_all(&[message(b'R', &[0; 4]), ready()].concat())?;
    let (mut called, mut said) = (false, Vec::new());
    loop {
        from.read_exact(&mut head)?;
        let body = body_bytes([head[1], head[2], head[3], head[4]]);
        match head[0] {
            b'D' => {
                let mut asked = vec![0; body];
                from.read_exact(&mut asked)?;
                // What is described, its name, and the zero that ends it.
                said.extend(description(&asked[1..body - 1]));
                continue;
            }
            b'X' => return Ok(()),
            b'B' => called = true,
            b'C' => said.extend(message(b'3', b"")),
            b'P' => said.extend(message(b'1', b"")),
            b'Q' => into.write_all(&[message(b'C', b"SET\0"), ready()].concat())?,
            b'S' if called => into.write_all(answer)?,
            b'S' => {
                said.extend(ready());
                into.write_all(&said)?;
                said.clear();
            }
            _ => {}
        }
        called &= head[0] != b'S';
        skip(&mut from, body)?;
    }
}

/// Bytes of a body by the length in front of it.
fn body_bytes(length: [u8; 4]) -> usize {
    (u32::from_be_bytes(length) as usize).saturating_sub(4)
}

fn skip(from: &mut BufReader<&TcpStream>, mut count: usize) -> io::Result<()> {
    while count > 0 {
        let here = from.fill_buf()?.len().min(count);
        if here == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        from.consume(here);
        count -= here;
    }
    Ok(())
}
