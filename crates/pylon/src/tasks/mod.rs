//! Tasks of a workspace: Markdown files with front matter in its folder `task`.
//!
//! The files are the truth, also those that people write by hand. [`matter`] reads and changes front matter, [`task`] says
//! what a file means and which task is next, [`name`] makes file names, [`worker`] decides what a worker does next; all of
//! them are pure. [`folder`] does the IO.

pub mod folder;
pub mod matter;
pub mod name;
pub mod task;
pub mod worker;

pub use folder::{FolderError, TaskFolder, Tasks};
pub use task::{FindError, Task};
