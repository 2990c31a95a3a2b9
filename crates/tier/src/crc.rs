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
        let first = sum.to_le_bytes();
        let mut next = 0;
        for (at, byte) in chunk.iter().enumerate() {
            let byte = if at < 4 { byte ^ first[at] } else { *byte };
            next ^= TABLES[LANES - 1 - at][usize::from(byte)];
        }
        sum = next;
    }
    for byte in rest {
        let index = usize::from(sum.to_le_bytes()[0] ^ byte);
        sum = (sum >> 8) ^ TABLES[0][index];
    }
    !sum
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
