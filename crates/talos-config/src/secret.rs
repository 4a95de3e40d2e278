//! Values that must not be shown by accident.

/// Something secret. It has no `Debug`, `Display` or serialisation, so that no log, error or dump can
/// hold it; who needs it says so with [`expose`](Self::expose).
#[derive(Clone, Eq, PartialEq)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Takes something in.
    pub fn new(secret: T) -> Self {
        Self(secret)
    }

    /// Hands it out, on purpose.
    pub fn expose(&self) -> &T {
        &self.0
    }

    /// Hands it over, on purpose.
    pub fn into_exposed(self) -> T {
        self.0
    }
}

/// The replacement for a secret wherever a config is shown.
pub const REDACTED: &str = "******";
