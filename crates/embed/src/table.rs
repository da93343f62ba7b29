//! The features in words.

use crate::hand_made::HandMadeFeature;
use crate::schema::{
    AccessFeature, ArrayFeature, EdgeFeature, FEATURE_SCHEMA, FeatureList, HostFeature, LoopFeature,
    ProfileFeature, ScheduleFeature, StmtFeature,
};
use std::fmt::Write as _;

/// All the lists as a Markdown document.
pub fn feature_table() -> String {
    let mut text = format!("# Features ({FEATURE_SCHEMA})\n\n");
    text.push_str(
        "Generated from `src/schema.rs`. A feature is the transform of a raw value in the given unit, kept between -4 \
         and 4; it is 0 where the raw value is not known. Logarithms of 0 are -4. Node vectors have the width of the \
         longest list of a kind of node, the rest being zero.\n",
    );
    fn section<L: FeatureList>(text: &mut String) {
        let _ = write!(
            text,
            "\n## {}\n\n| # | name | unit | transform | meaning |\n|--:|---|---|---|---|\n",
            L::TITLE
        );
        for (idx, f) in L::TABLE.iter().enumerate() {
            let _ = writeln!(
                text,
                "| {idx} | `{}` | {} | {} | {} |",
                f.name,
                f.unit,
                f.transform.formula(),
                f.meaning
            );
        }
    }
    section::<LoopFeature>(&mut text);
    section::<StmtFeature>(&mut text);
    section::<AccessFeature>(&mut text);
    section::<ArrayFeature>(&mut text);
    section::<EdgeFeature>(&mut text);
    section::<HostFeature>(&mut text);
    section::<ProfileFeature>(&mut text);
    section::<ScheduleFeature>(&mut text);
    section::<HandMadeFeature>(&mut text);
    text
}
