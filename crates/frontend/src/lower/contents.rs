//! What variables hold that cannot be read as numbers, in words.

use crate::ast::{Expr, File, Range, Type, VarId, constant};
use crate::members::{MOST_COPIED, member_of};
use crate::refusal::Refusal;

/// The refusal of something that would have to be a number, and is of this type.
pub(super) fn no_number(file: &File, name: &str, ty: &Type, at: Range) -> Box<Refusal> {
    match ty {
        Type::Struct(_) => {
            let why = obstacle(file, ty).map_or_else(String::new, |what| format!(": it has {what}"));
            Refusal::new(at, format!("a structure of `{name}` is used as a whole{why}"))
                .help("use the members that are needed one by one")
        }
        Type::Other(what) => Refusal::new(at, format!("`{name}` holds {what}, which is not read"))
            .help("use arrays of `int`, `float`, `double` or the like"),
        Type::Void => Refusal::new(at, format!("`{name}` leads to memory of no type"))
            .help("declare a pointer to numbers before the loop"),
        _ => Refusal::new(at, format!("`{name}` does not hold plain numbers")),
    }
}

/// The refusal of a member, if it is not one of those that are read.
pub(super) fn no_member(file: &File, base: &Expr, field: &str, at: Range) -> Option<Box<Refusal>> {
    let mut ty = file.type_of(base)?;
    while let Type::Pointer { to, .. } | Type::Array { of: to, .. } = ty {
        ty = *to;
    }
    match &ty {
        Type::Struct(id) if file.structures[*id].bit_fields.iter().any(|name| name == field) => {
            let help = "give it a type without a width, such as `int`";
            Some(Refusal::new(at, format!("the member `{field}` is a bit-field")).help(help))
        }
        Type::Other(what) => Some(Refusal::new(at, format!("the member `{field}` of {what} is used"))),
        _ => None,
    }
}

/// The refusal of a member that is an array without a length, behind which the structure goes on as far as its memory.
pub(super) fn no_length(file: &File, var: VarId, at: Range) -> Option<Box<Refusal>> {
    let variable = file.var(var);
    let member = variable.member.as_ref()?;
    let mut ty = &file.var(member.root).ty;
    for step in &member.steps {
        ty = match (member_of(step), ty) {
            (Some(name), Type::Struct(id)) => &file.structures.get(*id)?.field(name)?.ty,
            (Some(_), _) => return None,
            (None, ty) => ty.pointee()?,
        };
        if member_of(step).is_some() && matches!(ty, Type::Array { len: None, .. }) {
            let message = format!("`{}` is an array without a length", variable.name);
            return Some(Refusal::new(at, message).help("set a pointer to it before the loop, and use that"));
        }
    }
    None
}

/// What a structure has that keeps its assignment from being read member by member.
fn obstacle(file: &File, ty: &Type) -> Option<String> {
    let mut n_numbers = 0;
    let found = obstacle_in(file, ty, &mut n_numbers);
    found.or_else(|| (n_numbers > MOST_COPIED).then(|| format!("more than {MOST_COPIED} numbers")))
}

fn obstacle_in(file: &File, ty: &Type, n_numbers: &mut usize) -> Option<String> {
    match ty {
        Type::Scalar(_) | Type::Pointer { .. } => {
            *n_numbers += 1;
            None
        }
        Type::Array { of, len: Some(len), .. } => {
            let Some(n) = constant(len).and_then(|n| usize::try_from(n).ok()) else {
                return Some("an array of variable length".to_owned());
            };
            let before = *n_numbers;
            let found = obstacle_in(file, of, n_numbers);
            *n_numbers = before + (*n_numbers - before).saturating_mul(n);
            found
        }
        Type::Struct(id) => {
            let structure = &file.structures[*id];
            let fields = match (&structure.fields, structure.has) {
                (Some(fields), None) => fields,
                (_, Some(what)) => return Some(what.to_owned()),
                (None, None) => return Some("members that are not known".to_owned()),
            };
            fields.iter().find_map(|field| obstacle_in(file, &field.ty, n_numbers))
        }
        Type::Other(what) if what.starts_with('`') => Some(format!("a member of the type {what}")),
        Type::Other(what) => Some(what.clone()),
        Type::Array { len: None, .. } => Some("an array without a length".to_owned()),
        Type::Void | Type::Function => None,
    }
}
