//! The macro behind the registry: one visible line per engine becomes the constant list and the enum of sessions.
//!
//! A session is an enum and not a boxed trait object, so that a flight costs a match and no allocation.
//! May not know any engine by name.

/// Makes `ENGINES` and `AnySession` from lines of `module: EngineType`. Each module has an engine constant-constructible by
/// its name and a type `Session`.
macro_rules! registry {
    ($($module:ident: $engine:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every engine that is built in, in the order of lists.
        pub const ENGINES: &[&dyn $crate::contract::Engine] = &[$(&$module::$engine),+];

        /// A session of any engine, dispatched by a match.
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
                table: &$crate::contract::Table,
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

/// The engine of this name, as in `engine.kind`.
pub fn engine(name: &str) -> Option<&'static dyn crate::contract::Engine> {
    super::ENGINES.iter().copied().find(|engine| engine.facts().name == name)
}

pub(crate) use registry;
