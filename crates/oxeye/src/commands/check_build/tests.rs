use super::accesses::{findings, with_recipes};
use crate::commands::nests::{NestFile, NestPlace};
use crate::commands::replay::rendering;
use crate::request::{Compiler, Options};
use crate::schedule::{Rendering, prove};
use oxeye_codegen::{SizeGuard, tuned_file};
use oxeye_ir::{Affine, BoundTerm, Loop, Node};
use oxeye_measure::{CompileJob, Invocation, Limits, WorkDir, run_program};
use oxeye_transform::{PreparedNest, WrittenRecipe};

/// Two arrays behind pointers into one allocation: what is written behind the first is memory of the program.
const SOURCE: &str = "
#include <stdio.h>
#include <stdlib.h>
void smooth(int n, double *restrict x, double *restrict y)
{
    for (int i = 1; i < n - 1; i++)
        y[i] = 0.5 * x[i] + 0.25 * (x[i - 1] + x[i + 1]);
}
int main(void)
{
    double *all = calloc(600, sizeof *all);
    for (int t = 0; t < 3; t++)
        smooth(200, all, all + 300);
    printf(\"%g\\n\", all[350]);
    free(all);
    return 0;
}
";

/// What the checks of a program with this text find.
fn found(text: &str) -> Vec<String> {
    let work = WorkDir::new().expect("a folder");
    let source = work.write("checked.c", text).expect("written");
    let compiler = oxeye_measure::Compiler::new("gcc", ["-O1", "-g", "-w"]);
    let program = compiler.compile(&CompileJob::executable(source, work.join("checked"))).expect("it builds");
    let file = work.join("findings.txt");
    let run = Invocation::new(program).env("OXEYE_CHECKS", &file);
    assert!(run_program(&run, &Limits::default()).expect("it runs").exit.success());
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    findings(&text).into_iter().map(|finding| format!("{}: {}", finding.place, finding.message)).collect()
}

/// Makes the loops over `i` one iteration longer.
fn lengthened(nodes: &mut [Node]) {
    for node in nodes {
        if let Node::Loop(Loop { name, upper, .. }) = node
            && name == "i"
        {
            for term in &mut upper.0 {
                if let BoundTerm::Affine { expr, .. } = term {
                    *expr = expr.clone() + Affine::constant(1);
                }
            }
        }
        node.bodies_mut().into_iter().for_each(|body| lengthened(body));
    }
}

#[test]
fn a_planted_candidate_that_leaves_its_arrays_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("smooth.c");
    std::fs::write(&file, SOURCE).expect("written");
    let mut options = Options::new(&file);
    options.compiler = Compiler::from_words(&["gcc".into(), "-O2".into()], &file);
    options.threads = 1;
    let nests = NestFile::read(&options).expect("it is read");
    let of_smooth = |place: &NestPlace| nests.nest(*place).0.name == "smooth";
    let place = nests.places().into_iter().find(of_smooth).expect("the nest");
    let tiled: WrittenRecipe = "tile i:32".parse().expect("a recipe");
    let recipes = nests.recipe_file([(place, tiled.clone())]);
    // As the recipe makes it, nothing is wrong.
    let checked = with_recipes(nests.unit(), &options, &recipes);
    assert_eq!((checked.n_nests, checked.skipped.len()), (1, 0));
    assert!(checked.text.contains("OXEYE_ELEMENT("), "{}", checked.text);
    assert_eq!(found(&checked.text), [""; 0]);
    // The same with a bound that is off by one.
    let (function, nest) = nests.nest(place);
    let how = Rendering { checks: true, binding: &function.binding, ..rendering(nests.unit(), &recipes) };
    let recipe = tiled.resolve(&function.program, nest, how.policy).expect("it fits");
    let mut proved = prove(how, &PreparedNest::new(&function.program, nest), &recipe).expect("it is legal");
    lengthened(&mut proved.applied.nest.roots);
    let planted = proved.guarded(how, nest.span, SizeGuard::default()).expect("it is rendered");
    let span = nest.span.expect("a place");
    let text = tuned_file(&nests.unit().source, &[(span, planted.text)], &[]);
    let found = found(&text);
    assert!(
        found
            .iter()
            .any(|line| line.contains("element 199 of `y`, of which the nest as it was read uses 1 to 198")),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|line| line.contains("element 200 of `x`, of which the nest as it was read uses 0 to 199")),
        "{found:?}"
    );
    assert!(found.iter().all(|line| line.starts_with("smooth:6: element ")), "{found:?}");
}
