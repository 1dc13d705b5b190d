//! The text of plans, byte for byte, and plans as values.

use std::sync::Arc;

use hdfive::selection::{Index, Selection};
use hdfive::stage::{Array, Base, MemorySlab, Role, StagedArray};

use crate::support;

fn range(start: i64, stop: i64) -> Index {
    Index::Range { start: Some(start), stop: Some(stop), step: 1 }
}

/// The documented example: 8 x 8 elements in 2 x 2 chunks, all on one base slab.
fn worked_example() -> StagedArray {
    let values: Vec<i32> = (0..64).collect();
    let slab = MemorySlab::new(&Array::new(&[32, 2], &values).unwrap()).unwrap();
    let base = Base {
        slabs: vec![Arc::new(slab)],
        slab_indices: vec![1; 16],
        slab_offsets: (0..16).map(|n| 2 * n).collect(),
        hashes: vec![],
    };
    StagedArray::new(&[8, 8], &[2, 2], base, None).unwrap()
}

const ASSIGNMENTS: &str = "
  slabs.append(empty((6, 2)))  # slabs[2]
  slabs.append(empty((2, 2)))  # slabs[3]
  # 3 transfers from slabs[1] to slabs[2]
  slabs[2][0:2, 0:2] = slabs[1][10:12, 0:2]
  slabs[2][2:4, 0:2] = slabs[1][18:20, 0:2]
  slabs[2][4:6, 0:2] = slabs[1][20:22, 0:2]
  # 1 transfers from value to slabs[3]
  slabs[3][0:2, 0:2] = value[0:2, 1:3]
  # 3 transfers from value to slabs[2]
  slabs[2][0:2, 1:2] = value[0:2, 0:1]
  slabs[2][2:3, 1:2] = value[2:3, 0:1]
  slabs[2][4:5, 0:2] = value[2:3, 1:3]";

const MAP: &str = "
slab_indices:
[[1 1 1 1]
 [1 2 3 1]
 [1 2 2 1]
 [1 1 1 1]]
slab_offsets:
[[ 0  2  4  6]
 [ 8  0  0 14]
 [16  2  4 22]
 [24 26 28 30]]";

#[test]
fn the_documented_plan_reads_as_documented() {
    let array = worked_example();
    let plan = array.plan_set(&Selection::Indices(vec![range(2, 5), range(3, 6)])).unwrap();
    assert_eq!(plan.to_string(), format!("SetItemPlan{ASSIGNMENTS}"));
    let totals = "value_shape=(3, 3), value_view=[:, :], append 2 empty slabs, \
                  7 slice transfers among 3 slab pairs, drop 0 slabs";
    assert_eq!(format!("{plan:#}"), format!("SetItemPlan<{totals}>{ASSIGNMENTS}"));
    let listing = array.listing(&plan).unwrap().to_string();
    assert_eq!(listing, format!("SetItemPlan<{totals}>{ASSIGNMENTS}{MAP}"));
}

#[test]
fn the_chapter_shows_what_the_example_does() {
    let read = |name: &str| std::fs::read_to_string(support::package().join(name)).unwrap();
    let (chapter, example) = (read("docs/staged-arrays.md"), read("examples/staged_array.rs"));
    let blocks = |kind: &str| -> Vec<String> {
        let from = |text: &str| text.split("```").next().unwrap().trim().to_owned();
        chapter.split(&format!("```{kind}\n")).skip(1).map(from).collect()
    };
    let lines: Vec<String> = blocks("rust").iter().flat_map(|block| block.lines()).map(|l| l.trim().into()).collect();
    assert!(lines.len() > 5, "{lines:?}");
    let missing: Vec<&String> = lines.iter().filter(|line| !example.contains(*line)).collect();
    assert!(missing.is_empty(), "the example does not have these lines of the chapter: {missing:#?}");
    let totals = "append 2 empty slabs, 7 slice transfers among 3 slab pairs, drop 0 slabs";
    let listing = format!("SetItemPlan<value_shape=(3, 3), value_view=[:, :], {totals}>{ASSIGNMENTS}{MAP}");
    assert!(blocks("text").contains(&listing), "the chapter shows another plan");
}

#[test]
fn reading_lists_what_is_copied_out() {
    let array = worked_example();
    let selection = Selection::Indices(vec![Index::At(3), Index::List(vec![1, 5, 4])]);
    let plan = array.plan_get(&selection).unwrap();
    let text = "GetItemPlan<output_shape=(3,), output_view=[None, :], 3 slice transfers among 1 slab pairs>
  # 3 transfers from slabs[1] to out
  out[0:1, 0:1] = slabs[1][9:10, 1:2]
  out[0:1, 1:2] = slabs[1][13:14, 1:2]
  out[0:1, 2:3] = slabs[1][13:14, 0:1]";
    assert_eq!(format!("{plan:#}"), text);
    let reversed = Selection::Indices(vec![range(1, 2), Index::Range { start: Some(2), stop: None, step: -1 }]);
    let text = "GetItemPlan
  # 2 transfers from slabs[1] to out
  out[0:1, 2:0:-1] = slabs[1][1:2, 0:2]
  out[0:1, 0::-1] = slabs[1][3:4, 0:1]";
    assert_eq!(array.plan_get(&reversed).unwrap().to_string(), text);
}

#[test]
fn resizing_lists_slabs_that_shrink_and_the_new_map() {
    let values: Vec<i64> = (0..35).collect();
    let whole = Array::new(&[5, 7], &values).unwrap();
    let array = StagedArray::from_array(whole, &[2, 3], &Array::scalar(0i64), Role::Staged).unwrap();
    let plan = array.plan_resize(&[9, 7]).unwrap();
    let text = "ResizePlan<append 1 empty slabs, 6 slice transfers among 4 slab pairs, drop 0 slabs>
  slabs.append(empty((6, 3)))  # slabs[4]
  # 1 transfers from slabs[1] to slabs[4]
  slabs[4][0:1, 0:3] = slabs[1][4:5, 0:3]
  # 1 transfers from slabs[2] to slabs[4]
  slabs[4][2:3, 0:3] = slabs[2][4:5, 0:3]
  # 1 transfers from slabs[3] to slabs[4]
  slabs[4][4:5, 0:1] = slabs[3][4:5, 0:1]
  # 3 transfers from slabs[0] to slabs[4]
  slabs[4][1:2, 0:3] = slabs[0][1:2, 0:3]
  slabs[4][3:4, 0:3] = slabs[0][1:2, 0:3]
  slabs[4][5:6, 0:1] = slabs[0][1:2, 0:1]
  slabs[1] = slabs[1][:4]
  slabs[2] = slabs[2][:4]
  slabs[3] = slabs[3][:4]
slab_indices:
[[1 2 3]
 [1 2 3]
 [4 4 4]
 [0 0 0]
 [0 0 0]]
slab_offsets:
[[0 0 0]
 [2 2 2]
 [0 2 4]
 [0 0 0]
 [0 0 0]]";
    assert_eq!(array.listing(&plan).unwrap().to_string(), text);
}

#[test]
fn hashing_and_committing_list_chunks() {
    let mut array = StagedArray::full(&[3, 5], &[2, 3], &Array::scalar(0i32)).unwrap();
    array.set(&Selection::Indices(vec![Index::At(0)]), &Array::scalar(7i32)).unwrap();
    let hash_plan = array.plan_hash();
    let text = "HashPlan<3 chunks over 2 slabs>
  # hash 1 chunks of slabs[0]
  hash_tables[0][0] = hash(slabs[0][0:2, :3])
  # hash 2 chunks of slabs[1]
  hash_tables[1][0] = hash(slabs[1][0:2, :3])
  hash_tables[1][1] = hash(slabs[1][2:4, :2])";
    assert_eq!(format!("{hash_plan:#}"), text);
    let hashes = array.hash(&hash_plan).unwrap();
    let plan = array.plan_commit(&hash_plan, &hashes).unwrap();
    let text = "CommitPlan
  slabs.append(empty((4, 3)))  # slabs[2]
  # 2 transfers from slabs[1] to slabs[2]
  slabs[2][0:2, 0:3] = slabs[1][0:2, 0:3]
  slabs[2][2:4, 0:2] = slabs[1][2:4, 0:2]";
    assert_eq!(plan.to_string(), text);
    let text = "ChangesPlan
  base[0:2, 0:3] = slabs[1][0:2, 0:3]
  base[0:2, 3:5] = slabs[1][2:4, 0:2]";
    assert_eq!(array.plan_changes().to_string(), text);
}

#[test]
fn plans_are_equal_when_they_do_the_same_and_planning_changes_nothing() {
    let array = worked_example();
    let before = (array.slab_indices(), array.slab_count());
    let selection = Selection::Indices(vec![range(2, 5), range(3, 6)]);
    let plan = array.plan_set(&selection).unwrap();
    assert_eq!(plan, array.clone().plan_set(&selection).unwrap());
    assert_ne!(plan, array.plan_set(&Selection::Indices(vec![range(2, 5), range(3, 7)])).unwrap());
    assert_eq!((array.slab_indices(), array.slab_count()), before);
}

#[test]
fn long_listings_are_elided() {
    let array = StagedArray::full(&[100_000], &[1], &Array::scalar(0u8)).unwrap();
    let plan = array.plan_set(&Selection::all()).unwrap();
    let text = plan.to_string();
    assert!(text.lines().count() < 100 && text.contains("\n  ...\n") && text.contains("# 100000 transfers"));
    assert!(array.listing(&plan).unwrap().to_string().ends_with("slab_offsets:\n(100000 chunks)"));
}

/// A plan written and read again.
#[cfg(feature = "serde")]
fn survives<P: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(plan: P) {
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<P>(&text).unwrap(), plan);
}

#[cfg(feature = "serde")]
#[test]
fn plans_survive_serialisation() {
    let mut array = worked_example();
    let selection = Selection::Indices(vec![range(2, 5), Index::List(vec![7, 0, 7])]);
    survives(array.plan_get(&selection).unwrap());
    survives(array.plan_set(&Selection::Points(vec![vec![1, 2], vec![7, 7]])).unwrap());
    survives(array.plan_load().unwrap());
    survives(array.plan_resize(&[5, 9]).unwrap());
    array.set(&selection, &Array::scalar(-1i32)).unwrap();
    survives(array.plan_changes());
    let plan = array.plan_hash();
    let hashes = array.hash(&plan).unwrap();
    survives(array.plan_commit(&plan, &hashes).unwrap());
    survives(plan);
}
