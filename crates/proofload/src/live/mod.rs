//! What the operator sees while a study runs: a live view on a terminal, lines elsewhere. Lists and re-exports.

mod beside;
mod board;
mod expectation;
mod line;
mod lines;
mod numbers;
mod pace;
mod pair;
mod row;
mod screen;
mod second;
mod silent;
mod sparkline;
mod terminal;
mod ticker;
mod view;

pub(crate) use board::Board;
pub(crate) use expectation::Expectation;
pub(crate) use lines::{ended_json, load_json};
pub(crate) use pair::ViewPair;
pub(crate) use row::{RunRow, RunningRun, Standing, phase_span};
pub(crate) use screen::{Head, ScreenSize, screen};
pub(crate) use second::{DeviceNow, HostNow, LoadNow, SecondSeen};
pub(crate) use terminal::Canvas;
pub(crate) use ticker::Ticker;
pub(crate) use view::{Phase, Program, RunEnd, View, show};
