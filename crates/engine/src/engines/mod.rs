//! One folder per engine, one line each in `registry!`. Lists and re-exports.
