//! Placement of arrays in memory.

/// Arrays of at least this many bytes get pages of their own.
const OWN_PAGES: u64 = 128 << 10;
const PAGE: u64 = 4096;
/// Bytes before each array that the allocator uses.
const HEADER: u64 = 16;
const SMALL_ARRAYS: u64 = 1 << 32;
const LARGE_ARRAYS: u64 = 1 << 36;
const UNKNOWN_ARRAYS: u64 = 1 << 44;
const UNKNOWN_SPACING: u64 = 1 << 40;

/// Assigns addresses.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    next_small: u64,
    next_large: u64,
    next_unknown: u64,
}

impl Layout {
    pub(super) fn new() -> Self {
        Self { next_small: SMALL_ARRAYS, next_large: LARGE_ARRAYS, next_unknown: UNKNOWN_ARRAYS }
    }

    /// The first address of an array of the given size, if that is known.
    pub(super) fn place(&mut self, bytes: Option<u64>) -> i64 {
        let address = match bytes {
            Some(bytes) if bytes < OWN_PAGES => {
                let address = self.next_small + HEADER;
                self.next_small = (address + bytes).next_multiple_of(HEADER);
                address
            }
            Some(bytes) if bytes < UNKNOWN_SPACING => {
                let address = self.next_large + HEADER;
                self.next_large = (address + bytes).next_multiple_of(PAGE);
                address
            }
            _ => {
                let address = self.next_unknown + HEADER;
                self.next_unknown += UNKNOWN_SPACING;
                address
            }
        };
        address as i64
    }
}
