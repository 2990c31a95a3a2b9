//! Proofs of a password: what each method of authentication sends. Source: knowledge base, "ServerConnection", and MySQL's source documentation,
//! "Caching_sha2_password information".

use crate::contract::Error;
use crate::engines::mysql_family::flavour::Flavour;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};

/// Methods that we speak, best first.
pub(super) const NATIVE: &str = "mysql_native_password";
pub(super) const CACHING_SHA2: &str = "caching_sha2_password";

/// The answer to a server's salt by a method; the error says what to do about a method that we do not speak.
pub(super) fn answer(method: &str, password: &[u8], salt: &[u8], flavour: &Flavour) -> Result<Vec<u8>, Error> {
    match method {
        NATIVE | CACHING_SHA2 if password.is_empty() => Ok(Vec::new()),
        NATIVE => Ok(native(password, salt)),
        CACHING_SHA2 => Ok(caching_sha2(password, salt)),
        // The server asks the kernel who we are.
        "unix_socket" | "auth_socket" => Ok(Vec::new()),
        other => {
            let change = flavour.change_method;
            Err(Error::other(format!(
                "the server asks for {other}, which is not spoken here: let the account use {NATIVE} or {CACHING_SHA2} ({change})"
            )))
        }
    }
}

/// SHA1(password) xor SHA1(salt, SHA1(SHA1(password))).
fn native(password: &[u8], salt: &[u8]) -> Vec<u8> {
    let once = digest(&SHA1_FOR_LEGACY_USE_ONLY, password);
    let twice = digest(&SHA1_FOR_LEGACY_USE_ONLY, once.as_ref());
    let mut mask = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    mask.update(salt);
    mask.update(twice.as_ref());
    xor(once.as_ref(), mask.finish().as_ref())
}

/// SHA256(password) xor SHA256(SHA256(SHA256(password)), salt).
fn caching_sha2(password: &[u8], salt: &[u8]) -> Vec<u8> {
    let once = digest(&SHA256, password);
    let twice = digest(&SHA256, once.as_ref());
    let mut mask = Context::new(&SHA256);
    mask.update(twice.as_ref());
    mask.update(salt);
    xor(once.as_ref(), mask.finish().as_ref())
}

fn xor(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right).map(|(left, right)| left ^ right).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::mysql::FLAVOUR;

    /// What a server checks: the proof, the salt and what it keeps of the password give back the password's hash.
    #[test]
    fn a_server_accepts_the_proofs() {
        let (password, salt) = (b"secret", b"12345678901234567890");
        let once = digest(&SHA1_FOR_LEGACY_USE_ONLY, password);
        let kept = digest(&SHA1_FOR_LEGACY_USE_ONLY, once.as_ref());
        let mask = digest(&SHA1_FOR_LEGACY_USE_ONLY, &[&salt[..], kept.as_ref()].concat());
        let proof = answer(NATIVE, password, salt, &FLAVOUR).expect("it is spoken");
        assert_eq!(digest(&SHA1_FOR_LEGACY_USE_ONLY, &xor(&proof, mask.as_ref())).as_ref(), kept.as_ref());
        let kept = digest(&SHA256, digest(&SHA256, password).as_ref());
        let mask = digest(&SHA256, &[kept.as_ref(), &salt[..]].concat());
        let proof = answer(CACHING_SHA2, password, salt, &FLAVOUR).expect("it is spoken");
        assert_eq!(digest(&SHA256, &xor(&proof, mask.as_ref())).as_ref(), kept.as_ref());
    }

    #[test]
    fn no_password_is_no_proof_and_other_methods_are_named() {
        assert!(answer(NATIVE, b"", b"salt", &FLAVOUR).expect("it is spoken").is_empty());
        let error = answer("client_ed25519", b"secret", b"salt", &FLAVOUR).expect_err("it is not spoken").to_string();
        assert!(
            error.contains("client_ed25519") && error.contains("ALTER USER") && !error.contains("secret"),
            "{error}"
        );
    }
}
