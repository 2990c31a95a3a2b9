//! What the typesetter may see: one source and the fonts in this program. No file, no package, no clock.

use crate::glyphs::with_glyphs;
use typst::diag::{FileError, FileResult};
use typst::foundations::{Bytes, Datetime, Duration};
use typst::syntax::{FileId, Source};
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;
use typst::{Library, LibraryExt, World};

/// One source with its fonts.
pub(crate) struct PaperWorld {
    library: LazyHash<Library>,
    book: LazyHash<FontBook>,
    fonts: Vec<Font>,
    source: Source,
    missing: Option<String>,
}

impl PaperWorld {
    /// A world of a source; letters without a glyph are replaced.
    pub(crate) fn new(source: String) -> Self {
        let fonts: Vec<Font> = typst_assets::fonts().flat_map(|file| Font::iter(Bytes::new(file))).collect();
        let (source, missing) = with_glyphs(source, &fonts);
        Self {
            library: LazyHash::new(Library::default()),
            book: LazyHash::new(FontBook::from_fonts(&fonts)),
            fonts,
            source: Source::detached(source),
            missing,
        }
    }

    /// Letters of the source that no font has; `None` where there are all.
    pub(crate) fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }
}

impl World for PaperWorld {
    fn library(&self) -> &LazyHash<Library> {
        &self.library
    }

    fn book(&self) -> &LazyHash<FontBook> {
        &self.book
    }

    fn main(&self) -> FileId {
        self.source.id()
    }

    fn source(&self, id: FileId) -> FileResult<Source> {
        if id == self.source.id() { Ok(self.source.clone()) } else { Err(FileError::AccessDenied) }
    }

    fn file(&self, _: FileId) -> FileResult<Bytes> {
        Err(FileError::AccessDenied)
    }

    fn font(&self, index: usize) -> Option<Font> {
        self.fonts.get(index).cloned()
    }

    fn today(&self, _: Option<Duration>) -> Option<Datetime> {
        None
    }
}
