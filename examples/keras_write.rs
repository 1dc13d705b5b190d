//! Writes the weights of a network as Keras loads them: `model.load_weights(FILE)`.
//!
//!     cargo run --example keras_write [FILE.h5]

use hdfive::{File, Result};
use ndarray::Array2;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).map_or_else(|| std::env::temp_dir().join("weights.h5"), Into::into);
    let layers = [("hidden", 4u8, 3u8), ("out", 3, 2)];
    let file = File::create(&path)?;
    file.attr("layer_names", layers.map(|(name, ..)| name))?;
    file.attr("backend", "numpy")?;
    file.attr("keras_version", "3.0.0")?;
    for (name, inputs, outputs) in layers {
        let layer = file.create_group(name)?;
        layer.attr("weight_names", [format!("{name}/kernel"), format!("{name}/bias")])?;
        let kernel = Array2::from_shape_vec(
            (inputs.into(), outputs.into()),
            (0..inputs * outputs).map(|i| f32::from(i) / 10.0).collect(),
        );
        let kernel = kernel.expect("as many as the shape has");
        let bias: Vec<f32> = (0..outputs).map(|i| f32::from(i) - 0.5).collect();
        layer.new_dataset_builder().with_data(&kernel).create(&format!("{name}/kernel"))?;
        layer.new_dataset_builder().with_data(&bias).create(&format!("{name}/bias"))?;
    }
    file.create_group("top_level_model_weights")?.attr("weight_names", Vec::<String>::new())?;
    file.close()?;
    println!("weights of {} layers in {}", layers.len(), path.display());
    Ok(())
}
