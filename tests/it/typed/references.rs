//! References of every kind are followed.

use hdfive::{ErrorKind, File, Object, Reference, Result, s};

use crate::support::testdata;

fn file() -> File {
    File::open(testdata("typed/forms_references.h5")).unwrap()
}

/// The elements of the target at these rows and columns, as NumPy has them: `ramp((8, 9))`.
fn of_target(places: &[(i32, i32)]) -> Vec<i32> {
    places.iter().map(|(row, column)| ((row * 9 + column) * 7919) % 10_007 - 3000).collect()
}

fn block(rows: &[i32], columns: &[i32]) -> Vec<(i32, i32)> {
    rows.iter().flat_map(|row| columns.iter().map(move |column| (*row, *column))).collect()
}

#[test]
fn object_references_lead_to_objects() -> Result<()> {
    let file = file();
    let objects: Vec<Reference> = file.dataset("objects")?.read()?;
    let Object::Dataset(target) = objects[0].follow(&file)? else { panic!("it is a dataset") };
    assert_eq!(target.shape(), [8, 9]);
    let Object::Group(group) = objects[1].follow(&file)? else { panic!("it is a group") };
    assert_eq!(group.names()?, ["target"]);
    assert!(matches!(objects[2].follow(&file)?, Object::Group(_)));
    assert!(objects[3].is_null());
    assert_eq!(objects[3].follow(&file).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(file.dataset("objects")?.read::<Option<Reference>>()?[3], None);
    let attribute: Reference = file.root()?.attribute("reference")?.read_scalar()?;
    assert_eq!(attribute, objects[0]);
    Ok(())
}

#[derive(Clone, hdfive::H5Type)]
struct Pointed {
    r#where: Reference,
}

#[test]
fn references_in_compounds_are_followed() -> Result<()> {
    let file = file();
    let pointed: Pointed = file.dataset("compound")?.read_scalar()?;
    assert_eq!(pointed.r#where.follow(&file)?.address(), file.dataset("group/target")?.address());
    Ok(())
}

#[test]
fn region_references_select() -> Result<()> {
    let file = file();
    let regions: Vec<Reference> = file.dataset("regions")?.read()?;
    let read = |number: usize| -> Result<(Vec<u64>, Vec<i32>)> {
        let region = regions[number].region(&file)?;
        Ok((region.shape()?, region.read()?))
    };
    assert_eq!(read(0)?, (vec![3, 3], of_target(&block(&[2, 3, 4], &[1, 2, 3]))));
    assert_eq!(read(1)?, (vec![3, 4], of_target(&block(&[0, 3, 6], &[1, 3, 5, 7]))));
    assert_eq!(read(2)?, (vec![5], of_target(&[(0, 1), (3, 4), (3, 5), (3, 6), (7, 8)])));
    assert_eq!(read(3)?.0, [8, 9]);
    let union = [block(&[0], &[0, 1, 2]), block(&[1], &[0, 1, 2, 3]), block(&[2, 3, 4], &[2, 3])].concat();
    assert_eq!(read(4)?, (vec![13], of_target(&union)));
    assert!(regions[5].is_null());
    assert_eq!(regions[5].region(&file).unwrap_err().kind(), ErrorKind::NotFound);
    Ok(())
}

#[test]
fn revised_references_of_every_kind_are_followed() -> Result<()> {
    let file = file();
    let revised: Vec<Reference> = file.dataset("revised")?.read()?;
    let target = file.dataset("group/target")?;
    assert_eq!(revised[0].follow(&file)?.address(), target.address());
    assert_eq!(revised[0].region(&file)?.shape()?, [8, 9]);
    let region = revised[1].region(&file)?;
    assert_eq!(region.read::<i32>()?, target.select(s![[1, 4], 2..8]).read::<i32>()?);
    assert_eq!(revised[2].region(&file)?.read::<i32>()?, of_target(&[(0, 0), (7, 8), (3, 4)]));
    assert_eq!(revised[3].attribute(&file)?.read_scalar::<String>()?, "K");
    assert_eq!(revised[3].region(&file).unwrap_err().kind(), ErrorKind::WrongType);
    assert!(revised[4].is_null());
    assert_eq!(revised[0].attribute(&file).unwrap_err().kind(), ErrorKind::WrongType);
    Ok(())
}
