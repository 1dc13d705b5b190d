//! What is written is judged by libhdf5: it reads it, changes it, and what it leaves is read again.

mod created;
mod examples;
mod netcdf;
mod repacked;
mod trees;
