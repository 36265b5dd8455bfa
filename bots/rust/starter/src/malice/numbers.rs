//! Integers as JSON may write them: `3` or `3.0`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// Read an integer, or several, in either spelling.
pub(super) fn whole<'de, D: Deserializer<'de>, T: Whole>(number: D) -> Result<T, D::Error> {
    T::Spelled::deserialize(number).map(T::read)
}

/// Types made of integers. All are below 2^53, so they are exact as floats.
pub(super) trait Whole {
    type Spelled: DeserializeOwned;

    fn read(spelled: Self::Spelled) -> Self;
}

impl Whole for usize {
    type Spelled = f64;

    fn read(spelled: f64) -> Self {
        spelled as Self
    }
}

impl Whole for i64 {
    type Spelled = f64;

    fn read(spelled: f64) -> Self {
        spelled as Self
    }
}

impl<T: Whole> Whole for Option<T> {
    type Spelled = Option<T::Spelled>;

    fn read(spelled: Self::Spelled) -> Self {
        spelled.map(T::read)
    }
}

impl<T: Whole> Whole for Vec<T> {
    type Spelled = Vec<T::Spelled>;

    fn read(spelled: Self::Spelled) -> Self {
        spelled.into_iter().map(T::read).collect()
    }
}
