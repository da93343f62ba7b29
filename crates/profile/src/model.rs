//! The roofline model: makes a profile of times, counts and ceilings.
//!
//! Every roof is written as the least time it allows, so that nests without floating-point operations have a profile
//! too. A roof that asks for more time than was measured, beyond the spread of both, cannot be one: its count is wrong
//! for this run, and neither it nor what follows from it is shown.

use crate::figures::{self, count, exact, format_bytes, format_ns, format_number, positive, ratio, slack};
use crate::input::{MAIN_MEMORY, NestInput};
use crate::nest::{Bound, LevelProfile, NestProfile, Roof, Run, ScalingPoint};
use oxeye_host::{FloatType, HostProfile, MemoryLevel, Provenance, Quantity};

/// A nest below this share of its nearest roof is limited by something outside the roofline model.
const FAR_FROM_ROOF: f64 = 0.1;

/// Accesses in the text are a fair count of what the nearest level serves if they are at most this many times the bytes
/// touched: registers can then save little. Beyond, they are only an upper bound.
const FAIR_ACCESSES: f64 = 1.5;

/// One nest on one machine while its profile is made.
pub(crate) struct Model<'a> {
    input: &'a NestInput,
    host: &'a HostProfile,
    threads: u32,
    missing: Vec<String>,
    notes: Vec<String>,
    roofs: Vec<Roof>,
}

/// Floating-point operations, by text and by clock.
struct Arithmetic {
    /// All of them, counted in the text.
    flops: Option<Quantity>,
    /// The same, if they can have been executed in the measured time.
    believed: Option<Quantity>,
    gflops: Option<Quantity>,
}

/// The cache that holds all data of a warm invocation.
struct Home {
    position: usize,
    why: String,
}

impl<'a> Model<'a> {
    pub(crate) fn new(input: &'a NestInput, host: &'a HostProfile) -> Model<'a> {
        Model {
            input,
            host,
            threads: input.threads.max(1),
            missing: input.why_missing.iter().chain(&input.why_no_levels).cloned().collect(),
            notes: Vec::new(),
            roofs: Vec::new(),
        }
    }

    pub(crate) fn profile(mut self) -> NestProfile {
        let cold_ns = self.checked("cold time", positive, self.input.cold_ns, "not measured");
        let warm_ns = self.checked("warm time", positive, self.input.warm_ns, "not measured");
        let (basis, time) = match (warm_ns, cold_ns) {
            (Some(time), _) => (Some(Run::Warm), Some(time)),
            (None, Some(time)) => (Some(Run::Cold), Some(time)),
            (None, None) => (None, None),
        };
        let arithmetic = self.arithmetic(time);
        self.expensive(time);
        let compulsory = self.checked(
            "compulsory traffic",
            positive,
            self.input.compulsory_bytes,
            "not counted (accesses that depend on data have no count)",
        );
        let footprint = self.checked("footprint", count, self.input.footprint_bytes, "not counted");
        let compulsory_intensity = match (arithmetic.flops, compulsory) {
            (Some(flops), Some(bytes)) => ratio(flops, bytes, 1.0),
            _ => None,
        };
        if compulsory_intensity.is_none() {
            self.miss("compulsory intensity", "needs both the operations and the compulsory traffic");
        }
        let home = match basis {
            Some(Run::Warm) => self.home(footprint.or(compulsory)),
            _ => None,
        };
        let levels = self.levels(time, home, arithmetic.believed, compulsory_intensity);
        let overhead = self.overhead(time);
        let (bound, roof_fraction, attainable_gflops) = self.binding(overhead, arithmetic.believed);
        let scaling = self.scaling();
        let share = self.share();
        let counters = self.counters();
        NestProfile {
            id: self.input.id,
            name: self.input.name.clone(),
            threads: self.threads,
            cold_ns,
            warm_ns,
            basis,
            share,
            flops: arithmetic.flops,
            gflops: arithmetic.gflops,
            footprint_bytes: footprint,
            compulsory_bytes: compulsory,
            compulsory_intensity,
            levels,
            roofs: self.roofs,
            bound,
            attainable_gflops,
            roof_fraction,
            scaling,
            counters,
            why_missing: self.missing,
            notes: self.notes,
        }
    }

    /// The peak roof. Types share the processor's units, so their least times add up.
    fn arithmetic(&mut self, time: Option<Quantity>) -> Arithmetic {
        let counts: Vec<(FloatType, Quantity)> =
            self.input.flops.iter().filter_map(|f| Some((f.ty, count(Some(f.count))?))).collect();
        let all_sound = counts.len() == self.input.flops.len();
        let total = counts.iter().map(|(_, n)| *n).try_fold(exact(0.0, Provenance::Counted), figures::sum);
        let Some(flops) = total.filter(|total| all_sound && total.value > 0.0) else {
            let why = match (all_sound, self.input.flops.is_empty()) {
                (false, _) => "a count is not a number",
                (true, true) => "not counted",
                (true, false) => "no floating-point operations",
            };
            self.miss("operations", why);
            self.miss("GFLOP/s", "needs the operations");
            return Arithmetic { flops: None, believed: None, gflops: None };
        };
        let unknown = Arithmetic { flops: Some(flops), believed: None, gflops: None };
        let Some(time) = time else {
            self.miss("GFLOP/s", "needs a time");
            return Arithmetic { believed: Some(flops), ..unknown };
        };
        let Some(mut least) = self.least_time_of(&counts, self.input.max_vector_bits) else {
            self.miss("GFLOP/s", "the host profile has no peak rate of this type to check it against");
            return unknown;
        };
        if exceeds(least, time)
            && let Some(wider) = self.least_time_of(&counts, u32::MAX)
            && !exceeds(wider, time)
        {
            let bits = self.input.max_vector_bits;
            self.notes.push(format!(
                "faster than the peak of {bits}-bit vectors: compared with the widest vectors of the machine instead"
            ));
            least = wider;
        }
        let gflops = ratio(flops, time, 1.0);
        if exceeds(least, time) || gflops.is_none() {
            let why = format!(
                "{} counted operations take {} at the measured peak, the nest took {}: the compiler must have removed some",
                format_number(flops.value),
                format_ns(least.value),
                format_ns(time.value)
            );
            self.miss("GFLOP/s", &why);
            return unknown;
        }
        let most = counts.iter().fold(counts[0], |most, c| if c.1.value > most.1.value { *c } else { most });
        self.roof(Bound::Peak { ty: most.0 }, least, time);
        Arithmetic { flops: Some(flops), believed: Some(flops), gflops }
    }

    fn least_time_of(&self, counts: &[(FloatType, Quantity)], max_vector_bits: u32) -> Option<Quantity> {
        let mut least = exact(0.0, Provenance::Counted);
        for (ty, n) in counts.iter().filter(|(_, n)| n.value > 0.0) {
            let peak = positive(self.host.peak_gflops(*ty, self.threads, max_vector_bits))?;
            least = figures::sum(least, ratio(*n, peak, 1.0)?)?;
        }
        positive(Some(least))
    }

    /// One roof for each expensive operation, at the best rate that one core reached times the threads.
    fn expensive(&mut self, time: Option<Quantity>) {
        for wanted in &self.input.expensive {
            let bound = Bound::Rate { operation: wanted.operation, ty: wanted.ty };
            let Some(n) = count(Some(wanted.count)) else {
                self.miss(&format!("{bound}"), "the count is not a number");
                continue;
            };
            let (Some(time), true) = (time, n.value > 0.0) else { continue };
            let rates = self.host.rates.iter().filter(|r| {
                (r.operation, r.ty) == (wanted.operation, wanted.ty)
                    && r.vector_bits <= self.input.max_vector_bits
            });
            let best =
                rates.filter_map(|r| positive(Some(r.gop_per_s))).max_by(|a, b| a.value.total_cmp(&b.value));
            let Some(one_core) = best else {
                self.miss(&format!("{bound}"), "the host profile has no such rate");
                continue;
            };
            let all_cores = one_core.scaled(f64::from(self.threads), one_core.provenance);
            match ratio(n, all_cores, 1.0).and_then(|least| positive(Some(least))) {
                Some(least) if !exceeds(least, time) => self.roof(bound, least, time),
                Some(least) => {
                    let why = format!(
                        "{} operations take {} at the measured rate, the nest took {}: it has a faster way to do them",
                        format_number(n.value),
                        format_ns(least.value),
                        format_ns(time.value)
                    );
                    self.miss(&format!("{bound}"), &why);
                }
                None => self.miss(&format!("{bound}"), "the count is out of range"),
            }
        }
    }

    /// The nearest cache, the threads' private ones taken together, into which all data fit.
    fn home(&self, data: Option<Quantity>) -> Option<Home> {
        let data = data?.value;
        let caches = self.host.levels().iter().enumerate().filter(|(_, level)| level.name != MAIN_MEMORY);
        for (position, level) in caches {
            let Some(bytes) = self.host.cache_bytes(level.level) else { continue };
            let copies = if self.is_private(level) { self.threads } else { 1 };
            let capacity = bytes.saturating_mul(u64::from(copies));
            if data <= capacity as f64 {
                let why = format!(
                    "the {} of a warm invocation stay in {} ({})",
                    format_bytes(data),
                    level.name,
                    figures::format_capacity(capacity)
                );
                return Some(Home { position, why });
            }
        }
        None
    }

    fn is_private(&self, level: &MemoryLevel) -> bool {
        let told = self.host.topology.caches.iter().find(|c| c.level == level.level);
        told.map_or(level.level <= 2, |c| c.shared_by <= self.host.topology.threads_per_core)
    }

    /// The bandwidth roofs.
    fn levels(
        &mut self,
        time: Option<Quantity>,
        home: Option<Home>,
        flops: Option<Quantity>,
        compulsory_intensity: Option<Quantity>,
    ) -> Vec<LevelProfile> {
        let host = self.host;
        let mut profiles = Vec::new();
        for (position, level) in host.levels().iter().enumerate() {
            let beyond = home.as_ref().filter(|home| position > home.position);
            let mut profile = self.level(position, level, time, beyond);
            if let (Some(flops), Some(bytes)) = (flops, profile.bytes.filter(|b| b.value > 0.0)) {
                profile.intensity = self.intensity(&level.name, flops, bytes, compulsory_intensity);
            } else {
                self.miss(&format!("{} intensity", level.name), "needs the operations and the traffic");
            }
            profiles.push(profile);
        }
        for unknown in &self.input.levels {
            if !host.levels().iter().any(|l| l.name == unknown.level) {
                self.miss(&format!("{} traffic", unknown.level), "the host profile has no such memory level");
            }
        }
        if profiles.is_empty() {
            self.miss("bandwidth", "the host profile has no memory levels");
        }
        profiles
    }

    fn level(
        &mut self,
        position: usize,
        level: &MemoryLevel,
        time: Option<Quantity>,
        beyond: Option<&Home>,
    ) -> LevelProfile {
        let name = &level.name;
        let ceiling = positive(self.host.bandwidth(name, self.threads));
        let mut profile = LevelProfile {
            level: name.clone(),
            bytes: None,
            gb_per_s: None,
            ceiling_gb_per_s: ceiling,
            intensity: None,
        };
        let (traffic, bandwidth) = (format!("{name} traffic"), format!("{name} bandwidth"));
        if ceiling.is_none() {
            self.miss(&format!("{name} ceiling"), "not measured on this machine");
        }
        let given = self.input.levels.iter().find(|l| &l.level == name);
        let withheld = match (given, beyond) {
            (_, Some(home)) => Err(home.why.clone()),
            (None, None) => Err("no model or counter gives it".into()),
            (Some(given), None) => count(Some(given.bytes)).ok_or("the count is not a number".to_string()),
        };
        let bytes = match withheld {
            Ok(bytes) => bytes,
            Err(why) => {
                self.miss(&traffic, &why);
                self.miss(&bandwidth, "needs the traffic");
                return profile;
            }
        };
        let (Some(time), Some(ceiling)) = (time, ceiling) else {
            profile.bytes = Some(bytes);
            self.miss(
                &bandwidth,
                if time.is_none() { "needs a time" } else { "no ceiling to check it against" },
            );
            return profile;
        };
        match (ratio(bytes, time, 1.0), ratio(bytes, ceiling, 1.0)) {
            (Some(rate), Some(least)) if !exceeds(least, time) => {
                profile.bytes = Some(bytes);
                profile.gb_per_s = Some(rate);
                if position == 0 && !self.is_fair(bytes) {
                    self.notes.push(format!(
                        "{name} traffic is every access of the text, an upper bound: registers may hold some, so it is no roof"
                    ));
                } else if least.value > 0.0 {
                    self.roof(Bound::Bandwidth { level: name.clone() }, least, time);
                }
            }
            _ => {
                let nearer = match position {
                    0 => "much of it was kept in registers",
                    _ => "much of it came from a nearer cache",
                };
                let why = format!(
                    "{} in {} would be {} GB/s where {} is the measured most: {nearer}",
                    format_bytes(bytes.value),
                    format_ns(time.value),
                    format_number(bytes.value / time.value),
                    format_number(ceiling.value)
                );
                self.miss(&traffic, &why);
                self.miss(&bandwidth, "needs the traffic");
            }
        }
        profile
    }

    /// Whether the traffic of the nearest level is known well enough to be a roof.
    fn is_fair(&self, bytes: Quantity) -> bool {
        let touched = count(self.input.footprint_bytes);
        bytes.provenance == Provenance::Measured
            || touched.is_some_and(|touched| bytes.value <= FAIR_ACCESSES * touched.value)
    }

    fn intensity(
        &mut self,
        level: &str,
        flops: Quantity,
        bytes: Quantity,
        compulsory_intensity: Option<Quantity>,
    ) -> Option<Quantity> {
        let name = format!("{level} intensity");
        let Some(intensity) = ratio(flops, bytes, 1.0) else {
            self.miss(&name, "out of range");
            return None;
        };
        // A cache may keep changed lines beyond the end of the nest: its traffic is then below the compulsory one.
        if let Some(most) = compulsory_intensity
            && intensity.value > most.value * (1.0 + 1e-9)
        {
            let why = format!(
                "{} FLOP/B would be above the {} that compulsory traffic allows: changed data were still in a cache when \
                 the nest ended",
                format_number(intensity.value),
                format_number(most.value)
            );
            self.miss(&name, &why);
            return None;
        }
        Some(intensity)
    }

    /// Whether the nest is too short for threads, in words. For a nest that uses all cores the fork-join is a roof.
    fn overhead(&mut self, time: Option<Quantity>) -> Option<String> {
        let Some(fork_join_us) = positive(self.host.fork_join_us) else {
            self.miss("overhead", "the host profile has no fork-join time");
            return None;
        };
        let time = time?;
        let fork_join = fork_join_us.scaled(1e3, fork_join_us.provenance);
        if time.value < fork_join.value {
            let (time, fork_join) = (format_ns(time.value), format_ns(fork_join.value));
            return Some(format!("it takes {time}, less than starting and joining threads ({fork_join})"));
        }
        if self.threads > 1 && self.threads >= self.host.all_cores() {
            self.roof(Bound::Overhead, fork_join, time);
        }
        None
    }

    /// Sorts the roofs and names the binding one.
    fn binding(
        &mut self,
        overhead: Option<String>,
        flops: Option<Quantity>,
    ) -> (Bound, Option<Quantity>, Option<Quantity>) {
        self.roofs.sort_by(|a, b| b.least_ns.value.total_cmp(&a.least_ns.value));
        let (bound, why) = match (overhead, self.roofs.first()) {
            (Some(why), _) => (Bound::Overhead, why),
            (None, None) => (Bound::Unknown, "no ceiling could be compared with the clock".to_string()),
            (None, Some(nearest)) => {
                let attainable = flops.and_then(|flops| ratio(flops, nearest.least_ns, 1.0));
                let (bound, fraction) = (nearest.bound.clone(), nearest.fraction);
                if attainable.is_none() {
                    self.miss("attainable GFLOP/s", "needs the operations");
                }
                if fraction.value < FAR_FROM_ROOF {
                    self.notes.push(
                        "far below every roof: latency, dependences between iterations or scalar code set its pace"
                            .into(),
                    );
                }
                return (bound, Some(fraction), attainable);
            }
        };
        self.miss("share of the roof", &why);
        self.miss("attainable GFLOP/s", &why);
        (bound, None, None)
    }

    fn roof(&mut self, bound: Bound, least: Quantity, time: Quantity) {
        let Some(fraction) = ratio(least, time, 1.0) else { return };
        if fraction.value > 1.0 {
            self.notes.push(format!(
                "{bound}: clock and ceiling give {:.1} % of it, which is within their spread; shown as 100 %",
                fraction.value * 100.0
            ));
        }
        let fraction = Quantity { value: fraction.value.min(1.0), ..fraction };
        self.roofs.push(Roof { bound, least_ns: least, fraction });
    }

    fn scaling(&mut self) -> Vec<ScalingPoint> {
        let mut points: Vec<ScalingPoint> = Vec::new();
        for point in &self.input.scaling {
            match positive(Some(point.runtime_ns)) {
                Some(runtime_ns) if point.threads > 0 => {
                    points.push(ScalingPoint { threads: point.threads, runtime_ns, speedup: None });
                }
                _ => {
                    self.miss("thread scaling", &format!("the time of {} threads is no time", point.threads))
                }
            }
        }
        points.sort_by_key(|p| p.threads);
        points.dedup_by_key(|p| p.threads);
        if points.is_empty() {
            self.miss("thread scaling", "not measured");
        }
        if let Some(one) = points.iter().find(|p| p.threads == 1).map(|p| p.runtime_ns) {
            for point in &mut points {
                point.speedup = ratio(one, point.runtime_ns, 1.0);
            }
        }
        points
    }

    fn share(&mut self) -> Option<Quantity> {
        let share =
            self.checked("share of the program", count, self.input.share, "the program was not run")?;
        if share.value > 1.0 {
            let why = format!("{:.1} % of the program's time is no share", share.value * 100.0);
            self.miss("share of the program", &why);
            return None;
        }
        Some(share)
    }

    fn counters(&mut self) -> Vec<crate::CounterValue> {
        let mut sound = Vec::new();
        for counter in &self.input.counters {
            if counter.value.is_finite() && counter.value >= 0.0 {
                sound.push(counter.clone());
            } else {
                self.miss(&format!("counter {}", counter.counter), "its reading is not a number");
            }
        }
        if self.input.counters.is_empty() {
            self.miss("counters", "none were read");
        }
        sound
    }

    /// A given figure if it is valid, and otherwise the reason why there is none.
    fn checked(
        &mut self,
        name: &str,
        sound: fn(Option<Quantity>) -> Option<Quantity>,
        given: Option<Quantity>,
        why_none: &str,
    ) -> Option<Quantity> {
        let checked = sound(given);
        match (given, checked) {
            (None, _) => self.miss(name, why_none),
            (Some(figure), None) => self.miss(name, &format!("{} is no such figure", figure.value)),
            _ => {}
        }
        checked
    }

    /// Notes that a figure is missing, unless a reason is already given.
    fn miss(&mut self, figure: &str, why: &str) {
        let is_same = |line: &String| line.strip_prefix(figure).is_some_and(|rest| rest.starts_with(':'));
        if !self.missing.iter().any(is_same) {
            self.missing.push(format!("{figure}: {why}"));
        }
    }
}

/// Whether a bound exceeds the measured time beyond the spread of both.
fn exceeds(least: Quantity, time: Quantity) -> bool {
    least.value > time.value * (1.0 + slack(least, time))
}

/// The roofline profile of a nest; see the crate's front page for the formulas.
pub fn profile_nest(input: &NestInput, host: &HostProfile) -> NestProfile {
    Model::new(input, host).profile()
}
