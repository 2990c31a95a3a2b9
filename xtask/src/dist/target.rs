//! The machines that something is built for. This file is a table.

/// A machine, and what is made for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DistTarget {
    /// Its name for rustc.
    pub(super) triple: &'static str,
    /// Its architecture for Debian, if it has a package.
    pub(super) debian: Option<&'static str>,
    /// Platform tag of its wheel, if it has one. A static binary needs no library of the system, so that it runs beside glibc and musl.
    pub(super) wheel: Option<&'static str>,
    /// The compiler of the C of SQLite and ring.
    pub(super) compiler: &'static str,
    /// The program that links, where it is not the one that rustc asks for by itself.
    pub(super) linker: Option<&'static str>,
    /// Whether `proofload-pdf` is packed for it, too.
    pub(super) has_typesetter: bool,
}

/// All targets; the first is of the machine that builds, whose program writes the manual pages.
pub(super) const TARGETS: &[DistTarget] = &[
    DistTarget {
        triple: "x86_64-unknown-linux-gnu",
        debian: Some("amd64"),
        wheel: None,
        compiler: "cc",
        linker: None,
        has_typesetter: true,
    },
    DistTarget {
        triple: "x86_64-unknown-linux-musl",
        debian: None,
        wheel: Some("manylinux_2_17_x86_64.musllinux_1_1_x86_64"),
        compiler: "musl-gcc",
        linker: None,
        has_typesetter: false,
    },
    DistTarget {
        triple: "aarch64-unknown-linux-musl",
        debian: None,
        wheel: Some("manylinux_2_17_aarch64.musllinux_1_1_aarch64"),
        compiler: "aarch64-linux-musl-gcc",
        // That of glibc: rustc brings the start files and the library of musl itself.
        linker: Some("aarch64-linux-gnu-gcc"),
        has_typesetter: false,
    },
];

impl DistTarget {
    /// Whether its binary needs no library of the system.
    pub(super) fn is_static(&self) -> bool {
        self.triple.ends_with("-musl")
    }
}
