//! Charts as data: what is drawn, not how.

/// A chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Chart {
    /// One set of axes; drawn wide, and again narrow for small screens.
    Plot(Panel),
    /// Stacks of axes over one horizontal axis each: one is drawn across the page, several beside each other.
    Strips(Vec<Strips>),
    /// Small multiples; each a drawing of its own, laid out in a grid.
    Panels(Vec<Panel>),
    /// Horizontal bars with intervals, grouped.
    Bars(Bars),
    /// Rows of dots with intervals on one axis.
    Dots(DotRows),
    /// Horizontal bars of parts that add up.
    Stacks(Stacks),
    /// Boxes with links.
    Diagram(Diagram),
    /// Heat maps, each with a title, on one scale.
    Heats(Vec<Heat>),
}

/// Linear or logarithmic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Equal distances, equal differences.
    Linear,
    /// Equal distances, equal ratios.
    Logarithmic,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// What it measures.
    pub(crate) title: String,
    /// Its unit; empty for words.
    pub(crate) unit: String,
    /// How values are laid out.
    pub(crate) scale: Scale,
    /// Ticks with labels; `None`: chosen by the chart.
    pub(crate) ticks: Option<Vec<(f64, String)>>,
    /// Whether zero must be on the axis. A linear axis of throughput starts there.
    pub(crate) from_zero: bool,
    /// Fixed upper end, such as 100 %; `None`: from the data.
    pub(crate) up_to: Option<f64>,
    /// Values that must be on the axis beside the data, so that several panels have one scale.
    pub(crate) within: Option<(f64, f64)>,
}

impl Axis {
    /// A linear axis from zero.
    pub(crate) fn linear(title: &str, unit: &str) -> Self {
        Self {
            title: title.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Linear,
            ticks: None,
            from_zero: true,
            up_to: None,
            within: None,
        }
    }

    /// A logarithmic axis.
    pub(crate) fn logarithmic(title: &str, unit: &str) -> Self {
        Self { scale: Scale::Logarithmic, from_zero: false, ..Self::linear(title, unit) }
    }
}

/// What a series is; decides how it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Measured: line and markers in the palette's colour of this number.
    Measured(usize),
    /// Markers without a line, over words.
    Dots(usize),
    /// A line without markers, told from others by its dashes too.
    Curve(usize),
    /// A line without markers, for many points.
    Trace(usize),
    /// Published by others: a dashed line in neutral colour.
    Reference,
    /// Void results: hollow markers without a line.
    Void,
}

/// One value with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// Place on the x axis.
    pub(crate) x: f64,
    /// Place on the y axis.
    pub(crate) y: f64,
    /// 95 % interval on the y axis.
    pub(crate) interval: Option<(f64, f64)>,
}

/// Values that belong together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Its name, drawn beside it.
    pub(crate) name: String,
    /// What it is.
    pub(crate) role: Role,
    /// Values in order of x; a value that is not finite breaks the line.
    pub(crate) samples: Vec<Sample>,
}

/// What a shaded range means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BandKind {
    /// Warm-up: not measured.
    WarmUp,
    /// The measured window.
    Window,
    /// Where the knee lies.
    Knee,
    /// Time without service.
    Away,
    /// Time in which commits did not wait as their mode says.
    Unprotected,
    /// Time of which nothing was read: hatched.
    Absent,
    /// The begin of a checkpoint: a wide line.
    Checkpoint,
    /// An instant: a line with its name.
    Instant,
}

/// A shaded range of x.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Band {
    /// Lower end.
    pub(crate) from: f64,
    /// Upper end.
    pub(crate) to: f64,
    /// Meaning.
    pub(crate) kind: BandKind,
    /// Its name.
    pub(crate) label: String,
}

/// A horizontal line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    /// Where on the y axis.
    pub(crate) y: f64,
    /// Range of x; `None`: all of it.
    pub(crate) span: Option<(f64, f64)>,
    /// Its name; empty for none.
    pub(crate) label: String,
}

/// One set of axes with what is drawn on it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// Title above it; empty for none.
    pub(crate) title: String,
    /// A description in words of this panel.
    pub(crate) alt: String,
    /// Horizontal.
    pub(crate) x: Axis,
    /// Vertical.
    pub(crate) y: Axis,
    /// Shaded ranges.
    pub(crate) bands: Vec<Band>,
    /// Horizontal lines.
    pub(crate) rules: Vec<Rule>,
    /// Data.
    pub(crate) series: Vec<Series>,
}

impl Panel {
    /// Series on two axes, with nothing behind them.
    pub(crate) fn of(x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self { title: String::new(), alt: String::new(), x, y, bands: Vec::new(), rules: Vec::new(), series }
    }
}

/// Sets of axes below each other over one horizontal axis, the first the largest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Strips {
    /// Title above it; empty for none.
    pub(crate) title: String,
    /// Axes, from above.
    pub(crate) panels: Vec<Panel>,
}

/// Horizontal bars.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bars {
    /// The axis of values, from zero.
    pub(crate) axis: Axis,
    /// Names of the bars of each group, in order.
    pub(crate) names: Vec<String>,
    /// Groups, from above.
    pub(crate) groups: Vec<Group>,
    /// Observed values of groups of one bar that have no valid one, drawn in grey; empty where none is drawn.
    pub(crate) observed: Vec<Option<Bar>>,
}

/// One bar: its value and its 95 % interval.
pub(crate) type Bar = (f64, Option<(f64, f64)>);

/// One group of bars.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    /// Its label.
    pub(crate) label: String,
    /// Values with intervals, one per name; `None` where there is no valid value.
    pub(crate) values: Vec<Option<Bar>>,
}

/// Rows of dots on one axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DotRows {
    /// The axis of values.
    pub(crate) axis: Axis,
    /// Names of the dots of each row, in order.
    pub(crate) names: Vec<String>,
    /// Rows, from above.
    pub(crate) rows: Vec<Group>,
    /// Value of a vertical line to compare with.
    pub(crate) rule: Option<f64>,
    /// Range of values that count as equal.
    pub(crate) band: Option<(f64, f64)>,
}

/// Horizontal bars of parts that add up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stacks {
    /// The axis of values, from zero.
    pub(crate) axis: Axis,
    /// Names of the parts of each bar, in order; the last is the rest.
    pub(crate) names: Vec<String>,
    /// Bars, from above.
    pub(crate) rows: Vec<Stack>,
    /// Name of the marks.
    pub(crate) mark: String,
}

/// One bar of parts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stack {
    /// Its label.
    pub(crate) label: String,
    /// Values, one per name.
    pub(crate) parts: Vec<f64>,
    /// Value to compare their sum with; `None` where there is none.
    pub(crate) mark: Option<f64>,
}

/// Boxes in a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Diagram {
    /// Boxes from left to right.
    pub(crate) boxes: Vec<DiagramBox>,
}

/// One box.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DiagramBox {
    /// Title.
    pub(crate) title: String,
    /// Lines below it.
    pub(crate) lines: Vec<String>,
    /// What it is joined to the next box by.
    pub(crate) link: String,
}

/// A heat map.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heat {
    /// Title above it.
    pub(crate) title: String,
    /// A description in words.
    pub(crate) alt: String,
    /// Title of the horizontal axis with its unit.
    pub(crate) x_title: String,
    /// Labels of some columns: column number and text.
    pub(crate) x_ticks: Vec<(usize, String)>,
    /// Labels of rows, from above.
    pub(crate) rows: Vec<String>,
    /// Values by row, 0 to `full`; `None` where nothing was observed.
    pub(crate) cells: Vec<Vec<Option<f64>>>,
    /// The value of the darkest colour.
    pub(crate) full: f64,
    /// What a value is, with unit, for the legend.
    pub(crate) legend: String,
    /// Whether values stand in their cells: for maps of few.
    pub(crate) labelled: bool,
}
