//! Pieces as a program.

use crate::generate::Piece;
use crate::motifs;
use oxeye_random::Rng;
use std::fmt::Write as _;

/// A random program.
#[derive(Clone, Debug)]
pub struct Program {
    /// What it is a function of.
    pub seed: u64,
    /// Its pieces.
    pub pieces: Vec<Piece>,
    crlf: bool,
    old_main: bool,
    guarded: bool,
}

/// Pieces of a program, at most.
const MOST_PIECES: usize = 5;

impl Program {
    /// The program of a seed.
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed, 0);
        let n_pieces = rng.within(2, MOST_PIECES);
        let pieces = (1..=n_pieces).map(|k| motifs::piece(seed, k)).collect();
        Self { seed, pieces, crlf: rng.chance(0.1), old_main: rng.chance(0.1), guarded: rng.chance(0.1) }
    }

    /// The same with some of its pieces only.
    pub fn with_pieces(&self, pieces: Vec<Piece>) -> Self {
        Self { pieces, ..self.clone() }
    }

    /// Whether it has directives of OpenMP that switch threads on.
    pub fn has_directives(&self) -> bool {
        self.pieces.iter().any(|piece| piece.text.contains("#pragma omp"))
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "#include <math.h>\n#include <complex.h>\n#include <time.h>\n#include \"helpers.h\"\n\
             #ifndef N\n#define N 11\n#endif\n#ifndef M\n#define M 7\n#endif\n",
        );
        if self.guarded {
            text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
        }
        for piece in &self.pieces {
            let _ = write!(text, "\n{}", piece.text);
        }
        if self.guarded {
            text += "#ifdef __cplusplus\n}\n#endif\n";
        }
        text += if self.old_main {
            "\nint main(argc, argv)\n    int argc;\n    char **argv;\n{\n"
        } else {
            "\nint main(int argc, char **argv)\n{\n"
        };
        text += "    for (int arg = 1; arg + 3 < argc; arg += 4) {\n        \
                 int n = atoi(argv[arg]), m = atoi(argv[arg + 1]), t = atoi(argv[arg + 2]), kind = atoi(argv[arg + 3]);\n        \
                 printf(\"sizes %d %d %d %d\\n\", n, m, t, kind);\n";
        for piece in &self.pieces {
            let _ = writeln!(text, "        run_{}(n, m, t, kind);\n        fflush(stdout);", piece.number);
        }
        text += "        let_go();\n    }\n    return 0;\n}\n";
        if self.crlf { text.replace('\n', "\r\n") } else { text }
    }
}
