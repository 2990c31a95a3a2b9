//! Groups of values that share a key.

/// Values by their keys, both in the order in which they are met.
pub(crate) fn by_key<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::by_key;

    #[test]
    fn groups_keep_the_order_of_their_first_values() {
        assert_eq!(by_key([("b", 1), ("a", 2), ("b", 3)]), [("b", vec![1, 3]), ("a", vec![2])]);
    }
}
