//! The talk before the first request: fixed newstyle negotiation, without TLS.
//!
//! Source of all numbers: the NBD protocol, of the `NetworkBlockDevice` project, sections "Newstyle
//! negotiation" and "Values".

use std::io::{self, Read, Write};

use super::nbd_reply::ReplyForm;

const GREETING: u64 = u64::from_be_bytes(*b"NBDMAGIC");
const OPTION: u64 = u64::from_be_bytes(*b"IHAVEOPT");
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;

/// Fixed newstyle, and no zeros after the answer to an export name.
const HANDSHAKE: u16 = 1 | 2;
const NO_ZEROES: u32 = 2;

const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const INFO: u32 = 6;
const GO: u32 = 7;
const STRUCTURED_REPLY: u32 = 8;

const ACKNOWLEDGED: u32 = 1;
const SERVER: u32 = 2;
const INFORMATION: u32 = 3;
const UNSUPPORTED: u32 = (1 << 31) | 1;
const INVALID: u32 = (1 << 31) | 3;
const UNKNOWN: u32 = (1 << 31) | 6;

const ABOUT_EXPORT: u16 = 0;
const ABOUT_BLOCKS: u16 = 3;

/// Has flags; FLUSH, FUA, TRIM, WRITE ZEROES; several connections see one content.
const TRANSMISSION: u16 = 1 | (1 << 2) | (1 << 3) | (1 << 5) | (1 << 6) | (1 << 8);

/// Reads can be asked for in one chunk; only where replies are structured.
const ONE_CHUNK: u16 = 1 << 7;

/// Bytes of an option's data, at most: a name has 4,096.
const MOST_OPTION_BYTES: u32 = 16 << 10;

/// How a negotiation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Negotiation {
    /// The client wants to send requests, and replies of this form.
    Transmission(ReplyForm),
    /// The client goes away.
    Abort,
}

/// What is offered.
pub(super) struct ExportOffer<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: u64,
    /// Largest request, bytes.
    pub(super) most_bytes: u32,
}

pub(super) fn read_u32(stream: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

pub(super) fn read_u64(stream: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    stream.read_exact(&mut bytes)?;
    Ok(u64::from_be_bytes(bytes))
}

pub(super) fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the client sent {what}"))
}

/// Talks until the client chooses the export or goes away.
pub(super) fn negotiate<S: Read + Write>(stream: &mut S, offer: &ExportOffer<'_>) -> io::Result<Negotiation> {
    stream.write_all(&GREETING.to_be_bytes())?;
    stream.write_all(&OPTION.to_be_bytes())?;
    stream.write_all(&HANDSHAKE.to_be_bytes())?;
    stream.flush()?;
    let flags = read_u32(stream)?;
    if flags & 1 == 0 || flags > 3 {
        return Err(broken("flags of another negotiation than fixed newstyle"));
    }
    let mut form = ReplyForm::Simple;
    loop {
        if read_u64(stream)? != OPTION {
            return Err(broken("no option where one was due"));
        }
        let (option, length) = (read_u32(stream)?, read_u32(stream)?);
        if length > MOST_OPTION_BYTES {
            return Err(broken("an option that is too long"));
        }
        let mut data = vec![0; length as usize];
        stream.read_exact(&mut data)?;
        match option {
            EXPORT_NAME => return answer_name(stream, offer, &data, flags, form),
            ABORT => {
                reply(stream, option, ACKNOWLEDGED, &[])?;
                return Ok(Negotiation::Abort);
            }
            LIST if data.is_empty() => list(stream, offer)?,
            INFO | GO => {
                if inform(stream, offer, (option, &data), form)? && option == GO {
                    return Ok(Negotiation::Transmission(form));
                }
            }
            STRUCTURED_REPLY if data.is_empty() => {
                form = ReplyForm::Structured;
                reply(stream, option, ACKNOWLEDGED, &[])?;
            }
            STRUCTURED_REPLY => reply(stream, option, INVALID, b"this option has no data")?,
            LIST => reply(stream, option, INVALID, b"a list has no data")?,
            _ => reply(stream, option, UNSUPPORTED, b"this option is not supported")?,
        }
    }
}

fn reply(stream: &mut impl Write, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    stream.write_all(&OPTION_REPLY.to_be_bytes())?;
    stream.write_all(&option.to_be_bytes())?;
    stream.write_all(&kind.to_be_bytes())?;
    stream.write_all(&u32::try_from(data.len()).map_err(|_| broken("too much"))?.to_be_bytes())?;
    stream.write_all(data)?;
    stream.flush()
}

fn is_ours(offer: &ExportOffer<'_>, name: &[u8]) -> bool {
    name.is_empty() || name == offer.name.as_bytes()
}

/// What the export can do.
fn transmission(form: ReplyForm) -> [u8; 2] {
    let flags = match form {
        ReplyForm::Simple => TRANSMISSION,
        ReplyForm::Structured => TRANSMISSION | ONE_CHUNK,
    };
    flags.to_be_bytes()
}

fn answer_name<S: Write>(
    stream: &mut S,
    offer: &ExportOffer<'_>,
    name: &[u8],
    flags: u32,
    form: ReplyForm,
) -> io::Result<Negotiation> {
    if !is_ours(offer, name) {
        // This option has no answer for an error.
        return Err(broken("the name of another export"));
    }
    stream.write_all(&offer.bytes.to_be_bytes())?;
    stream.write_all(&transmission(form))?;
    if flags & NO_ZEROES == 0 {
        stream.write_all(&[0; 124])?;
    }
    stream.flush()?;
    Ok(Negotiation::Transmission(form))
}

fn list(stream: &mut impl Write, offer: &ExportOffer<'_>) -> io::Result<()> {
    let name = offer.name.as_bytes();
    let mut data = u32::try_from(name.len()).map_err(|_| broken("too much"))?.to_be_bytes().to_vec();
    data.extend_from_slice(name);
    reply(stream, LIST, SERVER, &data)?;
    reply(stream, LIST, ACKNOWLEDGED, &[])
}

/// Answers INFO or GO; says whether the export is the client's.
fn inform(
    stream: &mut impl Write,
    offer: &ExportOffer<'_>,
    (option, data): (u32, &[u8]),
    form: ReplyForm,
) -> io::Result<bool> {
    let length = data.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes) as usize);
    let name = length.and_then(|length| data.get(4..4 + length));
    let Some(name) = name else {
        reply(stream, option, INVALID, b"the option is cut")?;
        return Ok(false);
    };
    if !is_ours(offer, name) {
        reply(stream, option, UNKNOWN, b"there is no export of this name")?;
        return Ok(false);
    }
    let mut about = ABOUT_EXPORT.to_be_bytes().to_vec();
    about.extend(offer.bytes.to_be_bytes());
    about.extend(transmission(form));
    reply(stream, option, INFORMATION, &about)?;
    let mut blocks = ABOUT_BLOCKS.to_be_bytes().to_vec();
    [1, 4096, offer.most_bytes].iter().for_each(|bytes| blocks.extend(bytes.to_be_bytes()));
    reply(stream, option, INFORMATION, &blocks)?;
    reply(stream, option, ACKNOWLEDGED, &[])?;
    Ok(true)
}
