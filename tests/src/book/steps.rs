//! Every step of recipes, on a loop nest of C.

use oxeye_codegen::{RenderOptions, render_nest};
use oxeye_frontend::{ReadOptions, read_c};
use oxeye_transform::steps::TRANSFORMATIONS;
use oxeye_transform::{Policy, WrittenRecipe, apply};
use std::path::Path;

/// All steps: what each does, when it is legal, and C before and after it. `examples` has a file `NAME.c` for each, with the
/// recipe in its first line; `sources` is where the steps are defined.
///
/// # Errors
/// If a step has no example, or is refused in it.
pub fn steps(examples: &Path, sources: &Path) -> Result<String, String> {
    let mut out = String::new();
    for info in TRANSFORMATIONS {
        let module = [Some(info.name), info.alias];
        let files = |name| [format!("{name}.rs"), format!("{name}/mod.rs")];
        let module = module.into_iter().flatten().flat_map(files).map(|name| sources.join(name));
        let module = module.into_iter().find(|path| path.exists());
        let module = module.ok_or_else(|| format!("{} has no file of its own", info.name))?;
        let (recipe, before, after) = example(&examples.join(format!("{}.c", info.name)))?;
        let form = format!("{} {}", info.name, info.syntax);
        let conditions = conditions(&read(&module)?);
        out += &format!(
            "## {}\n\n`{}`: {}.\n\n{conditions}\n\nExample, `{recipe}`:\n\n```c\n{before}\n```\n\nbecomes\n\n```c\n{after}\n```\n\n",
            info.name,
            form.trim(),
            info.description
        );
    }
    Ok(out)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// The paragraphs of a module's documentation that say when the step is legal and when it is refused, without links.
fn conditions(source: &str) -> String {
    let lines: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    let text = lines.join("\n");
    let parts: Vec<&str> = text.split("\n\n").collect();
    let says = |what| parts.iter().position(|part| part.contains(what));
    let first = says("*Legal when*").unwrap_or(0);
    let last = says("*Refused when*").unwrap_or(first);
    let told = &parts[first..=last.max(first)];
    told.join("\n\n").replace("[`", "`").replace("`]", "`")
}

/// The recipe of an example, and its nest before and after.
fn example(path: &Path) -> Result<(String, String, String), String> {
    let text = read(path)?;
    let head = text.lines().next().and_then(|line| line.strip_prefix("// recipe: "));
    let recipe = head.ok_or_else(|| format!("{} does not begin with `// recipe: `", path.display()))?;
    let unit = read_c(path, &ReadOptions::default()).map_err(|e| e.to_string())?;
    let function =
        unit.functions.first().ok_or_else(|| format!("{}: {:?}", path.display(), unit.diagnostics))?;
    let nest = function.program.nests.values().next_back().ok_or("there is no nest")?;
    let policy = Policy { reassociate: true, finite: true };
    let written: WrittenRecipe = recipe.parse().map_err(|e| format!("{}: {e}", path.display()))?;
    let applied = written
        .resolve(&function.program, nest, policy)
        .and_then(|recipe| apply(&function.program, nest, &recipe, policy))
        .map_err(|refusal| format!("{}: {refusal}", path.display()))?;
    let before = nest.span.ok_or("the nest has no place")?.text(&unit.source).into_owned();
    let options = RenderOptions {
        threads: 2,
        reassociate: true,
        original: Some(dedented(&before)),
        ..RenderOptions::default()
    };
    let after = render_nest(&applied.program, &function.binding, &applied.nest, &options);
    let after = after.map_err(|e| format!("{}: {e}", path.display()))?;
    Ok((recipe.to_owned(), dedented(&before), dedented(without_braces(&after))))
}

/// A block without its braces.
fn without_braces(block: &str) -> &str {
    let inner = block.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inner.map_or(block, |inner| inner.trim_matches('\n').trim_end())
}

/// Text without the blanks that every line after the first begins with, or every line if the first begins with blanks.
fn dedented(text: &str) -> String {
    let blanks = |line: &str| line.len() - line.trim_start().len();
    let skip = usize::from(!text.starts_with(' '));
    let least = text.lines().skip(skip).filter(|l| !l.trim().is_empty()).map(blanks).min().unwrap_or(0);
    // The first line stands where the function's text does.
    let least = if skip == 1 { least.min(INDENT) } else { least };
    let cut = |line: &str| line.get(least.min(blanks(line))..).unwrap_or_default().to_owned();
    text.lines().map(cut).collect::<Vec<_>>().join("\n")
}

/// Blanks before the nest of an example.
const INDENT: usize = 4;
