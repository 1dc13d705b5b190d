//! The command `h5`.

fn main() {
    println!("h5 {}", env!("CARGO_PKG_VERSION"));
}
