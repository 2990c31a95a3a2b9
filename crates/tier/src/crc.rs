//! CRC-32C of sectors and of blocks of metadata, in tables. It knows nothing of what it sums.

/// The Castagnoli polynomial, reflected. Source: RFC 3720, appendix B.4.
const POLYNOMIAL: u32 = 0x82f6_3b78;
/// Bytes that one round takes in.
const LANES: usize = 16;

static TABLES: [[u32; 256]; LANES] = tables();

const fn tables() -> [[u32; 256]; LANES] {
    let mut tables = [[0; 256]; LANES];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    let mut lane = 1;
    while lane < LANES {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[lane - 1][byte];
            tables[lane][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        lane += 1;
    }
    tables
}

/// The CRC-32C of some bytes.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    let mut sum = !0_u32;
    let (chunks, rest) = bytes.as_chunks::<LANES>();
    for chunk in chunks {
        let (words, _) = chunk.as_chunks::<4>();
        let first = u32::from_le_bytes(words[0]) ^ sum;
        sum = four(first, 12) ^ four(u32::from_le_bytes(words[1]), 8);
        sum ^= four(u32::from_le_bytes(words[2]), 4) ^ four(u32::from_le_bytes(words[3]), 0);
    }
    for byte in rest {
        let index = usize::from(sum.to_le_bytes()[0] ^ byte);
        sum = (sum >> 8) ^ TABLES[0][index];
    }
    !sum
}

/// What four bytes become after so many bytes and the rest of the four themselves.
#[inline(always)]
fn four(word: u32, behind: usize) -> u32 {
    let byte = |shift: u32| ((word >> shift) & 0xff) as usize;
    TABLES[behind + 3][byte(0)] ^ TABLES[behind + 2][byte(8)] ^ TABLES[behind + 1][byte(16)] ^ TABLES[behind][byte(24)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_rfc_3720() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&rising), 0x46dd_794e);
        assert_eq!(crc32c(&[]), 0);
    }
}
