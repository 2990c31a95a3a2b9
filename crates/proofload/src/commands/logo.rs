//! Reads the image of a logo, so that the record and each report of it can hold it. May not decode or change it.

use super::bounded_file::bytes_of;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::path::Path;

/// Largest image, bytes: it is in every report.
const MOST_BYTES: u64 = 64 * 1024;

/// The image of a file as a `data:` URL.
///
/// # Errors
/// The file cannot be read, is larger than [`MOST_BYTES`], or is no PNG, JPEG or SVG.
pub(super) fn embedded(file: &Path) -> Result<String, String> {
    let bytes = bytes_of(file, MOST_BYTES)?;
    let kind = kind(&bytes).ok_or("this is no PNG, JPEG or SVG image")?;
    Ok(format!("data:{kind};base64,{}", STANDARD.encode(bytes)))
}

/// The media type of an image by its first bytes.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    let is_svg = || std::str::from_utf8(bytes).is_ok_and(|text| text.contains("<svg"));
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        _ if is_svg() => Some("image/svg+xml"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_beyond_the_bound_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("logo.svg");
        let mut image = b"<svg/>".to_vec();
        image.resize(64 * 1024, b' ');
        std::fs::write(&path, &image).expect("it is written");
        assert!(embedded(&path).is_ok_and(|url| url.starts_with("data:image/svg+xml;base64,")));
        image.push(b' ');
        std::fs::write(&path, &image).expect("it is written");
        assert!(embedded(&path).is_err_and(|error| error.contains("at most 65536 are taken")));
    }

    #[test]
    fn an_image_is_known_by_its_first_bytes() {
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n"), Some("image/png"));
        assert_eq!(kind(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(kind(b"<?xml version=\"1.0\"?><svg/>"), Some("image/svg+xml"));
        assert_eq!(kind(b"<html>"), None);
        assert_eq!(kind(b""), None);
    }
}
