//! Charts as static SVG: a pure function of the chart's data, byte-identical for equal input. Colours and fonts are the
//! style sheet's; shapes, dashes and labels tell series apart without colour. May not compute statistics.

mod axis;
mod bars;
mod diagram;
mod dots;
mod heat;
mod marks;
mod plot;
mod stacks;
mod svg;

pub(crate) use bars::draw_bars;
pub(crate) use diagram::draw_diagram;
pub(crate) use dots::draw_dots;
pub(crate) use heat::{draw_heat, draw_heat_scale};
pub(crate) use plot::{Frame, draw_key, draw_panel, draw_strips};
pub(crate) use stacks::draw_stacks;
pub(crate) use svg::{Drawing, escape};
