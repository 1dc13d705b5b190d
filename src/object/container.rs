//! The container: superblock, its extension, and what they say about the whole file.

use super::Step;
use super::header::Header;
use crate::error::{Error, Result};
use crate::filter::Registry;
use crate::format::message::HeaderMessageBody;
use crate::format::message::btree_k::BTreeK;
use crate::format::message::cache_image::CacheImageInfo;
use crate::format::message::driver_info::DriverInfo;
use crate::format::message::file_space_info::{FileSpace, FileSpaceInfo};
use crate::format::message::fill_value::{FillValue, OldFillValue};
use crate::format::message::shared_message_table::SharedMessageTableInfo;
use crate::format::metadata_cache_image::MetadataCacheImage;
use crate::format::object_header::HeaderMessage;
use crate::format::shared_message_table::SharedMessageTable;
use crate::format::superblock::{SIGNATURE, Superblock, Version};
use crate::limits::Limits;
use crate::storage::{self, Loaded, Observer, SharedSource, Stop, View};
use crate::wire::{Addr, ByteRange, Structure};

/// A file, as far as it is one thing.
#[derive(Debug)]
pub struct Container {
    /// What is loaded of it.
    pub loaded: Loaded,
    /// The superblock.
    pub superblock: Superblock,
    /// Header of the root group.
    pub root: Addr,
    /// Bytes before the superblock, which belong to somebody else.
    pub user_block: u64,
    /// Half of the largest number of entries of a symbol-table node.
    pub leaf_k: u16,
    /// Half of the largest number of children of a version 1 B-tree node of groups.
    pub internal_k: u16,
    /// The same for chunks.
    pub chunk_k: u16,
    /// How free space is managed, if the file says so.
    pub file_space: Option<FileSpace>,
    /// The table of messages that objects share, if there is one.
    pub shared_messages: Option<SharedMessageTable>,
    /// The storage driver that wrote the file, if it says so: its name and what it kept.
    pub driver: Option<([u8; 8], bytes::Bytes)>,
    /// Decoders by filter id.
    pub registry: Registry,
    /// What is odd about the file without making it unreadable.
    pub warnings: Vec<String>,
}

/// What a job works with: a view, and what is known of the file.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// What is loaded.
    pub view: &'a View<'a>,
    /// The file.
    pub container: &'a Container,
}

/// How a container is opened.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// What reading may cost.
    pub limits: Limits,
    /// Opens a file that is cut short.
    pub salvage: bool,
    /// Decoders by filter id.
    pub registry: Registry,
    /// Sees whatever is decoded.
    pub observer: Option<std::sync::Arc<dyn Observer>>,
}

/// The file is, or was when its writer died, open for writing.
const OPEN_FOR_WRITING: u32 = 1;
/// The file is, or was, open for single-writer multiple-reader access.
const OPEN_FOR_SWMR: u32 = 4;
/// Flag of a header message: somebody who did not know it modified the object.
const WAS_UNKNOWN: u8 = 0x20;

impl Container {
    /// Opens the HDF5 file that `source` is.
    ///
    /// Errors are `NotHdf5` without a superblock, and `Corrupt` for a file that is shorter than it says, unless
    /// `salvage` is set.
    pub fn open(source: SharedSource, opening: Opening) -> Result<Container> {
        let mut loaded = Loaded::new(source, opening.limits)?;
        loaded.set_observer(opening.observer);
        let (user_block, superblock) = storage::run(&loaded, find_superblock)?;
        loaded.set_frame(user_block, superblock.sizes);
        let Some(root) = superblock.root() else { return Err(Error::corrupt("the file has no root group")) };
        let (leaf_k, internal_k, chunk_k) = match &superblock.version {
            Version::Old(old) => (old.leaf_k, old.internal_k, old.chunk_k.unwrap_or(32)),
            Version::New { .. } => (4, 16, 32),
        };
        let mut container = Container {
            loaded,
            superblock,
            root,
            user_block,
            leaf_k,
            internal_k,
            chunk_k,
            file_space: None,
            shared_messages: None,
            driver: None,
            registry: opening.registry,
            warnings: Vec::new(),
        };
        container.check_end(opening.salvage)?;
        container.read_extension()?;
        Ok(container)
    }

    /// Runs a job on the file.
    pub fn run<T>(&self, job: impl Fn(Scope<'_>) -> Step<T>) -> Result<T> {
        storage::run(&self.loaded, |view| job(Scope { view, container: self }))
    }

    /// The fractal heap in which shared messages of type `kind` are.
    pub fn message_heap(&self, kind: u16) -> Option<Addr> {
        // Old fill values are shared as new ones.
        let kind = if kind == OldFillValue::KIND { FillValue::KIND } else { kind };
        let indexes = &self.shared_messages.as_ref()?.indexes;
        indexes.iter().find(|index| kind < 16 && index.message_types >> kind & 1 == 1)?.heap
    }

    /// Notes an open writer, and a file that is shorter than it says.
    fn check_end(&mut self, salvage: bool) -> Result<()> {
        let flags = self.superblock.consistency;
        let writing = self.superblock.number() >= 3 && flags & (OPEN_FOR_WRITING | OPEN_FOR_SWMR) != 0;
        if writing {
            let how = if flags & OPEN_FOR_SWMR != 0 { "single-writer multiple-reader access" } else { "writing" };
            self.warnings.push(format!("the file is open for {how}, or was not closed by its writer"));
        }
        // The end of the file is stated relative to where the writer thought the base address was.
        let stated = self.superblock.end_of_file.0;
        let moved = self.user_block.wrapping_sub(self.superblock.base.0);
        let (stated, there) = (stated.wrapping_add(moved), self.loaded.len());
        let in_pieces = self.loaded.source().stretch(0)?.end < there;
        if in_pieces || writing {
            return Ok(());
        }
        if stated <= there {
            self.loaded.set_end(if salvage { there } else { stated });
            return Ok(());
        }
        let what = format!("the file is cut short: {there} of {stated} bytes are there");
        if !salvage {
            return Err(Error::corrupt(format!("{what} (OpenOptions::salvage or --salvage reads what is there)")));
        }
        self.warnings.push(what);
        Ok(())
    }

    /// Reads the superblock extension. What was in the writer's cache comes first, as any address may lead into it.
    fn read_extension(&mut self) -> Result<()> {
        let Version::New { extension: Some(addr), .. } = self.superblock.version else { return Ok(()) };
        let header = self.run(|scope| Header::load(scope, addr))?;
        if let Some(image) = self.run(|scope| header.message::<CacheImageInfo>(scope))? {
            self.lay_over_cache_image(&image)?;
        }
        if let Some(k) = self.run(|scope| header.message::<BTreeK>(scope))? {
            (self.leaf_k, self.internal_k, self.chunk_k) = (k.leaf_k, k.internal_k, k.chunk_k);
        }
        // Somebody who did not know the message has changed the file since: what it says may be wrong.
        let outdated = |m: &&HeaderMessage| m.kind == FileSpaceInfo::KIND && m.flags & WAS_UNKNOWN != 0;
        if !header.messages.iter().any(|m| outdated(&m)) {
            self.file_space = self.run(|scope| header.message::<FileSpaceInfo>(scope))?.map(|info| info.current());
        }
        self.driver = self.run(|scope| header.message::<DriverInfo>(scope))?.map(|d| (d.id, d.information));
        if let Some(info) = self.run(|scope| header.message::<SharedMessageTableInfo>(scope))? {
            self.shared_messages = Some(self.run(|scope| scope.view.load(info.table, info.index_count))?);
        }
        Ok(())
    }

    fn lay_over_cache_image(&mut self, info: &CacheImageInfo) -> Result<()> {
        let Some(block) = info.block else { return Ok(()) };
        let image: MetadataCacheImage = self.run(|scope| {
            let bytes = scope.view.bytes(ByteRange::new(block, info.size))?;
            let decoded = MetadataCacheImage::decode_shared(&bytes, block, scope.view.sizes(), ());
            let (image, used) = decoded.map_err(Error::sealed)?;
            self.loaded.decoded(&image, &bytes[..used], block, ());
            Ok(image)
        })?;
        for entry in image.entries {
            self.loaded.lay_over(entry.addr, entry.image)?;
        }
        Ok(())
    }
}

/// The superblock, and where it is: at 0, 512, 1024, 2048 and so on.
fn find_superblock(view: &View<'_>) -> Result<(u64, Superblock), Stop> {
    let mut at = 0;
    while view.left(Addr(at)) >= 8 {
        if view.bytes(ByteRange::new(Addr(at), 8))? == SIGNATURE[..] {
            return Ok((at, view.load(Addr(at), ())?));
        }
        at = if at == 0 { 512 } else { at * 2 };
    }
    Err(Error::not_hdf5("not an HDF5 file (no signature at 0, 512, 1024, 2048 and so on)").into())
}
