//! What a replay function takes.

use serde::{Deserialize, Serialize};

/// The type of one array element or scalar, as C stores it on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ElementType {
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl ElementType {
    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            ElementType::I8 | ElementType::U8 => 1,
            ElementType::I16 | ElementType::U16 => 2,
            ElementType::F32 | ElementType::I32 | ElementType::U32 => 4,
            ElementType::F64 | ElementType::I64 | ElementType::U64 => 8,
        }
    }

    /// Whether elements are floating-point numbers.
    pub fn is_float(self) -> bool {
        matches!(self, ElementType::F32 | ElementType::F64)
    }

    /// The name numpy gives the type, such as `float64`.
    pub fn numpy_name(self) -> &'static str {
        match self {
            ElementType::F32 => "float32",
            ElementType::F64 => "float64",
            ElementType::I8 => "int8",
            ElementType::I16 => "int16",
            ElementType::I32 => "int32",
            ElementType::I64 => "int64",
            ElementType::U8 => "uint8",
            ElementType::U16 => "uint16",
            ElementType::U32 => "uint32",
            ElementType::U64 => "uint64",
        }
    }

    /// The little-endian element at the start of `bytes` as a floating-point number; `None` when `bytes` is too short.
    pub fn read_f64(self, bytes: &[u8]) -> Option<f64> {
        Some(match self {
            ElementType::F32 => f64::from(f32::from_le_bytes(*bytes.first_chunk()?)),
            ElementType::F64 => f64::from_le_bytes(*bytes.first_chunk()?),
            _ => self.read_integer(bytes)? as f64,
        })
    }

    /// The little-endian integer at the start of `bytes`; `None` for floating-point types or too few bytes.
    pub fn read_integer(self, bytes: &[u8]) -> Option<i128> {
        Some(match self {
            ElementType::F32 | ElementType::F64 => return None,
            ElementType::I8 => i8::from_le_bytes(*bytes.first_chunk()?).into(),
            ElementType::I16 => i16::from_le_bytes(*bytes.first_chunk()?).into(),
            ElementType::I32 => i32::from_le_bytes(*bytes.first_chunk()?).into(),
            ElementType::I64 => i64::from_le_bytes(*bytes.first_chunk()?).into(),
            ElementType::U8 => u8::from_le_bytes(*bytes.first_chunk()?).into(),
            ElementType::U16 => u16::from_le_bytes(*bytes.first_chunk()?).into(),
            ElementType::U32 => u32::from_le_bytes(*bytes.first_chunk()?).into(),
            ElementType::U64 => u64::from_le_bytes(*bytes.first_chunk()?).into(),
        })
    }

    /// Appends `value`, converted as C converts (truncated towards zero, saturating), in little-endian order.
    pub fn write_f64(self, value: f64, out: &mut Vec<u8>) {
        match self {
            ElementType::F32 => out.extend((value as f32).to_le_bytes()),
            ElementType::F64 => out.extend(value.to_le_bytes()),
            ElementType::I8 => out.extend((value as i8).to_le_bytes()),
            ElementType::I16 => out.extend((value as i16).to_le_bytes()),
            ElementType::I32 => out.extend((value as i32).to_le_bytes()),
            ElementType::I64 => out.extend((value as i64).to_le_bytes()),
            ElementType::U8 => out.extend((value as u8).to_le_bytes()),
            ElementType::U16 => out.extend((value as u16).to_le_bytes()),
            ElementType::U32 => out.extend((value as u32).to_le_bytes()),
            ElementType::U64 => out.extend((value as u64).to_le_bytes()),
        }
    }
}

/// How an argument is handed over. Either way the replay function receives a `void *`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ArgumentKind {
    /// An array, read and written.
    Buffer {
        /// The type of its elements.
        element: ElementType,
    },
    /// One element behind a pointer.
    Scalar {
        /// Its type.
        element: ElementType,
    },
}

/// One argument of a replay function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Argument {
    /// The name in the user's program, for messages.
    pub name: String,
    /// How it is handed over.
    pub kind: ArgumentKind,
    /// Whether nobody reads its contents after a call, so that they are not compared.
    #[serde(default)]
    pub is_scratch: bool,
    /// For an array of structures, the members that are compared; otherwise all of it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Fields>,
}

/// Members of the structures in an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fields {
    /// Size of one structure in bytes.
    pub bytes: u64,
    /// Offset in bytes, number of elements that follow each other there, and their type.
    pub runs: Vec<(u64, u64, ElementType)>,
}

impl Argument {
    /// An array argument.
    pub fn buffer(name: impl Into<String>, element: ElementType) -> Argument {
        Argument {
            name: name.into(),
            kind: ArgumentKind::Buffer { element },
            is_scratch: false,
            fields: None,
        }
    }

    /// A scalar argument.
    pub fn scalar(name: impl Into<String>, element: ElementType) -> Argument {
        Argument {
            name: name.into(),
            kind: ArgumentKind::Scalar { element },
            is_scratch: false,
            fields: None,
        }
    }

    /// The same, except that nobody reads its contents after a call.
    pub fn scratch(self) -> Argument {
        Argument { is_scratch: true, ..self }
    }

    /// The same, of structures of which only some members are compared.
    pub fn with_fields(self, fields: Option<Fields>) -> Argument {
        Argument { fields, ..self }
    }

    /// What is compared of it: the bytes after which the pattern repeats, and in each of these offset, number and type of
    /// elements.
    pub(crate) fn elements(&self) -> (u64, Vec<(u64, u64, ElementType)>) {
        match &self.fields {
            Some(fields) => (fields.bytes, fields.runs.clone()),
            None => (self.element().size() as u64, vec![(0, 1, self.element())]),
        }
    }

    /// The type of the array's elements or of the scalar.
    pub fn element(&self) -> ElementType {
        match self.kind {
            ArgumentKind::Buffer { element } | ArgumentKind::Scalar { element } => element,
        }
    }
}
