//! References of a sample as bytes. It asks, and changes nothing.

use super::frame::{ContentReader, Frame, FrameFault};
use super::message::SAMPLED;
use crate::block::{OriginBlock, SectorSet};
use crate::forecast::{Reference, SamplePiece, SampleSettings};
use crate::machine::AccessKind;

/// References of one answer, at most: 180 kB.
pub(super) const MOST_REFERENCES: usize = 1 << 14;

/// Bytes of a volume's number and of a block's.
const BLOCK_BITS: u32 = 56;
const KINDS: [AccessKind; 3] = [AccessKind::Read, AccessKind::Write, AccessKind::Discard];

pub(super) fn encode(piece: &SamplePiece) -> Vec<u8> {
    let mut content = Vec::with_capacity(33 + piece.references.len() * 11);
    content.extend(piece.settings.rate.to_le_bytes());
    content.extend(piece.settings.data_lines.to_le_bytes());
    content.extend(piece.line_bytes.to_le_bytes());
    content.extend(piece.first.to_le_bytes());
    content.push(u8::from(piece.is_last));
    content.extend(u32::try_from(piece.references.len()).expect("16,384 at most").to_le_bytes());
    for one in &piece.references {
        content.extend(one.block.bits().to_le_bytes());
        content.push(one.kind as u8);
        content.extend(one.sectors.0.to_le_bytes());
    }
    Frame { kind: SAMPLED, content }.encode()
}

pub(super) fn from_content(content: &[u8]) -> Result<SamplePiece, FrameFault> {
    let mut reader = ContentReader::new(content);
    let (rate, data_lines) = (f64::from_le_bytes(reader.take()?), reader.u64()?);
    let (line_bytes, first, is_last) = (reader.u32()?, reader.u64()?, reader.flag()?);
    let count = reader.u32()? as usize;
    let is_rate = rate > 0.0 && rate <= 1.0;
    if !is_rate || count > MOST_REFERENCES || first.checked_add(count as u64).is_none() {
        return Err(FrameFault::Content);
    }
    let references = (0..count).map(|_| reference(&mut reader)).collect::<Result<_, _>>()?;
    reader.end()?;
    Ok(SamplePiece { settings: SampleSettings { rate, data_lines }, line_bytes, first, references, is_last })
}

fn reference(reader: &mut ContentReader<'_>) -> Result<Reference, FrameFault> {
    let (bits, kind, sectors) = (reader.u64()?, usize::from(reader.u8()?), SectorSet(reader.u16()?));
    match KINDS.get(kind) {
        Some(kind) if bits >> BLOCK_BITS == 0 => {
            Ok(Reference { block: OriginBlock::from_bits(bits), kind: *kind, sectors })
        }
        _ => Err(FrameFault::Content),
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::MOST_BYTES;
    use super::*;

    fn piece(count: u64) -> SamplePiece {
        let reference = |index: u64| {
            let kind = KINDS[usize::try_from(index % 3).expect("below three")];
            Reference { block: OriginBlock::new(1, index << 40), kind, sectors: SectorSet(0b101) }
        };
        let settings = SampleSettings { rate: 0.25, data_lines: 1 << 33 };
        let references = (0..count).map(reference).collect();
        SamplePiece { settings, line_bytes: 8192, first: 9, references, is_last: true }
    }

    fn content(piece: &SamplePiece) -> Vec<u8> {
        Frame::decode(&encode(piece), MOST_BYTES).expect("a message").content
    }

    #[test]
    fn a_sample_is_what_it_was_and_no_shorter_or_longer_one_is() {
        let bytes = content(&piece(5));
        assert_eq!(from_content(&bytes), Ok(piece(5)));
        for length in 0..bytes.len() {
            assert!(matches!(from_content(&bytes[..length]), Err(FrameFault::Truncated { .. })), "{length}");
        }
        assert!(matches!(from_content(&[&bytes[..], &[0]].concat()), Err(FrameFault::TooLong { .. })));
        assert!(encode(&piece(0)).len() < MOST_BYTES && 11 * MOST_REFERENCES + 50 < MOST_BYTES);
    }

    #[test]
    fn garbage_with_a_right_checksum_does_not_panic_and_is_refused_or_read_as_it_stands() {
        let bytes = content(&piece(3));
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                if let Ok(piece) = from_content(&changed) {
                    assert_eq!(content(&piece), changed);
                }
            }
        }
    }
}
