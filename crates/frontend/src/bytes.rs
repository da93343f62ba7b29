//! Converts files that are not UTF-8 to text and back.
//!
//! Comments in Latin-1 must not change. Bytes that are not UTF-8 are represented by characters of a private plane while
//! the file is processed.

/// Represents byte 0.
const FIRST: u32 = 0x10_FE00;

/// The text of a file; `None` if it has both bytes that are not UTF-8 and the characters that represent them.
pub fn decoded(bytes: Vec<u8>) -> Option<String> {
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return (!text.chars().any(stands_for_byte)).then_some(text),
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    for chunk in bytes.utf8_chunks() {
        if chunk.valid().chars().any(stands_for_byte) {
            return None;
        }
        text.push_str(chunk.valid());
        let stand_ins = chunk.invalid().iter().filter_map(|b| char::from_u32(FIRST + u32::from(*b)));
        text.extend(stand_ins);
    }
    Some(text)
}

/// The bytes of a text from [`decoded`], which may have been edited since.
pub fn encoded(text: &str) -> Vec<u8> {
    if !text.chars().any(stands_for_byte) {
        return text.as_bytes().to_vec();
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u8::try_from(u32::from(c).wrapping_sub(FIRST)) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    bytes
}

fn stands_for_byte(c: char) -> bool {
    (FIRST..FIRST + 0x100).contains(&u32::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let all: Vec<u8> = (0..=255u8).chain("häß".bytes()).chain([0xe9, b' ', 0xff, 0xf0, 0x9f]).collect();
        let text = decoded(all.clone()).expect("decoded");
        assert_eq!(encoded(&text), all);
        assert_eq!(decoded("größe".into()).as_deref(), Some("größe"));
        assert_eq!(decoded("\u{10FE41}".into()), None);
    }
}
