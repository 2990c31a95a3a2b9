//! The programs that a release hands out. This file is a table.

/// A program with packages of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DistProduct {
    /// Its name, also that of its crate and of its packages.
    pub(super) name: &'static str,
    /// Features that it is built with, as cargo's metadata takes them; empty for the usual ones.
    pub(super) features: &'static str,
    /// Relations of its Debian package besides what it needs.
    pub(super) relations: &'static str,
    /// Description of its Debian package: a line, then lines that begin with a blank.
    pub(super) description: &'static str,
}

/// The program.
pub(super) const PROOFLOAD: DistProduct = DistProduct {
    name: "proofload",
    features: "",
    relations: "Recommends: fio, proofload-pdf\nSuggests: postgresql, mariadb-server\n",
    description: "proof loads for databases, with a record of what held\n \
                  Proofload puts a load on a database and its storage, and records what held,\n what broke first, and why. \
                  A study file defines a workload, a testbed and the\n settings to vary; everything is stored in one file, from which a report is\n \
                  rendered on any machine.\n",
};

/// The typesetter, which takes longer to compile and more room than the program.
pub(super) const TYPESETTER: DistProduct = DistProduct {
    name: "proofload-pdf",
    features: "proofload-pdf/typst",
    relations: "Enhances: proofload\n",
    description: "papers of Proofload as PDF\n \
                  Turns what \"proofload report -o X.pdf\" hands over into a tagged PDF with its\n fonts embedded. It reads standard input and writes \
                  standard output only.\n",
};
