//! What texts need of OpenMP, and the flags that switch it on.

/// Switches directives of OpenMP on.
pub(crate) const OPENMP_FLAG: &str = "-fopenmp";

/// Switches on only those that one thread heeds.
pub(crate) const SIMD_FLAG: &str = "-fopenmp-simd";

/// What a text needs of OpenMP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Directives {
    #[default]
    Nothing,
    /// Directives for loops that one thread runs in vectors.
    Vectors,
    /// Threads, or the macro of builds that have them.
    Threads,
}

impl Directives {
    /// The flag for them, if it is not among these.
    pub(crate) fn flag(self, flags: &[String]) -> Option<String> {
        let (flag, is_there) = match self {
            Self::Nothing => return None,
            Self::Vectors => {
                (SIMD_FLAG, has_openmp_flag(flags) || flags.iter().any(|flag| flag == SIMD_FLAG))
            }
            Self::Threads => (OPENMP_FLAG, has_openmp_flag(flags)),
        };
        (!is_there).then(|| flag.to_owned())
    }
}

/// Whether these flags switch OpenMP directives on.
pub(crate) fn has_openmp_flag(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag.starts_with("-fopenmp") && flag != SIMD_FLAG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_says_no_more_than_it_takes() {
        let flag = |needed: Directives, flags: &[&str]| {
            needed.flag(&flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(flag(Directives::Nothing, &[]), None);
        assert_eq!(flag(Directives::Vectors, &["-O2"]).as_deref(), Some(SIMD_FLAG));
        assert_eq!(flag(Directives::Threads, &["-O2", SIMD_FLAG]).as_deref(), Some(OPENMP_FLAG));
        for flags in [[SIMD_FLAG], [OPENMP_FLAG], ["-fopenmp=libomp"]] {
            assert_eq!(flag(Directives::Vectors, &flags), None, "{flags:?}");
        }
        assert_eq!(flag(Directives::Threads, &[OPENMP_FLAG]), None);
        assert!(Directives::Nothing < Directives::Vectors && Directives::Vectors < Directives::Threads);
    }
}
