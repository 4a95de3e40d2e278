//! The system's randomness.

use crate::ports::Entropy;

/// Randomness as the system gives it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // A system without randomness gives zeroes: identities are then told apart by their directories alone.
        let _ = getrandom::fill(bytes);
    }
}
