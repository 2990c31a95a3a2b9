//! The table of functions that Proofload calls, with their types as in `duckdb.h`. Resolves names; calls nothing.

use std::ffi::{c_char, c_void};

/// `idx_t`.
pub(super) type Index = u64;
/// `duckdb_state`: 0 is success.
pub(super) type State = u32;
/// `DuckDBSuccess`.
pub(super) const SUCCESS: State = 0;

/// Types that only DuckDB looks into.
macro_rules! opaque {
    ($($name:ident),+) => {
        $(
            /// A type that only DuckDB looks into.
            pub(super) enum $name {}
        )+
    };
}

opaque!(
    RawDatabase,
    RawConnection,
    RawConfiguration,
    RawPrepared,
    RawAppender,
    RawChunk,
    RawVector,
    RawType,
    RawErrorData
);

/// `duckdb_result`: five deprecated fields and DuckDB's own pointer.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RawResult {
    deprecated: [u64; 3],
    columns: *mut c_void,
    error: *mut c_char,
    internal: *mut c_void,
}

impl RawResult {
    /// A place for a result to be written to.
    pub(super) const EMPTY: Self = Self {
        deprecated: [0; 3],
        columns: std::ptr::null_mut(),
        error: std::ptr::null_mut(),
        internal: std::ptr::null_mut(),
    };
}

/// `duckdb_hugeint`, as the two halves of a 128-bit integer.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RawHuge {
    /// The lower half.
    pub(super) lower: u64,
    /// The upper half, with the sign.
    pub(super) upper: i64,
}

/// `duckdb_decimal`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RawDecimal {
    /// Digits at most.
    pub(super) width: u8,
    /// Digits after the point.
    pub(super) scale: u8,
    /// The digits.
    pub(super) value: RawHuge,
}

/// `duckdb_timestamp`, microseconds since the epoch.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct RawTimestamp(pub(super) i64);

/// Makes the table and the way to fill it.
macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $answer:ty)?;)+) => {
        /// Every function of the C API that Proofload calls.
        pub(in super::super) struct Functions {
            $(
                #[doc = concat!("`duckdb_", stringify!($name), "`.")]
                // SAFETY: to be called as `duckdb.h` says of each function.
                pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $answer)?,
            )+
        }

        impl Functions {
            /// Looks every function up; the error is the name of the first that the library lacks.
            ///
            /// # Safety
            /// The library must be DuckDB's, whose functions have these types, and must stay loaded.
            pub(super) unsafe fn resolve(library: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $(
                        $name: {
                            let found = address(library, concat!("duckdb_", stringify!($name)))?;
                            // SAFETY: the caller promises the type of the function at this address.
                            unsafe {
                                std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $answer)?>(found)
                            }
                        },
                    )+
                })
            }
        }
    };
}

functions! {
    create_config(*mut *mut RawConfiguration) -> State;
    set_config(*mut RawConfiguration, *const c_char, *const c_char) -> State;
    destroy_config(*mut *mut RawConfiguration);
    open_ext(*const c_char, *mut *mut RawDatabase, *mut RawConfiguration, *mut *mut c_char) -> State;
    close(*mut *mut RawDatabase);
    free(*mut c_void);
    connect(*mut RawDatabase, *mut *mut RawConnection) -> State;
    disconnect(*mut *mut RawConnection);
    interrupt(*mut RawConnection);
    query(*mut RawConnection, *const c_char, *mut RawResult) -> State;
    prepare(*mut RawConnection, *const c_char, *mut *mut RawPrepared) -> State;
    prepare_error(*mut RawPrepared) -> *const c_char;
    destroy_prepare(*mut *mut RawPrepared);
    nparams(*mut RawPrepared) -> Index;
    prepared_statement_type(*mut RawPrepared) -> u32;
    prepared_statement_column_count(*mut RawPrepared) -> Index;
    prepared_statement_column_name(*mut RawPrepared, Index) -> *const c_char;
    bind_null(*mut RawPrepared, Index) -> State;
    bind_int64(*mut RawPrepared, Index, i64) -> State;
    bind_decimal(*mut RawPrepared, Index, RawDecimal) -> State;
    bind_timestamp(*mut RawPrepared, Index, RawTimestamp) -> State;
    bind_varchar_length(*mut RawPrepared, Index, *const c_char, Index) -> State;
    execute_prepared(*mut RawPrepared, *mut RawResult) -> State;
    destroy_result(*mut RawResult);
    result_error(*mut RawResult) -> *const c_char;
    result_return_type(RawResult) -> u32;
    rows_changed(*mut RawResult) -> Index;
    column_count(*mut RawResult) -> Index;
    column_logical_type(*mut RawResult, Index) -> *mut RawType;
    get_type_id(*mut RawType) -> u32;
    decimal_scale(*mut RawType) -> u8;
    decimal_internal_type(*mut RawType) -> u32;
    destroy_logical_type(*mut *mut RawType);
    fetch_chunk(RawResult) -> *mut RawChunk;
    create_data_chunk(*mut *mut RawType, Index) -> *mut RawChunk;
    destroy_data_chunk(*mut *mut RawChunk);
    data_chunk_reset(*mut RawChunk);
    data_chunk_get_size(*mut RawChunk) -> Index;
    data_chunk_set_size(*mut RawChunk, Index);
    data_chunk_get_vector(*mut RawChunk, Index) -> *mut RawVector;
    vector_size() -> Index;
    vector_get_data(*mut RawVector) -> *mut c_void;
    vector_get_validity(*mut RawVector) -> *mut u64;
    vector_ensure_validity_writable(*mut RawVector);
    vector_assign_string_element_len(*mut RawVector, Index, *const c_char, Index);
    validity_set_row_invalid(*mut u64, Index);
    appender_create(*mut RawConnection, *const c_char, *const c_char, *mut *mut RawAppender) -> State;
    appender_add_column(*mut RawAppender, *const c_char) -> State;
    appender_column_count(*mut RawAppender) -> Index;
    appender_column_type(*mut RawAppender, Index) -> *mut RawType;
    appender_error_data(*mut RawAppender) -> *mut RawErrorData;
    error_data_error_type(*mut RawErrorData) -> u32;
    error_data_message(*mut RawErrorData) -> *const c_char;
    destroy_error_data(*mut *mut RawErrorData);
    append_data_chunk(*mut RawAppender, *mut RawChunk) -> State;
    appender_clear(*mut RawAppender) -> State;
    appender_close(*mut RawAppender) -> State;
    appender_destroy(*mut *mut RawAppender) -> State;
}

impl std::fmt::Debug for Functions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Functions")
    }
}

/// The address of a function. One for all types: a lookup for each would be compiled as often.
fn address(library: &libloading::Library, name: &'static str) -> Result<*mut c_void, &'static str> {
    // SAFETY: any symbol has an address, and nothing is read from it here.
    unsafe { library.get::<*mut c_void>(name) }.map(|symbol| *symbol).map_err(|_| name)
}

/// Copies a text of DuckDB's; `absent` stands for none.
///
/// # Safety
/// The pointer is null or that of a text that ends with a zero byte and lives as long as this call.
pub(super) unsafe fn text(pointer: *const c_char, absent: &str) -> String {
    if pointer.is_null() {
        return absent.to_owned();
    }
    // SAFETY: not null, and the caller promises the rest.
    unsafe { std::ffi::CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
