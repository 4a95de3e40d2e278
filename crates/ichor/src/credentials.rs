//! Credentials for one process, signed with the secrets of a cluster.

use std::time::Duration;

use engine::live::{CREDENTIALS_BACKDATED, CREDENTIALS_LAST};
use talos_config::SecretSource;

use crate::{Error, entropy};

/// Makes credentials for one process, which are valid for so many seconds from the time that the makers tell.
pub(crate) fn short_lived<T>(
    make: impl FnOnce(i64, &mut SecretSource<'_>) -> T,
) -> Result<T, Error> {
    let seconds = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    entropy::with_secret_source(|makers| {
        makers.now -= seconds(CREDENTIALS_BACKDATED);
        make(seconds(CREDENTIALS_BACKDATED + CREDENTIALS_LAST), makers)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn credentials_are_valid_for_clocks_that_are_hours_apart() {
        let now = clock::now();
        let validity = short_lived(|lasts, makers| makers.validity(lasts)).unwrap();
        assert!(validity.not_before <= now - 12 * 3600, "{validity:?}");
        assert!(validity.not_after >= now + 24 * 3600, "{validity:?}");
    }
}
