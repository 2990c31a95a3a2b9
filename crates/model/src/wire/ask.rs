//! Requests with typed answers: who asks for `T` gets `T::Answer`, and who serves a role has one method for each request. The enums that
//! travel are made here, so that no answer can be taken for another's.

use super::{Reply, Request};
use crate::time::Moment;
use serde::{Deserialize, Serialize};

/// A request that says what its answer is.
pub trait Ask: Into<Request> + Send {
    /// What comes back.
    type Answer: Send;

    /// Takes the answer out of a reply; `None`: the reply belongs to another request.
    fn answer(reply: Reply) -> Option<Self::Answer>;
}

/// Asks for the clock and the process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ping;

/// The clock of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pong {
    /// When the call arrived, on the agent's monotonic clock.
    pub received: Moment,
    /// When it is answered, on the same clock.
    pub moment: Moment,
    /// Process id.
    pub pid: u32,
}

impl From<Ping> for Request {
    fn from(_: Ping) -> Self {
        Self::Ping
    }
}

impl Ask for Ping {
    type Answer = Pong;

    fn answer(reply: Reply) -> Option<Pong> {
        if let Reply::Ping(pong) = reply { Some(pong) } else { None }
    }
}

/// Asks an agent to release everything and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quit;

impl From<Quit> for Request {
    fn from(_: Quit) -> Self {
        Self::Quit
    }
}

impl Ask for Quit {
    type Answer = ();

    fn answer(reply: Reply) -> Option<()> {
        (reply == Reply::Quit).then_some(())
    }
}

/// Makes the requests of a role: a struct for each, `Request` and `Reply` with a variant for each, and the trait that a server of the
/// role implements.
macro_rules! asks {
    (
        $role:ident
        $( #[$trait_doc:meta] )* trait $service:ident;
        $( $( #[$doc:meta] )* $method:ident: $name:ident { $( $( #[$field_doc:meta] )* $field:ident: $type:ty ),* $(,)? } -> $answer:ty; )*
    ) => {
        $(
            $( #[$doc] )*
            #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
            pub struct $name { $( $( #[$field_doc] )* pub $field: $type ),* }

            impl From<$name> for super::Request {
                fn from(ask: $name) -> Self {
                    Self::$role(Request::$name(ask))
                }
            }

            impl super::Ask for $name {
                type Answer = $answer;

                fn answer(reply: super::Reply) -> Option<$answer> {
                    if let super::Reply::$role(Reply::$name(answer)) = reply { Some(answer) } else { None }
                }
            }
        )*

        /// Any request to this role.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        pub enum Request {
            $( $( #[$doc] )* $name($name), )*
        }

        /// Any answer of this role.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        pub enum Reply {
            $( #[doc = concat!("To [`", stringify!($name), "`].")] $name($answer), )*
        }

        $( #[$trait_doc] )*
        pub trait $service {
            $(
                $( #[$doc] )*
                ///
                /// # Errors
                /// What was to be done, on what, what came back, what to try.
                fn $method(&mut self, ask: $name) -> Result<$answer, crate::error::Error>;
            )*
        }

        impl Request {
            /// Hands the request to the method that serves it.
            ///
            /// # Errors
            /// That method's.
            pub fn serve(self, service: &mut impl $service) -> Result<super::Reply, crate::error::Error> {
                match self {
                    $( Self::$name(ask) => service.$method(ask).map(|answer| super::Reply::$role(Reply::$name(answer))), )*
                }
            }
        }
    };
}

pub(super) use asks;
