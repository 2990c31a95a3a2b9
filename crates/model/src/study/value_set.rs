//! Values of which none is equal to another. Each is compared with those of the same text alone, so that thousands of levels are told apart by
//! as many comparisons.

use crate::settings::Value;
use std::collections::BTreeMap;

/// Values that came before, by their text.
#[derive(Debug, Default)]
pub(super) struct ValueSet(BTreeMap<String, Vec<Value>>);

impl ValueSet {
    /// Adds a value; false where an equal one is there.
    pub(super) fn add(&mut self, value: &Value) -> bool {
        let alike = self.0.entry(value.key_text()).or_default();
        let is_new = !alike.contains(value);
        if is_new {
            alike.push(value.clone());
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_found_and_others_of_the_same_text_are_not() {
        let mut set = ValueSet::default();
        assert!(set.add(&Value::Integer(1)) && set.add(&Value::Number(1.0)) && set.add(&Value::Text("1".to_owned())));
        assert!(!set.add(&Value::Integer(1)) && !set.add(&Value::Number(1.0)));
        assert!(set.add(&Value::Number(0.0)) && !set.add(&Value::Number(-0.0)));
        let table = |number| Value::Table(BTreeMap::from([("skew".to_owned(), Value::Number(number))]));
        assert!(set.add(&table(0.0)) && !set.add(&table(-0.0)) && set.add(&table(1.0)));
    }

    #[test]
    fn a_value_is_compared_with_those_of_its_text_alone() {
        let mut set = ValueSet::default();
        assert!((0..1000).all(|level| set.add(&Value::Integer(level))));
        assert!(set.0.len() == 1000 && set.0.values().all(|alike| alike.len() == 1));
    }
}
