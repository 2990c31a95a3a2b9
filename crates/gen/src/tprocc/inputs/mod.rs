//! The inputs of the five transactions (clauses 2.4.1 to 2.8.1) and their mix (clause 5.2).
//!
//! Inputs are a function of (seed, user, index): drawn before the clock starts, without
//! allocation, and drawn again at will when an acknowledged order is verified.

mod draw;
mod homes;
mod input;
mod mix;
mod plan;
mod user;

pub use homes::Homes;
pub use input::{
    CustomerBy, Delivery, Input, Line, MAX_LINES, NewOrder, OrderStatus, Payment, StockLevel, Transaction,
};
pub use mix::{DECK_CARDS, Mix, Weights};
pub use plan::{InputPlan, InputSettings};
pub use user::UserInputs;
