//! Letters that no font of the paper has: a PDF for all readers may hold no letter without a glyph.

use std::collections::BTreeSet;
use typst::text::Font;

/// What stands in the place of a letter without a glyph; the fonts have it.
pub(crate) const INSTEAD: char = '\u{fffd}';

/// Most letters that are told.
const TOLD: usize = 20;

/// A source all of whose letters have glyphs, and those that it had without one.
pub(crate) fn with_glyphs(source: String, fonts: &[Font]) -> (String, Option<String>) {
    let letters: BTreeSet<char> = source.chars().filter(|letter| !letter.is_ascii()).collect();
    let has_glyph = |letter: char| fonts.iter().any(|font| font.info().coverage.contains(letter as u32));
    let missing: BTreeSet<char> =
        letters.into_iter().filter(|letter| !needs_no_glyph(*letter) && !has_glyph(*letter)).collect();
    if missing.is_empty() {
        return (source, None);
    }
    let told: Vec<String> = missing.iter().take(TOLD).map(|letter| format!("U+{:04X}", *letter as u32)).collect();
    let more = if missing.len() > TOLD { format!(" and {} more", missing.len() - TOLD) } else { String::new() };
    let source = source.chars().map(|letter| if missing.contains(&letter) { INSTEAD } else { letter }).collect();
    (source, Some(told.join(", ") + &more))
}

/// Letters that no font draws, and that need no glyph: spaces of zero width.
const fn needs_no_glyph(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200d}' | '\u{2060}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use typst::foundations::Bytes;

    fn fonts() -> Vec<Font> {
        typst_assets::fonts().flat_map(|file| Font::iter(Bytes::new(file))).collect()
    }

    #[test]
    fn what_no_font_has_is_replaced_and_told() {
        let fonts = fonts();
        let (source, missing) = with_glyphs("a µ ✓ 数 数 \u{1f600}".to_owned(), &fonts);
        assert_eq!(source, "a µ ✓ \u{fffd} \u{fffd} \u{fffd}");
        assert_eq!(missing.as_deref(), Some("U+6570, U+1F600"));
    }

    #[test]
    fn letters_of_reports_have_glyphs() {
        let (_, missing) =
            with_glyphs("– — … ≤ ≥ × · → − ± ✓ ✗ µ ² σ \u{2009}\u{202f}\u{a0}\u{fffd}".to_owned(), &fonts());
        assert_eq!(missing, None);
    }
}
