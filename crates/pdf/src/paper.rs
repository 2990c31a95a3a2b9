//! A PDF from a source.

use crate::glyphs::INSTEAD;
use crate::world::PaperWorld;
use typst::diag::{SourceDiagnostic, Warned};
use typst::ecow::EcoVec;
use typst::foundations::Smart;
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, PdfStandard, PdfStandards};

/// A PDF and what is to be said of it.
#[derive(Debug)]
pub(crate) struct Paper {
    /// The file.
    pub(crate) pdf: Vec<u8>,
    /// What a reader of it may miss.
    pub(crate) notes: Vec<String>,
}

/// Makes PDF/UA-1 of a source, or a tagged PDF without that promise where a text cannot keep it, which is noted.
pub(crate) fn paper(source: String) -> Result<Paper, String> {
    let identity = source.clone();
    let world = PaperWorld::new(source);
    let missing = |letters: &str| format!("letters that the fonts do not have are shown as {INSTEAD}: {letters}");
    let mut notes: Vec<String> = world.missing().map(missing).into_iter().collect();
    let Warned { output, .. } = typst::compile::<PagedDocument>(&world);
    let document = output.map_err(|errors| format!("failed to set the paper: {}", in_words(&errors)))?;
    let options = |standards: &[PdfStandard]| options(standards, &identity);
    let pdf = typst_pdf::pdf(&document, &options(&[PdfStandard::Ua_1])?).or_else(|errors| {
        notes.push(format!("the paper is tagged, but not PDF/UA-1: {}", in_words(&errors)));
        typst_pdf::pdf(&document, &options(&[])?)
            .map_err(|errors| format!("failed to write the PDF: {}", in_words(&errors)))
    })?;
    Ok(Paper { pdf, notes })
}

/// Options of a paper, which is identified by its source.
fn options(standards: &[PdfStandard], identity: &str) -> Result<PdfOptions, String> {
    let standards =
        PdfStandards::new(standards).map_err(|error| format!("failed to choose a standard: {}", error.message()))?;
    Ok(PdfOptions { ident: Smart::Custom(identity.to_owned()), standards, ..PdfOptions::default() })
}

/// Errors of the typesetter with their hints.
fn in_words(errors: &EcoVec<SourceDiagnostic>) -> String {
    let words = |error: &SourceDiagnostic| {
        let hints: String = error.hints.iter().map(|hint| format!(" ({})", hint.v)).collect();
        format!("{}{hints}", error.message)
    };
    errors.iter().take(3).map(words).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "#set document(title: \"T\", date: datetime(year: 2026, month: 1, day: 2))\n#set text(lang: \"en\")\n#title()\n";

    #[test]
    fn equal_sources_give_equal_bytes() {
        let made = || paper(format!("{HEAD}= A heading\nAnd text.")).expect("a paper");
        let (one, two) = (made(), made());
        assert!(one.pdf.starts_with(b"%PDF-") && one.pdf == two.pdf && one.notes.is_empty(), "{:?}", one.notes);
        let has = |text: &str| one.pdf.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(has("pdfuaid") && has("2026-01-02"), "its promise and its date are in its metadata");
    }

    #[test]
    fn a_source_sees_no_file_no_package_and_no_clock() {
        for (reach, why) in [
            ("#read(\"/etc/hostname\")", "access denied"),
            ("#image(\"a.png\")", "access denied"),
            ("#import \"@preview/cetz:0.3.0\"", "access denied"),
            ("#datetime.today().display()", "date"),
        ] {
            let error = paper(format!("{HEAD}{reach}")).expect_err(reach);
            assert!(error.contains(why), "{reach}: {error}");
        }
    }

    #[test]
    fn what_no_font_has_is_noted_and_the_paper_is_made() {
        let paper = paper(format!("{HEAD}数")).expect("a paper");
        assert_eq!(paper.notes, ["letters that the fonts do not have are shown as \u{fffd}: U+6570"]);
    }
}
