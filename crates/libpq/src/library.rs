//! The functions of libpq that are used.

use crate::failure::Failure;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

/// `PGconn`.
#[repr(C)]
pub(crate) struct RawConnection {
    _opaque: [u8; 0],
}

/// `PGresult`.
#[repr(C)]
pub(crate) struct RawResult {
    _opaque: [u8; 0],
}

/// `PQconninfoOption`.
#[repr(C)]
pub(crate) struct RawSetting {
    pub(crate) keyword: *const c_char,
    _environment: *const c_char,
    _built_in: *const c_char,
    pub(crate) value: *const c_char,
    _label: *const c_char,
    _display: *const c_char,
    _size: c_int,
}

/// Where libpq is, newest interface first.
const NAMES: [&str; 3] = ["libpq.so.5", "libpq.5.dylib", "libpq.dll"];

macro_rules! functions {
    ($($name:ident: $symbol:literal = fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions, by what they do.
        pub(crate) struct Library {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// What the functions are of.
            _library: libloading::Library,
        }

        impl Library {
            fn from(library: libloading::Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    $($name: {
                        // SAFETY: the types are those of libpq-fe.h, interface 5.
                        *unsafe { library.get(concat!($symbol, "\0").as_bytes()) }?
                    },)*
                    _library: library,
                })
            }
        }
    };
}

type Notices = unsafe extern "C" fn(*mut c_void, *const c_char);

functions! {
    connect: "PQconnectdbParams" = fn(*const *const c_char, *const *const c_char, c_int) -> *mut RawConnection;
    parse: "PQconninfoParse" = fn(*const c_char, *mut *mut c_char) -> *mut RawSetting;
    free_settings: "PQconninfoFree" = fn(*mut RawSetting);
    free_text: "PQfreemem" = fn(*mut c_void);
    finish: "PQfinish" = fn(*mut RawConnection);
    status: "PQstatus" = fn(*const RawConnection) -> c_int;
    error: "PQerrorMessage" = fn(*const RawConnection) -> *const c_char;
    take_notices: "PQsetNoticeProcessor" = fn(*mut RawConnection, Option<Notices>, *mut c_void) -> Option<Notices>;
    prepare: "PQprepare" =
        fn(*mut RawConnection, *const c_char, *const c_char, c_int, *const u32) -> *mut RawResult;
    execute: "PQexecPrepared" = fn(
        *mut RawConnection, *const c_char, c_int, *const *const c_char, *const c_int, *const c_int, c_int
    ) -> *mut RawResult;
    run: "PQexec" = fn(*mut RawConnection, *const c_char) -> *mut RawResult;
    result_status: "PQresultStatus" = fn(*const RawResult) -> c_int;
    result_field: "PQresultErrorField" = fn(*const RawResult, c_int) -> *const c_char;
    result_error: "PQresultErrorMessage" = fn(*const RawResult) -> *const c_char;
    n_rows: "PQntuples" = fn(*const RawResult) -> c_int;
    n_columns: "PQnfields" = fn(*const RawResult) -> c_int;
    value: "PQgetvalue" = fn(*const RawResult, c_int, c_int) -> *const c_char;
    length: "PQgetlength" = fn(*const RawResult, c_int, c_int) -> c_int;
    is_null: "PQgetisnull" = fn(*const RawResult, c_int, c_int) -> c_int;
    clear: "PQclear" = fn(*mut RawResult);
}

/// Whether libpq is there; it is loaded if it was not yet.
///
/// # Errors
/// If it is missing.
pub fn load() -> Result<(), Failure> {
    library().map(drop)
}

/// libpq, loaded once.
pub(crate) fn library() -> Result<&'static Library, Failure> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    let load = || {
        let mut reasons = Vec::new();
        for name in NAMES {
            // SAFETY: the initialisers of libpq do nothing but set up libpq.
            match unsafe { libloading::Library::new(name) }.and_then(Library::from) {
                Ok(library) => return Ok(library),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(format!(
            "PostgreSQL's client library is missing ({}); install it, under Debian with `apt install libpq5`",
            reasons[0]
        ))
    };
    LIBRARY.get_or_init(load).as_ref().map_err(|reason| Failure::new(reason.clone()))
}
