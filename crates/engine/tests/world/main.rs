//! The engine against a world in memory ([`testkit::world`]).

mod ages;
mod bootstrap;
mod create_500;
mod destroy;
mod identity;
mod kill;
mod lease;
mod lost_answers;
mod node_names;
mod provider;
mod scripts;
mod skipped;
mod stop;
mod voters;
mod windows;

use testkit::world::{cluster, engine, model};
