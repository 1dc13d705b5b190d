//! Reads the weights of a Keras model: layer by layer, as arrays.
//!
//!     cargo run --example keras [FILE.h5]

use hdfive::{File, Result};
use ndarray::ArrayD;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "testdata/writers/formats_keras.h5".into());
    let file = File::open(path)?;
    // A file of weights alone has the layers in its root group.
    let weights = file.group("model_weights").or_else(|_| file.root())?;
    let mut parameters = 0;
    for layer in weights.attribute("layer_names")?.read::<String>()? {
        let group = weights.group(&layer)?;
        for name in group.attribute("weight_names")?.read::<String>()? {
            let array: ArrayD<f32> = group.dataset(&name)?.read_dyn()?;
            println!("{name} {:?}, mean {:.3}", array.shape(), array.mean().unwrap_or(0.0));
            parameters += array.len();
        }
    }
    println!("{parameters} parameters");
    Ok(())
}
