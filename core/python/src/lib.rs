//! `malice_core`: the compiled rules behind the interface that malice calls.

mod course;
mod dealer;
mod lanes;
mod rules;
mod structs;

use pyo3::prelude::*;

/// The rules of Spite & Malice and its relatives, compiled; malice finds and uses them by itself.
#[pymodule]
mod malice_core {
    #[pymodule_export]
    use super::course::Course;

    #[pymodule_export]
    use super::dealer::Dealer;

    #[pymodule_export]
    use super::lanes::Lanes;

    #[pymodule_export]
    use super::rules::{Rules, State};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// A hash of the sources that it was compiled from.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __source__: &str = env!("MALICE_CORE_SOURCE");
}
