//! The macro behind the registry: one visible line per engine becomes the constant list and the enums of sessions.
//!
//! A session is an enum and not a boxed trait object, so that a call costs a match and no allocation.
//! May not know any engine by name.

/// Makes `ENGINES`, `AnySession` and `AnyDocuments` from lines of `module: EngineType { session kinds }`. Each module has an
/// engine constant-constructible by its name, which for the kind `sql` is a [`crate::contract::SqlEngine`], for `documents` a
/// [`crate::contract::DocumentEngine`].
macro_rules! registry {
    ($($(#[$when:meta])? $module:ident: $engine:ident { $($kind:ident),+ }),+ $(,)?) => {
        $($(#[$when])? pub mod $module;)+

        /// Every engine that is built in, in the order of lists.
        pub const ENGINES: &[&dyn $crate::contract::Engine] = &[$($(#[$when])? &$module::$engine),+];

        /// The kinds of sessions of the engine of this name.
        fn session_kinds(name: &str) -> facts::SessionKinds {
            let mut kinds = facts::SessionKinds::default();
            $(
                $(#[$when])?
                if name == $crate::contract::Engine::about(&$module::$engine).name {
                    $(kinds.$kind = true;)+
                }
            )+
            kinds
        }

        $crate::engines::registry::sort! { [] [] $({ $(#[$when])? } $module $engine { $($kind)+ })+ }
    };
}

/// Sorts the lines by session kind, then makes the enums.
macro_rules! sort {
    ([$($sql:tt)*] [$($documents:tt)*] $when:tt $module:ident $engine:ident { sql } $($rest:tt)*) => {
        $crate::engines::registry::sort! { [$($sql)* $when $module $engine] [$($documents)*] $($rest)* }
    };
    ([$($sql:tt)*] [$($documents:tt)*] $when:tt $module:ident $engine:ident { documents } $($rest:tt)*) => {
        $crate::engines::registry::sort! { [$($sql)*] [$($documents)* $when $module $engine] $($rest)* }
    };
    ([$($sql:tt)*] [$($documents:tt)*] $when:tt $module:ident $engine:ident { sql documents } $($rest:tt)*) => {
        $crate::engines::registry::sort! { [$($sql)* $when $module $engine] [$($documents)* $when $module $engine] $($rest)* }
    };
    ([$($sql:tt)*] [$($documents:tt)*]) => {
        $crate::engines::registry::sql_sessions! { $($sql)* }
        $crate::engines::registry::document_sessions! { $($documents)* }
    };
}

/// The enum of SQL sessions.
macro_rules! sql_sessions {
    ($({ $($when:tt)* } $module:ident $engine:ident)+) => {
        /// An SQL session of any engine, dispatched by a match.
        #[derive(Debug)]
        pub enum AnySession {
            $(
                $($when)*
                #[doc = concat!("A session of the engine in `engines/", stringify!($module), "/`.")]
                $engine(<$module::$engine as $crate::contract::SqlEngine>::Session),
            )+
        }

        impl dyn $crate::contract::Engine + '_ {
            /// Opens an SQL session; an error unless the engine's line in the registry says that there are such. Cold path, blocking runtimes
            /// included: call it from a client thread's runtime.
            pub fn connect<'a>(&self, target: &'a $crate::contract::Target) -> $crate::contract::Work<'a, AnySession> {
                let name = self.about().name;
                $(
                    $($when)*
                    if name == $crate::contract::Engine::about(&$module::$engine).name {
                        let opened = $crate::contract::SqlEngine::open_session(&$module::$engine, target);
                        return Box::pin(async move { Ok(AnySession::$engine(opened.await?)) });
                    }
                )+
                Box::pin(async move {
                    Err($crate::contract::Error::other(format!("the engine {name} has no SQL sessions")))
                })
            }
        }

        impl $crate::contract::Session for AnySession {
            async fn prepare(&mut self, statements: &[$crate::contract::Statement]) -> Result<(), $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.prepare(statements).await,)+ }
            }

            async fn fly(&mut self, flight: &mut $crate::contract::Flight) -> Result<(), $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.fly(flight).await,)+ }
            }

            async fn query(&mut self, sql: &str) -> Result<Vec<$crate::contract::OwnedRow>, $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.query(sql).await,)+ }
            }

            async fn script(&mut self, sql: &str) -> Result<(), $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.script(sql).await,)+ }
            }

            async fn append(
                &mut self,
                table: &$crate::contract::Table<'_>,
                rows: &mut dyn $crate::contract::RowSource,
            ) -> Result<u64, $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.append(table, rows).await,)+ }
            }

            async fn takes_writes(&mut self) -> Result<bool, $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.takes_writes().await,)+ }
            }

            fn has_ended(&mut self) -> bool {
                match self { $($($when)* Self::$engine(session) => session.has_ended(),)+ }
            }

            fn take_warning(&mut self) -> bool {
                match self { $($($when)* Self::$engine(session) => session.take_warning(),)+ }
            }

            fn counters(&mut self, into: &mut Vec<proofload_model::samples::Reading>) {
                match self { $($($when)* Self::$engine(session) => session.counters(into),)+ }
            }
        }
    };
}

/// The enum of sessions of documents.
macro_rules! document_sessions {
    ($({ $($when:tt)* } $module:ident $engine:ident)+) => {
        /// A session of documents of any engine, dispatched by a match.
        #[derive(Debug)]
        pub enum AnyDocuments {
            $(
                $($when)*
                #[doc = concat!("A session of the engine in `engines/", stringify!($module), "/`.")]
                $engine(<$module::$engine as $crate::contract::DocumentEngine>::Documents),
            )+
        }

        impl dyn $crate::contract::Engine + '_ {
            /// Opens a session of documents; an error unless the engine's line in the registry says that there are such. Cold path, blocking runtimes
            /// included: call it from a client thread's runtime.
            pub fn connect_documents<'a>(&self, target: &'a $crate::contract::Target) -> $crate::contract::Work<'a, AnyDocuments> {
                let name = self.about().name;
                $(
                    $($when)*
                    if name == $crate::contract::Engine::about(&$module::$engine).name {
                        let opened = $crate::contract::DocumentEngine::open_documents(&$module::$engine, target);
                        return Box::pin(async move { Ok(AnyDocuments::$engine(opened.await?)) });
                    }
                )+
                Box::pin(async move {
                    Err($crate::contract::Error::other(format!("the engine {name} has no sessions of documents")))
                })
            }
        }

        impl $crate::contract::Documents for AnyDocuments {
            async fn open(&mut self, collection: &$crate::contract::Collection) -> Result<(), $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.open(collection).await,)+ }
            }

            async fn find(
                &mut self,
                key: &str,
                fields: $crate::contract::Fields,
                found: &mut $crate::contract::DocumentBuffer,
            ) -> Result<(), $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.find(key, fields, found).await,)+ }
            }

            async fn scan(
                &mut self,
                from: &str,
                limit: u32,
                fields: $crate::contract::Fields,
                found: &mut $crate::contract::DocumentBuffer,
            ) -> Result<(), $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.scan(from, limit, fields, found).await,)+ }
            }

            async fn update(
                &mut self,
                document: $crate::contract::DocumentRef<'_>,
            ) -> Result<u64, $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.update(document).await,)+ }
            }

            async fn insert(
                &mut self,
                batch: &$crate::contract::DocumentBuffer,
            ) -> Result<$crate::contract::InsertOutcome, $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.insert(batch).await,)+ }
            }

            async fn count(&mut self) -> Result<u64, $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.count().await,)+ }
            }

            async fn collections(&mut self) -> Result<Vec<String>, $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.collections().await,)+ }
            }

            async fn notes(&mut self, collection: &str) -> Result<Vec<(String, String)>, $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.notes(collection).await,)+ }
            }

            async fn note(
                &mut self,
                collection: &str,
                notes: &[(String, String)],
            ) -> Result<(), $crate::contract::Error> {
                match self { $($($when)* Self::$engine(session) => session.note(collection, notes).await,)+ }
            }

            fn counters(&mut self, into: &mut Vec<proofload_model::samples::Reading>) {
                match self { $($($when)* Self::$engine(session) => session.counters(into),)+ }
            }
        }
    };
}

/// The engine of this name, as in `engine.kind`.
pub fn engine(name: &str) -> Option<&'static dyn crate::contract::Engine> {
    super::ENGINES.iter().copied().find(|engine| engine.about().name == name)
}

pub(crate) use {document_sessions, registry, sort, sql_sessions};
