//! Hashes the sources of the rules, so that machines can tell whether they compiled the same ones.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let mut files = Vec::new();
    for folder in ["src", "../rules/src"] {
        println!("cargo::rerun-if-changed={folder}");
        list(Path::new(folder), &mut files);
    }
    files.sort();
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for path in files {
        hash.take(path.to_string_lossy().as_bytes());
        hash.take(&fs::read(&path).expect("a source that can be read"));
    }
    println!("cargo::rustc-env=MALICE_CORE_SOURCE={:016x}", hash.0);
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of it").path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// FNV-1a: a build needs no crate for it, and it guards against mistakes, not against forgers.
struct Fnv(u64);

impl Fnv {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&[0]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
