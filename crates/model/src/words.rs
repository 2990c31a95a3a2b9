//! Enums of words: a variant and its word in studies, records and tables, written once. May not know what a word means.

/// Makes an enum with the word of each variant, which is also its form in JSON.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$of])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every one, in the order of the words.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];

            /// Words in studies and records.
            pub const WORDS: &[&str] = &[$($word,)*];

            /// The word in studies and records.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// What a word stands for.
            pub fn of(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use words;
