//! The weights of the cut-off value, as `prompter fitting` printed them for standard, skipbo and book.

use crate::value::Features;

pub const STANDARD: Features = [
    -1.209, -1.226, 0.290, 0.281, 0.148, 0.097, -0.028, -0.003, -0.034, -0.033, 0.006, 0.250, -0.001, 0.099, 0.189,
    -1.038,
];
pub const SKIPBO: Features = [
    -0.842, -1.561, 0.170, 0.095, 0.023, 0.044, -0.022, -0.033, 0.030, -0.095, -0.013, 0.244, 0.023, -0.009, 0.028,
    -0.638,
];
pub const RESTRICTED: Features = [
    -0.612, -1.887, 0.155, 0.161, 0.126, -0.018, -0.032, 0.197, -0.145, -0.000, 0.019, 0.217, 0.029, 0.000, -0.103,
    -0.406,
];
