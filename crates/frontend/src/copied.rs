//! What a nest has copies of, and the file defines elsewhere: values of variables and enumerations, and types behind names.

use crate::ast::{File, Range, VarId};
use crate::preprocess::Preprocessed;
use crate::scopes::Scopes;
use oxeye_binding::Step;

/// A C expression that holds as long as a definition is what was read.
pub(crate) enum Copied {
    /// A variable of the function.
    Value(String),
    /// What compilers know to be constant.
    Constant(String),
}

/// Whether a nest at this place has a copy of what a name stands for there.
pub(crate) fn copied(
    file: &File,
    preprocessed: &Preprocessed,
    scopes: &Scopes<'_>,
    name: &str,
    nest: Range,
) -> Option<Copied> {
    // Of an enumeration in another function, or in a block that has ended, the name means nothing here.
    let is_known = |range: &Range| {
        range.start < nest.start
            && file.functions.iter().all(|f| !f.range.contains(*range) || f.range.contains(nest))
    };
    if let Some(var) = scopes.visible(name, nest) {
        let mut conditions = members(file, preprocessed, var);
        conditions.extend(value(file, preprocessed, var, name).map(|value| format!("{name} == {value}")));
        return (!conditions.is_empty()).then(|| Copied::Value(conditions.join(" && ")));
    }
    let enumerator = file.enumerators.iter().rev().find(|(n, _, range)| n == name && is_known(range));
    if let Some((_, value, _)) = enumerator {
        return Some(Copied::Constant(format!("{name} == {value}")));
    }
    let (_, ty, _) = file.typedefs.iter().rev().find(|(n, _, range)| n == name && is_known(range))?;
    Some(Copied::Constant(match ty.is_float() {
        true => format!("__builtin_types_compatible_p({name}, {})", ty.c_name()),
        false => format!("sizeof({name}) == {}", ty.bytes()),
    }))
}

/// Conditions for the members with constant values of a structure.
fn members(file: &File, preprocessed: &Preprocessed, root: VarId) -> Vec<String> {
    let of_root =
        file.members.iter().filter(|((of, _), member)| *of == root && file.values.contains_key(member));
    let mut conditions: Vec<String> = of_root
        .filter_map(|((_, steps), member)| {
            let mut path = file.var(root).name.clone();
            for step in steps {
                let Step::Field(field) = step else { return None };
                path += &format!(".{field}");
            }
            let value = value(file, preprocessed, *member, &path)?;
            Some(format!("{path} == {value}"))
        })
        .collect();
    conditions.sort_unstable();
    conditions
}

/// The constant value of a variable that is called so, as text.
fn value(file: &File, preprocessed: &Preprocessed, var: VarId, name: &str) -> Option<String> {
    if let Some(value) = file.constants.get(&var) {
        return Some(value.to_string());
    }
    let init = file.values.get(&var)?;
    let text = preprocessed.text.get(init.range.start..init.range.end)?;
    Some(format!("(__typeof__({name}))({text})"))
}
