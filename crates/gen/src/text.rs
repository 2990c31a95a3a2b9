//! Short ASCII texts without allocation.
//!
//! A [`Text`] lives inside its row and is overwritten by the next row. It holds what this crate
//! draws; it is no general string type.

use std::fmt;

use crate::Rng;

/// ASCII text of at most `N` characters, held in place.
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    length: usize,
    characters: [u8; N],
}

impl<const N: usize> Text<N> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).expect("only ASCII is ever written")
    }

    /// The text's characters, one byte each.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.characters[..self.length]
    }

    /// Number of characters.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// True if there is no character.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Replaces the text by `parts`, one after the other; together at most `N` characters.
    pub(crate) fn set(&mut self, parts: &[&str]) {
        self.length = 0;
        for part in parts {
            assert!(part.is_ascii(), "\"{part}\" is not ASCII");
            let end = self.length + part.len();
            self.characters[self.length..end].copy_from_slice(part.as_bytes());
            self.length = end;
        }
    }

    /// A random a-string of `low..=high` characters, its length uniform (clause 4.3.2.2).
    #[inline]
    pub(crate) fn draw_alphanumerics(&mut self, rng: &mut Rng, low: usize, high: usize) {
        self.length = low + rng.below((high - low + 1) as u64) as usize;
        rng.alphanumerics_in(&mut self.characters, self.length);
    }

    /// `N` random letters.
    #[inline]
    pub(crate) fn draw_letters(&mut self, rng: &mut Rng) {
        self.length = N;
        rng.letters(&mut self.characters);
    }

    /// `count` random digits, followed by `suffix`.
    #[inline]
    pub(crate) fn draw_digits(&mut self, rng: &mut Rng, count: usize, suffix: &str) {
        self.length = count + suffix.len();
        rng.digits(&mut self.characters[..count]);
        self.characters[count..self.length].copy_from_slice(suffix.as_bytes());
    }

    /// Overwrites the characters at a uniformly random position with `part`, which must be
    /// shorter than the text.
    pub(crate) fn plant(&mut self, rng: &mut Rng, part: &str) {
        let places = (self.length - part.len() + 1) as u64;
        let start = rng.below(places) as usize;
        self.characters[start..start + part.len()].copy_from_slice(part.as_bytes());
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self { length: 0, characters: [0; N] }
    }
}

impl<const N: usize> PartialEq for Text<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const N: usize> Eq for Text<N> {}

impl<const N: usize> AsRef<str> for Text<N> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use crate::Seed;

    use super::*;

    #[test]
    fn a_shorter_text_forgets_the_longer_one() {
        let mut text = Text::<8>::default();
        text.set(&["ABCD", "EFGH"]);
        assert_eq!(text.as_str(), "ABCDEFGH");
        text.set(&["XY"]);
        assert_eq!((text.as_str(), text.len()), ("XY", 2));
    }

    #[test]
    fn lengths_are_uniform_and_reach_both_ends() {
        let mut rng = Seed(1).rng();
        let mut text = Text::<24>::default();
        let mut counts = [0; 25];
        for _ in 0..11_000 {
            text.draw_alphanumerics(&mut rng, 14, 24);
            counts[text.len()] += 1;
        }
        assert_eq!(counts[..14].iter().sum::<i32>(), 0);
        assert!(counts[14..].iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_planted_part_is_found_at_every_position() {
        let mut rng = Seed(2).rng();
        let mut starts = [0; 19];
        for _ in 0..2_000 {
            let mut text = Text::<50>::default();
            text.draw_alphanumerics(&mut rng, 26, 26);
            text.plant(&mut rng, "ORIGINAL");
            assert_eq!(text.len(), 26);
            starts[text.as_str().find("ORIGINAL").unwrap()] += 1;
        }
        assert!(starts.iter().all(|&count| count > 50), "{starts:?}");
    }
}
