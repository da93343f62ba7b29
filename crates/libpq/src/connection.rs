//! A connection, and what comes through it.

use crate::address::owned;
use crate::failure::{Failure, one_line};
use crate::library::{Library, RawConnection, RawResult, library};
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::NonNull;

/// `CONNECTION_OK`.
const IS_CONNECTED: c_int = 0;
/// `PGRES_COMMAND_OK` and `PGRES_TUPLES_OK`.
const IS_DONE: [c_int; 2] = [1, 2];
/// `PG_DIAG_SQLSTATE`, `PG_DIAG_MESSAGE_PRIMARY`.
const STATE: c_int = b'C' as c_int;
const PRIMARY: c_int = b'M' as c_int;

/// A connection to a server. What it sends and gets is text.
pub struct Connection {
    raw: NonNull<RawConnection>,
    library: &'static Library,
    /// The names of the statements that the server knows already, by their text.
    prepared: HashMap<String, CString>,
}

// SAFETY: libpq lets a connection be used by any thread, one at a time.
unsafe impl Send for Connection {}

impl Connection {
    /// Connects. `settings` count where neither the address nor the environment says otherwise.
    ///
    /// # Errors
    /// If there is no such server, or it refuses, or libpq is missing.
    pub fn open(address: &str, settings: &[(&str, &str)]) -> Result<Self, Failure> {
        let library = library()?;
        let all = settings.iter().copied().chain([("dbname", address), ("client_encoding", "UTF8")]);
        let mut texts = Vec::new();
        for (keyword, value) in all {
            texts.push((text(keyword)?, text(value)?));
        }
        let end = [std::ptr::null()];
        let keywords: Vec<*const c_char> = texts.iter().map(|(k, _)| k.as_ptr()).chain(end).collect();
        let values: Vec<*const c_char> = texts.iter().map(|(_, v)| v.as_ptr()).chain(end).collect();
        // SAFETY: both lists end with a null pointer; 1: `dbname` is an address.
        let raw = unsafe { (library.connect)(keywords.as_ptr(), values.as_ptr(), 1) };
        let raw = NonNull::new(raw).ok_or_else(|| Failure::new("no memory is left"))?;
        let connection = Self { raw, library, prepared: HashMap::new() };
        if connection.is_broken() {
            return Err(connection.failure());
        }
        // SAFETY: the function outlives the connection and looks at nothing.
        unsafe { (library.take_notices)(raw.as_ptr(), Some(ignore), std::ptr::null_mut()) };
        Ok(connection)
    }

    /// Whether the connection is lost; another has to be opened then.
    pub fn is_broken(&self) -> bool {
        // SAFETY: the connection is open until it is dropped.
        unsafe { (self.library.status)(self.raw.as_ptr()) != IS_CONNECTED }
    }

    /// Runs statements without parameters, separated by `;`.
    ///
    /// # Errors
    /// Of the first that fails.
    pub fn run(&mut self, statements: &str) -> Result<(), Failure> {
        let statements = text(statements)?;
        // SAFETY: the text ends with zero.
        let result = unsafe { (self.library.run)(self.raw.as_ptr(), statements.as_ptr()) };
        self.checked(result).map(drop)
    }

    /// Runs one statement with its parameters `$1`, `$2`, …, where `None` is null.
    ///
    /// # Errors
    /// If it fails.
    pub fn query(&mut self, statement: &str, parameters: &[Option<&str>]) -> Result<Rows, Failure> {
        let name = match self.prepared.get(statement) {
            Some(name) => name.clone(),
            None => self.prepare(statement)?,
        };
        let texts = parameters.iter().map(|p| p.map(text).transpose()).collect::<Result<Vec<_>, _>>()?;
        let values: Vec<*const c_char> =
            texts.iter().map(|t| t.as_ref().map_or(std::ptr::null(), |t| t.as_ptr())).collect();
        let none = std::ptr::null();
        let n = values.len() as c_int;
        // SAFETY: as many texts as are said, each of which ends with zero.
        let result = unsafe {
            (self.library.execute)(self.raw.as_ptr(), name.as_ptr(), n, values.as_ptr(), none, none, 0)
        };
        self.checked(result)
    }

    fn prepare(&mut self, statement: &str) -> Result<CString, Failure> {
        let name = text(&format!("oxeye_{}", self.prepared.len()))?;
        let words = text(statement)?;
        // SAFETY: the texts end with zero; the types of parameters are left to the server.
        let result = unsafe {
            (self.library.prepare)(self.raw.as_ptr(), name.as_ptr(), words.as_ptr(), 0, std::ptr::null())
        };
        self.checked(result)?;
        self.prepared.insert(statement.to_owned(), name.clone());
        Ok(name)
    }

    fn checked(&self, result: *mut RawResult) -> Result<Rows, Failure> {
        let Some(raw) = NonNull::new(result) else { return Err(self.failure()) };
        let rows = Rows { raw, library: self.library };
        // SAFETY: the result is there until it is dropped.
        let status = unsafe { (self.library.result_status)(raw.as_ptr()) };
        if IS_DONE.contains(&status) { Ok(rows) } else { Err(rows.failure()) }
    }

    fn failure(&self) -> Failure {
        // SAFETY: the message is there as long as the connection.
        Failure::new(one_line(&unsafe { owned((self.library.error)(self.raw.as_ptr())) }))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: not used any more.
        unsafe { (self.library.finish)(self.raw.as_ptr()) }
    }
}

/// What a statement has given.
pub struct Rows {
    raw: NonNull<RawResult>,
    library: &'static Library,
}

impl Rows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        // SAFETY: the result is there until it is dropped.
        unsafe { (self.library.n_rows)(self.raw.as_ptr()) as usize }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One value; `None` for null, and for what is not there.
    pub fn text(&self, row: usize, column: usize) -> Option<&str> {
        // SAFETY: the result is there until it is dropped.
        let n_columns = unsafe { (self.library.n_columns)(self.raw.as_ptr()) as usize };
        if row >= self.len() || column >= n_columns {
            return None;
        }
        let (row, column) = (row as c_int, column as c_int);
        // SAFETY: the row and the column are there, and the bytes are there as long as the result.
        let bytes = unsafe {
            if (self.library.is_null)(self.raw.as_ptr(), row, column) == 1 {
                return None;
            }
            let length = (self.library.length)(self.raw.as_ptr(), row, column) as usize;
            let first: *const u8 = (self.library.value)(self.raw.as_ptr(), row, column).cast();
            std::slice::from_raw_parts(first, length)
        };
        std::str::from_utf8(bytes).ok()
    }

    fn failure(&self) -> Failure {
        let raw = self.raw.as_ptr();
        // SAFETY: the texts are there as long as the result.
        unsafe {
            let field = |field: c_int| {
                let text = (self.library.result_field)(raw, field);
                (!text.is_null()).then(|| owned(text))
            };
            let message = field(PRIMARY).unwrap_or_else(|| owned((self.library.result_error)(raw)));
            Failure { message: one_line(&message), state: field(STATE) }
        }
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        // SAFETY: not used any more.
        unsafe { (self.library.clear)(self.raw.as_ptr()) }
    }
}

/// What servers say beside their answers is for nobody.
unsafe extern "C" fn ignore(_: *mut c_void, _: *const c_char) {}

fn text(text: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| Failure::new("a text holds a zero byte"))
}
