//! Load generation: schedules, virtual users, workloads, histograms.
