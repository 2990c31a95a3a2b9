//! The macro behind the registry: one visible line per engine becomes the constant list and the enums of sessions.
//!
//! A session is an enum and not a boxed trait object, so that a call costs a match and no allocation.
//! May not know any engine by name.

/// Makes `ENGINES`, `AnySession` and `AnyDocuments` from lines of `module: EngineType { session kinds }`. Each module has an
/// engine constant-constructible by its name, and for the kind `sql` a type `Session`, for `documents` a type `Documents`.
macro_rules! registry {
    ($($module:ident: $engine:ident { $($kind:ident),+ }),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every engine that is built in, in the order of lists.
        pub const ENGINES: &[&dyn $crate::contract::Engine] = &[$(&$module::$engine),+];

        $crate::engines::registry::sort! { [] [] $($module $engine { $($kind)+ })+ }
    };
}

/// Sorts the lines by session kind, then makes the enums.
macro_rules! sort {
    ([$($sql:tt)*] [$($documents:tt)*] $module:ident $engine:ident { sql } $($rest:tt)*) => {
        $crate::engines::registry::sort! { [$($sql)* $module $engine] [$($documents)*] $($rest)* }
    };
    ([$($sql:tt)*] [$($documents:tt)*] $module:ident $engine:ident { documents } $($rest:tt)*) => {
        $crate::engines::registry::sort! { [$($sql)*] [$($documents)* $module $engine] $($rest)* }
    };
    ([$($sql:tt)*] [$($documents:tt)*] $module:ident $engine:ident { sql documents } $($rest:tt)*) => {
        $crate::engines::registry::sort! { [$($sql)* $module $engine] [$($documents)* $module $engine] $($rest)* }
    };
    ([$($sql:tt)*] [$($documents:tt)*]) => {
        $crate::engines::registry::sql_sessions! { $($sql)* }
        $crate::engines::registry::document_sessions! { $($documents)* }
    };
}

/// The enum of SQL sessions.
macro_rules! sql_sessions {
    ($($module:ident $engine:ident)+) => {
        /// An SQL session of any engine, dispatched by a match.
        #[derive(Debug)]
        pub enum AnySession {
            $(
                #[doc = concat!("A session of the engine in `engines/", stringify!($module), "/`.")]
                $engine($module::Session),
            )+
        }

        impl $crate::contract::Session for AnySession {
            async fn prepare(&mut self, statements: &[$crate::contract::Statement]) -> Result<(), $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.prepare(statements).await,)+ }
            }

            async fn fly(&mut self, flight: &mut $crate::contract::Flight) -> Result<(), $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.fly(flight).await,)+ }
            }

            async fn query(&mut self, sql: &str) -> Result<Vec<$crate::contract::OwnedRow>, $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.query(sql).await,)+ }
            }

            async fn script(&mut self, sql: &str) -> Result<(), $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.script(sql).await,)+ }
            }

            async fn append(
                &mut self,
                table: &$crate::contract::Table<'_>,
                rows: &mut dyn $crate::contract::RowSource,
            ) -> Result<u64, $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.append(table, rows).await,)+ }
            }

            fn counters(&mut self, into: &mut Vec<proofload_model::samples::Reading>) {
                match self { $(Self::$engine(session) => session.counters(into),)+ }
            }
        }
    };
}

/// The enum of sessions of documents.
macro_rules! document_sessions {
    ($($module:ident $engine:ident)+) => {
        /// A session of documents of any engine, dispatched by a match.
        #[derive(Debug)]
        pub enum AnyDocuments {
            $(
                #[doc = concat!("A session of the engine in `engines/", stringify!($module), "/`.")]
                $engine($module::Documents),
            )+
        }

        impl $crate::contract::Documents for AnyDocuments {
            async fn open(&mut self, collection: &$crate::contract::Collection) -> Result<(), $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.open(collection).await,)+ }
            }

            async fn find(
                &mut self,
                key: &str,
                fields: $crate::contract::Fields,
                found: &mut $crate::contract::DocumentBuffer,
            ) -> Result<(), $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.find(key, fields, found).await,)+ }
            }

            async fn scan(
                &mut self,
                from: &str,
                limit: u32,
                fields: $crate::contract::Fields,
                found: &mut $crate::contract::DocumentBuffer,
            ) -> Result<(), $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.scan(from, limit, fields, found).await,)+ }
            }

            async fn update(
                &mut self,
                document: $crate::contract::DocumentRef<'_>,
            ) -> Result<u64, $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.update(document).await,)+ }
            }

            async fn insert(
                &mut self,
                batch: &$crate::contract::DocumentBuffer,
            ) -> Result<$crate::contract::Inserted, $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.insert(batch).await,)+ }
            }

            async fn count(&mut self) -> Result<u64, $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.count().await,)+ }
            }

            async fn collections(&mut self) -> Result<Vec<String>, $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.collections().await,)+ }
            }

            async fn notes(&mut self, collection: &str) -> Result<Vec<(String, String)>, $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.notes(collection).await,)+ }
            }

            async fn note(
                &mut self,
                collection: &str,
                notes: &[(String, String)],
            ) -> Result<(), $crate::contract::Error> {
                match self { $(Self::$engine(session) => session.note(collection, notes).await,)+ }
            }

            fn counters(&mut self, into: &mut Vec<proofload_model::samples::Reading>) {
                match self { $(Self::$engine(session) => session.counters(into),)+ }
            }
        }
    };
}

/// The engine of this name, as in `engine.kind`.
pub fn engine(name: &str) -> Option<&'static dyn crate::contract::Engine> {
    super::ENGINES.iter().copied().find(|engine| engine.facts().name == name)
}

pub(crate) use {document_sessions, registry, sort, sql_sessions};
