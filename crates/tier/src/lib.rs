//! The SSD cache tier and the modelled disk under it (not built yet).
