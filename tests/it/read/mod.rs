//! Reading: what other libraries read, read here, on one thread and on many, and by many at once.

mod expectations;
mod indexes;
mod missing;
mod parallel;
mod scripts;
mod shown;
mod threads;
