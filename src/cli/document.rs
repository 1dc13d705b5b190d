//! The document that says everything about a file: structure, types, attributes, and digests of the data.

use hdfive::format::encoded_selection::{EncodedSelection, Selection};
use hdfive::format::message::data_layout::ChunkIndex;
use hdfive::format::message::dataspace::{Dataspace, Kind};
use hdfive::format::message::fill_value::Fill;
use hdfive::handle::{StorageLayout, StoredMapping};
use hdfive::index::virtual_layout::{elements, regular};
use hdfive::inspect::notation::{self, text};
use hdfive::inspect::{Canonical, Tree, TreeObject};
use hdfive::manifest::Manifest;
use hdfive::object::links::LinkStorage;
use hdfive::selection::shape;
use hdfive::wire::Addr;
use hdfive::{Attribute, Dataset, Error, File, Group, Link, LinkTarget, Object, Result};
use serde_json::{Map, Value, json};

/// Datasets of more bytes are not digested unless that is asked for.
const MOST_BYTES: u64 = 256 << 20;
/// Most chunks that a sparse digest goes over.
const MOST_CHUNKS: usize = 4096;

/// What the document is about.
pub(crate) struct Document<'a> {
    pub(crate) file: &'a File,
    pub(crate) name: &'a str,
    pub(crate) driver: Option<&'static str>,
    pub(crate) no_limit: bool,
}

type Fields = Map<String, Value>;

/// Sets fields of a map: `set!(map, "key" => value, ...)`.
macro_rules! set {
    ($map:expr, $($key:expr => $value:expr),* $(,)?) => {{ $( $map.insert($key.to_owned(), json!($value)); )* }};
}

impl Document<'_> {
    pub(crate) fn value(&self) -> Result<Value> {
        let tree = Tree::walk(self.file)?;
        let mut objects: Vec<&TreeObject> = tree.objects.iter().collect();
        objects.sort_by(|a, b| a.path.cmp(&b.path));
        let objects: Vec<Value> = objects.into_iter().map(|object| self.object(&tree, object)).collect();
        let mut document = Fields::new();
        set!(document, "oracle" => 1, "file" => self.name, "superblock" => self.superblock(), "objects" => objects);
        match (self.driver, std::fs::metadata(self.name)) {
            (Some(driver), _) => set!(document, "driver" => driver),
            (None, Ok(metadata)) => set!(document, "size" => metadata.len()),
            (None, Err(_)) => {}
        }
        Ok(document.into())
    }

    fn superblock(&self) -> Value {
        let facts = self.file.facts();
        let mut fields = Fields::new();
        set!(fields,
            "version" => facts.superblock_version,
            "userblock" => facts.user_block,
            "sizeof_offset" => facts.sizes.offsets,
            "sizeof_length" => facts.sizes.lengths,
            "sym_leaf_k" => facts.symbol_leaf_k,
            "sym_internal_k" => facts.symbol_internal_k,
            "chunk_k" => facts.chunk_k,
            "sohm_version" => 0,
        );
        if let Some(indexes) = facts.shared_messages {
            set!(fields, "sohm_indexes" => indexes);
        }
        let space = facts.file_space.as_ref();
        let strategy = match space.map_or(0, |s| s.strategy) {
            0 => "fsm_aggr",
            1 => "page",
            2 => "aggr",
            _ => "none",
        };
        set!(fields,
            "fs_strategy" => strategy,
            "fs_persist" => space.is_some_and(|s| s.persisting),
            "fs_threshold" => space.map_or(1, |s| s.threshold),
            "fs_page_size" => space.map_or(4096, |s| s.page_size),
        );
        fields.into()
    }

    fn object(&self, tree: &Tree, found: &TreeObject) -> Value {
        let mut fields = Fields::new();
        set!(fields, "path" => text(&found.path));
        let described = match &found.object {
            Ok(object) => self.describe(tree, found, object, &mut fields),
            Err(error) => Err(error.clone()),
        };
        if let Err(error) = described {
            set!(fields, "error" => error_object(&error));
        }
        fields.into()
    }

    fn describe(&self, tree: &Tree, found: &TreeObject, object: &Object, fields: &mut Fields) -> Result<()> {
        let (comment, modified, order) = match object {
            Object::Group(group) => (group.comment()?, group.modified()?, group.attribute_order()),
            Object::Dataset(dataset) => (dataset.comment()?, dataset.modified()?, dataset.attribute_order()),
            Object::NamedType(named) => (named.comment()?, named.modified()?, named.attribute_order()),
        };
        if let Some(comment) = comment.filter(|comment| !comment.is_empty()) {
            set!(fields, "comment" => comment);
        }
        if let Some(time) = modified.filter(|time| *time != 0) {
            set!(fields, "mtime" => time);
        }
        if let Some(order) = creation_order(order) {
            set!(fields, "attr_corder" => order);
        }
        match object {
            Object::Group(group) => {
                set!(fields, "kind" => "group");
                self.group(tree, found, group, fields)?;
            }
            Object::Dataset(dataset) => {
                set!(fields, "kind" => "dataset");
                self.dataset(tree, dataset, fields)?;
            }
            Object::NamedType(named) => {
                set!(fields, "kind" => "named_type", "type" => notation::datatype(&named.datatype()?));
            }
        }
        let attributes = object.attributes()?;
        let attributes: Vec<Value> = attributes.iter().map(|a| self.attribute(tree, a, order.0)).collect();
        if !attributes.is_empty() {
            set!(fields, "attrs" => attributes);
        }
        Ok(())
    }

    fn group(&self, tree: &Tree, found: &TreeObject, group: &Group, fields: &mut Fields) -> Result<()> {
        let (storage, tracked, indexed) = group.link_storage()?;
        let storage = match storage {
            LinkStorage::SymbolTable => "symtab",
            LinkStorage::Compact => "compact",
            LinkStorage::Dense => "dense",
        };
        set!(fields, "storage" => storage);
        if let Some(order) = creation_order((tracked, indexed)) {
            set!(fields, "link_corder" => order);
        }
        match &found.links {
            Ok(links) => {
                let list: Vec<Value> = links.iter().map(|link| link_value(tree, link)).collect();
                set!(fields, "nlinks" => links.len(), "links" => list);
            }
            Err(error) => set!(fields, "links_error" => error_object(error)),
        }
        Ok(())
    }

    fn dataset(&self, tree: &Tree, dataset: &Dataset, fields: &mut Fields) -> Result<()> {
        set!(fields, "type" => notation::datatype(dataset.datatype()));
        set_space(fields, dataset.dataspace(), true);
        if let Some(addr) = dataset.committed_datatype()? {
            set!(fields, "ctype" => path(tree, addr));
        }
        let layout = match dataset.layout() {
            StorageLayout::Compact => "compact",
            StorageLayout::Contiguous => "contiguous",
            StorageLayout::Chunked => "chunked",
            StorageLayout::Virtual => "virtual",
        };
        set!(fields, "layout" => layout);
        if let (Some(chunk), Some(index)) = (dataset.chunk_shape(), dataset.chunk_index()) {
            set!(fields, "chunk" => chunk, "index" => index_name(index));
            if dataset.partial_chunks_unfiltered() {
                set!(fields, "chunk_opts" => 2);
            }
        }
        let filters: Vec<Value> = dataset.filters()?.iter().map(|f| json!([f.id, f.flags, f.client_data])).collect();
        if !filters.is_empty() {
            set!(fields, "filters" => filters);
        }
        let external: Vec<Value> = dataset.external()?.iter().map(|e| json!([e.file, e.offset, e.size])).collect();
        if !external.is_empty() {
            set!(fields, "external" => external);
        }
        if dataset.layout() == StorageLayout::Virtual {
            let mappings: Vec<Value> =
                dataset.virtual_mappings()?.iter().map(|m| mapping(m, dataset.shape())).collect();
            set!(fields, "virtual" => mappings);
        }
        set!(fields, "fill" => self.fill(tree, dataset)?);
        if let Err(error) = self.data(tree, dataset, fields) {
            set!(fields, "data_error" => error_object(&error));
        }
        Ok(())
    }

    fn fill(&self, tree: &Tree, dataset: &Dataset) -> Result<Value> {
        let mut fields = Fields::new();
        match dataset.fill_value()?.map(|fill| fill.value) {
            Some(Fill::User(value)) => {
                let mut canonical = Canonical::new(self.file, tree);
                canonical.elements(&value, dataset.datatype())?;
                let digest = canonical.finish();
                set!(fields, "defined" => "user", "digest" => digest.sha256, "nbytes" => digest.bytes);
            }
            Some(Fill::Undefined) => set!(fields, "defined" => "undefined"),
            Some(Fill::Default) | None => set!(fields, "defined" => "default"),
        }
        Ok(fields.into())
    }

    fn data(&self, tree: &Tree, dataset: &Dataset, fields: &mut Fields) -> Result<()> {
        let size = dataset.len().checked_mul(dataset.datatype().size.into());
        if !self.no_limit && size.is_none_or(|size| size > MOST_BYTES) {
            set!(fields, "undigested" => format!("too large: {} elements", dataset.len()));
            if let Some(sparse) = self.sparse(tree, dataset)? {
                set!(fields, "sparse" => sparse);
            }
            return Ok(());
        }
        let mut canonical = Canonical::new(self.file, tree);
        canonical.elements(&dataset.read_bytes()?, dataset.datatype())?;
        let digest = canonical.finish();
        set!(fields, "digest" => digest.sha256, "nbytes" => digest.bytes);
        Ok(())
    }

    /// The digest of the stored chunks alone.
    fn sparse(&self, tree: &Tree, dataset: &Dataset) -> Result<Option<Value>> {
        let manifest = dataset.manifest()?;
        let Manifest::Chunks(chunks) = &*manifest else { return Ok(None) };
        if chunks.len() > MOST_CHUNKS {
            return Ok(None);
        }
        let mut canonical = Canonical::new(self.file, tree);
        for chunk in chunks.iter() {
            let block = chunks.grid().block(&chunks.grid().coordinates(chunk.number).unwrap_or_default());
            canonical.numbers(&block.start);
            canonical.elements(&dataset.select(&block).read_bytes()?, dataset.datatype())?;
        }
        let digest = canonical.finish();
        Ok(Some(json!({"chunks": chunks.len(), "digest": digest.sha256, "nbytes": digest.bytes})))
    }

    fn attribute(&self, tree: &Tree, attribute: &Result<Attribute>, tracked: bool) -> Value {
        let mut fields = Fields::new();
        let attribute = match attribute {
            Ok(attribute) => attribute,
            Err(error) => {
                set!(fields, "name" => "", "error" => error_object(error));
                return fields.into();
            }
        };
        set!(fields, "name" => text(attribute.name_bytes()), "type" => notation::datatype(attribute.datatype()));
        set_space(&mut fields, attribute.dataspace(), false);
        if attribute.name_is_utf8() {
            set!(fields, "cset" => "utf8");
        }
        if let Some(order) = attribute.creation_order().filter(|_| tracked) {
            set!(fields, "corder" => order);
        }
        if let Some(addr) = attribute.committed_datatype() {
            set!(fields, "ctype" => path(tree, addr));
        }
        let mut canonical = Canonical::new(self.file, tree);
        match canonical.elements(attribute.bytes(), attribute.datatype()) {
            Ok(()) => {
                let digest = canonical.finish();
                set!(fields, "digest" => digest.sha256, "nbytes" => digest.bytes);
            }
            Err(error) => set!(fields, "data_error" => error_object(&error)),
        }
        fields.into()
    }
}

fn path(tree: &Tree, addr: Addr) -> String {
    tree.path(addr).map_or_else(|| "?".to_owned(), text)
}

fn creation_order((tracked, indexed): (bool, bool)) -> Option<&'static str> {
    match (tracked, indexed) {
        (_, true) => Some("indexed"),
        (true, false) => Some("tracked"),
        (false, false) => None,
    }
}

fn set_space(fields: &mut Fields, space: &Dataspace, with_max: bool) {
    let null = space.kind == Kind::Null;
    let shape = if null { json!("null") } else { json!(space.shape) };
    set!(fields, "shape" => shape);
    if with_max {
        let max = if null { json!("null") } else { json!(space.max_shape()) };
        set!(fields, "maxshape" => max);
    }
}

fn index_name(index: &ChunkIndex) -> &'static str {
    match index {
        ChunkIndex::BTreeV1 => "btree1",
        ChunkIndex::Single { .. } => "single",
        ChunkIndex::Implicit => "implicit",
        ChunkIndex::FixedArray { .. } => "farray",
        ChunkIndex::ExtensibleArray { .. } => "earray",
        ChunkIndex::BTreeV2 { .. } => "btree2",
    }
}

fn link_value(tree: &Tree, link: &Link) -> Value {
    let name = text(&link.name);
    let mut value = match &link.target {
        LinkTarget::Hard(addr) => vec![json!(name), json!("hard"), json!(path(tree, *addr))],
        LinkTarget::Soft(target) => vec![json!(name), json!("soft"), json!(text(target))],
        LinkTarget::External { file, path } => {
            vec![json!(name), json!("external"), json!(text(file)), json!(text(path))]
        }
        LinkTarget::User { class, data } => {
            let hex: String = data.iter().map(|b| format!("{b:02x}")).collect();
            vec![json!(name), json!("user"), json!(class), json!(hex)]
        }
    };
    if let Some(order) = link.creation_order {
        value.push(json!({"corder": order}));
    }
    value.into()
}

fn mapping(mapping: &StoredMapping, shape: &[u64]) -> Value {
    json!({
        "file": mapping.file,
        "dset": mapping.dataset,
        "vsel": selection(&mapping.target, Some(shape)),
        "ssel": selection(&mapping.source, None),
    })
}

/// A selection as it is stored; its bounds count in an array of `shape`, or in one that is large enough.
fn selection(stored: &EncodedSelection, shape: Option<&[u64]>) -> Value {
    let stored = &regular(stored);
    let (kind, rank) = match &stored.selection {
        Selection::None => return json!({"sel": "none"}),
        Selection::All => return json!({"sel": "all"}),
        Selection::Points { rank, .. } => ("points", *rank),
        Selection::Boxes { rank, .. } => ("irregular", *rank),
        Selection::Regular(axes) => {
            let inf = |n: Option<u64>| n.map_or_else(|| json!("inf"), |n| json!(n));
            return json!({
                "sel": "hyperslab",
                "start": axes.iter().map(|a| a.start).collect::<Vec<_>>(),
                "stride": axes.iter().map(|a| a.stride).collect::<Vec<_>>(),
                "count": axes.iter().map(|a| inf(a.count)).collect::<Vec<_>>(),
                "block": axes.iter().map(|a| inf(a.block)).collect::<Vec<_>>(),
            });
        }
    };
    let rank = usize::try_from(rank).unwrap_or(0);
    let large = vec![1u64 << (62 / rank.max(1)).min(40); rank];
    let shape = shape.filter(|shape| shape::count(shape).is_ok()).unwrap_or(&large);
    let mut value = json!({"sel": kind});
    if let Ok(selected) = elements(stored, shape, None) {
        value["npoints"] = json!(selected.count());
        if let Some(bounds) = selected.bounds() {
            value["lo"] = json!(bounds.start);
            value["hi"] = json!((0..rank).map(|axis| bounds.end(axis) - 1).collect::<Vec<_>>());
        }
    }
    value
}

fn error_object(error: &Error) -> Value {
    json!({"kind": format!("{:?}", error.kind()), "desc": error.to_string()})
}
