//! Many pairs as one C program that checks itself.

use std::fmt::Write as _;

use oxeye_codegen::prelude;
use oxeye_ir::interpret::{Buffer, Value};
use oxeye_ir::{Array, ArrayId, Form, ScalarType};

use super::pair::Pair;

const RUNTIME: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

static void *load(const char *data, long bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    memcpy(memory, data, bytes);
    return memory;
}

#define DIFFERENCE(name, type, same) \
    static int name(int pair, const char *array, const type *got, const char *data, long n, int exact) \
    { \
        for (long x = 0; x < n; x++) { \
            type a = got[x], b; \
            memcpy(&b, data + x * sizeof(type), sizeof b); \
            if (!(same)) { \
                printf("bad %d %s element %ld is %.17g and should be %.17g\n", pair, array, x, (double)a, (double)b); \
                return 1; \
            } \
        } \
        return 0; \
    }
#define SAME_FLOAT ((a == b && !(exact && a == 0 && signbit(a) != signbit(b))) || (a != a && b != b))
DIFFERENCE(differs_double, double, SAME_FLOAT)
DIFFERENCE(differs_float, float, SAME_FLOAT)
DIFFERENCE(differs_long, long, a == b)
DIFFERENCE(differs_int, int, a == b)
"#;

/// The program and the data it reads.
pub(super) fn unit(pairs: &[Pair]) -> (String, Vec<u8>) {
    let bodies: Vec<&str> = pairs.iter().map(|p| p.body.as_str()).collect();
    let mut text = prelude(&bodies);
    text += RUNTIME;
    let mut data = Vec::new();
    for (k, pair) in pairs.iter().enumerate() {
        function(&mut text, &mut data, k, pair);
    }
    text += "\nint main(int argc, char **argv)\n{\n    FILE *file = fopen(argv[1], \"rb\");\n    \
             fseek(file, 0, SEEK_END);\n    long size = ftell(file);\n    rewind(file);\n    \
             char *data = malloc(size + 1);\n    \
             if (argc < 3 || fread(data, 1, size, file) != (size_t)size)\n        return 3;\n    fclose(file);\n    \
             int first = atoi(argv[2]);\n";
    for k in 0..pairs.len() {
        let _ = writeln!(
            text,
            "    if (first <= {k}) {{\n        printf(\"start {k}\\n\");\n        fflush(stdout);\n        \
             run_{k}(data);\n    }}"
        );
    }
    text += "    free(data);\n    return 0;\n}\n";
    (text, data)
}

fn function(text: &mut String, data: &mut Vec<u8>, k: usize, pair: &Pair) {
    let arrays: Vec<(ArrayId, &Array, &Buffer)> =
        pair.before.buffers.iter().map(|(id, buffer)| (*id, pair.program.array(*id), buffer)).collect();
    let mut parameters: Vec<String> =
        pair.program.symbols.values().map(|s| format!("{} {}", s.ty.c_name(), s.name)).collect();
    let mut arguments: Vec<String> =
        pair.program.symbols.keys().map(|s| pair.before.symbols[s].to_string()).collect();
    let (mut locals, mut stores, mut loads, mut checks) =
        (String::new(), String::new(), String::new(), String::new());
    for (id, array, buffer) in arrays {
        let (ty, name) = (array.element.c_name(), &array.name);
        if array.shape.is_empty() {
            parameters.push(format!("{ty} *{name}_p"));
            let _ = writeln!(locals, "    {ty} {name} = *{name}_p;");
            let _ = writeln!(stores, "    *{name}_p = {name};");
        } else if array.form == Form::Linear || array.shape.len() == 1 {
            parameters.push(format!("{ty} *{name}"));
        } else {
            let rows: String = buffer.extents[1..].iter().map(|n| format!("[{n}]")).collect();
            parameters.push(format!("{ty} (*{name}){rows}"));
        }
        arguments.push(format!("{name}_"));
        let bytes = buffer.values.len() as u64 * array.element.bytes();
        let _ = writeln!(loads, "    {ty} *{name}_ = load(data + {}, {bytes});", data.len());
        append(data, array.element, buffer);
        let differs = match array.element {
            ScalarType::F32 => "differs_float",
            ScalarType::F64 => "differs_double",
            ScalarType::I64 => "differs_long",
            _ => "differs_int",
        };
        let checked = if pair.is_dead(id) { 0 } else { buffer.values.len() };
        let _ = writeln!(
            checks,
            "    if (!bad)\n        bad = {differs}({k}, \"{name}\", {name}_, data + {}, {}, {});\n    free({name}_);",
            data.len(),
            checked,
            u8::from(pair.exact)
        );
        append(data, array.element, &pair.after.buffers[&id]);
    }
    let calls: Vec<String> =
        arguments.iter().map(|a| if a.ends_with('_') { format!("(void *){a}") } else { a.clone() }).collect();
    let _ = write!(
        text,
        "\nstatic __attribute__((noinline)) void pair_{k}({})\n{{\n{locals}    {}\n{stores}}}\n\n\
         static void run_{k}(const char *data)\n{{\n    int bad = 0;\n{loads}    pair_{k}({});\n{checks}}}\n",
        parameters.join(", "),
        pair.body,
        calls.join(", ")
    );
}

fn append(data: &mut Vec<u8>, element: ScalarType, buffer: &Buffer) {
    for value in &buffer.values {
        match (value.unwrap_or(Value::Int(0)), element) {
            (Value::F32(v), _) => data.extend(v.to_le_bytes()),
            (Value::F64(v), _) => data.extend(v.to_le_bytes()),
            (Value::Int(v), ScalarType::F32) => data.extend((v as f32).to_le_bytes()),
            (Value::Int(v), ScalarType::F64) => data.extend((v as f64).to_le_bytes()),
            (Value::Int(v), e) => data.extend(&v.to_le_bytes()[..e.bytes() as usize]),
        }
    }
}
