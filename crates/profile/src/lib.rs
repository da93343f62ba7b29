//! Roofline features of loop nests, tables and plots of them.
