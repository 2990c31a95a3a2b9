//! Questions on a terminal: a numbered list, or a line. Knows nothing of studies, and reads and says only by what it is given.

use std::io::BufRead;

/// Somebody who answers.
pub(super) struct Questioner<'a> {
    /// Where answers come from.
    pub(super) input: &'a mut dyn BufRead,
    /// Shows a text as it stands, without an end of line.
    pub(super) show: &'a mut dyn FnMut(&str),
}

/// An answer, and what it means.
pub(super) type Offer<'a> = (&'a str, String);

impl Questioner<'_> {
    /// Lets one of several be chosen, by its number or its word; an empty line is the first. Fails when the input ends.
    pub(super) fn choose(&mut self, question: &str, offers: &[Offer<'_>]) -> Result<usize, String> {
        let width = offers.iter().map(|(word, _)| word.len()).max().unwrap_or_default();
        let line = |(index, (word, about)): (usize, &Offer<'_>)| format!("  {} {word:<width$}  {about}\n", index + 1);
        (self.show)(&format!("\n{question}\n{}", offers.iter().enumerate().map(line).collect::<String>()));
        loop {
            let answer = self.line("number or word [1]: ")?;
            let by_number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let by_word = offers.iter().position(|(word, _)| word.eq_ignore_ascii_case(&answer));
            match by_number.filter(|index| *index < offers.len()).or(by_word) {
                Some(index) => return Ok(index),
                None if answer.is_empty() => return Ok(0),
                None => (self.show)(&format!("{answer:?} is not one of the choices\n")),
            }
        }
    }

    /// Asks until the answer can be read; what cannot is explained.
    pub(super) fn ask<T>(&mut self, question: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, String> {
        loop {
            match read(&self.line(&format!("{question}: "))?) {
                Ok(answer) => return Ok(answer),
                Err(why) => (self.show)(&format!("{why}\n")),
            }
        }
    }

    fn line(&mut self, prompt: &str) -> Result<String, String> {
        (self.show)(prompt);
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) => Err("the input ended before the question was answered".to_owned()),
            Ok(_) => Ok(line.trim().to_owned()),
            Err(error) => Err(format!("failed to read the answer: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, expected: Result<usize, &str>, shown: &str) {
        let mut said = String::new();
        let mut show = |text: &str| said.push_str(text);
        let offers = [("one", "the first".to_owned()), ("three", "the other".to_owned())];
        let mut questioner = Questioner { input: &mut typed.as_bytes(), show: &mut show };
        let found = questioner.choose("Which?", &offers);
        assert_eq!(found.as_ref().copied().map_err(String::as_str), expected, "{typed:?}");
        assert!(said.contains(shown), "{said}");
    }

    #[test]
    fn an_answer_is_a_number_a_word_or_nothing() {
        check("2\n", Ok(1), "Which?\n  1 one    the first\n  2 three  the other\n");
        check("Three\n", Ok(1), "number or word [1]: ");
        check("\n", Ok(0), "Which?");
        check(
            "0\n3\ntwo\n1\n",
            Ok(0),
            "\"0\" is not one of the choices\nnumber or word [1]: \"3\" is not one of the choices\n",
        );
        check("", Err("the input ended before the question was answered"), "Which?");
    }
}
