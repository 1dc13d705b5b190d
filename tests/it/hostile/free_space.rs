//! What a file says about its free space is for writers. Readers that load it are led by it for nothing.

#[test]
fn free_space_that_makes_no_sense_keeps_nobody_from_reading() {
    let file = super::open("free_space.h5");
    for (path, count) in [("/data 0", 100), ("/data 2", 102), ("/data 4", 104)] {
        assert_eq!(file.dataset(path).unwrap().read::<f64>().unwrap().len(), count, "{path}");
    }
    let surveyor = hdfive::inspect::Surveyor::default();
    let report = hdfive::inspect::check(&file, &surveyor, &|_, _| ()).unwrap();
    assert!(report.is_sound(), "{:?}", report.problems);
}
