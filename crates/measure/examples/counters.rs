//! Prints which hardware and software counters this machine grants, and what would grant the others.

use oxeye_measure::counters::survey;

fn main() {
    let survey = survey();
    for counter in &survey.granted {
        println!("{counter:<26} granted");
    }
    for missing in &survey.refused {
        println!("{:<26} {}", missing.counter, missing.why);
    }
    if let Some(remedy) = &survey.remedy {
        println!("\nTo grant more: {remedy}");
    }
}
