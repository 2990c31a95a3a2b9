//! Load agents and database hosts by the ways that clusters have: ssh between hosts of their own, Slurm, Kubernetes. May not judge figures: what
//! is proved is that a way works, and what a user reads when it breaks.

mod kubernetes;
mod lan;
mod processes;
mod program;
mod run;
mod slurm;
mod ssh;
mod ssh_cases;

pub(crate) use run::run;
