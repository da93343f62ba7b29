//! What an address says.

use crate::failure::{Failure, one_line};
use crate::library::{RawSetting, library};
use std::ffi::{CStr, CString, c_char};

/// One setting that an address makes: `host`, `port`, `dbname`, `user`, `password`, `sslmode`, …
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub keyword: String,
    /// Its value.
    pub value: String,
}

/// The settings that an address makes, without those that the environment or a file would add.
///
/// # Errors
/// If it is no address, or libpq is missing.
pub fn settings(address: &str) -> Result<Vec<Setting>, Failure> {
    let library = library()?;
    let text = CString::new(address).map_err(|_| Failure::new("the address holds a zero byte"))?;
    let mut message: *mut c_char = std::ptr::null_mut();
    // SAFETY: the text ends with zero, and the message is a place for a pointer.
    let first = unsafe { (library.parse)(text.as_ptr(), &mut message) };
    if first.is_null() {
        if message.is_null() {
            return Err(Failure::new("no memory is left"));
        }
        // SAFETY: a message that libpq has made, freed once.
        let words = unsafe { owned(message) };
        unsafe { (library.free_text)(message.cast()) };
        return Err(Failure::new(one_line(&words)));
    }
    let mut found = Vec::new();
    // SAFETY: an array that ends with an entry without a keyword, freed once.
    unsafe {
        let mut at: *const RawSetting = first;
        while !(*at).keyword.is_null() {
            if !(*at).value.is_null() {
                found.push(Setting { keyword: owned((*at).keyword), value: owned((*at).value) });
            }
            at = at.add(1);
        }
        (library.free_settings)(first);
    }
    Ok(found)
}

/// A copy of a text of libpq.
///
/// # Safety
/// It ends with zero.
pub(crate) unsafe fn owned(text: *const c_char) -> String {
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
