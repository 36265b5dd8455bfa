//! The dealer of `malice.referee.course`.

use malice_rules::dealer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Chooses the order of every shuffle of one game.
#[pyclass(module = "malice_core")]
pub struct Dealer(pub dealer::Dealer);

#[pymethods]
impl Dealer {
    #[new]
    fn new(seed: &[u8]) -> Dealer {
        Dealer(dealer::Dealer::new(seed))
    }

    /// A dealer whose next shuffles are the same, and who is asked apart from this one.
    fn copy(&self) -> Dealer {
        Dealer(self.0.clone())
    }

    /// Draws a number below `size`.
    fn draw(&mut self, size: usize) -> PyResult<usize> {
        if size == 0 {
            return Err(PyValueError::new_err("expected a size of 1 or more, got 0"));
        }
        Ok(self.0.draw(size))
    }

    /// Draws a permutation of range(size).
    fn order(&mut self, size: usize) -> Vec<usize> {
        self.0.order(size)
    }
}
