//! Systems of linear equations, as small as a knee's curve or a search's loads.

/// Solution of linear equations, one per row with its right side last, by Gauss's elimination with row exchange; `None` when they are
/// singular.
pub(crate) fn solve(mut system: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = system.len();
    for column in 0..size {
        let pivot = (column..size).max_by(|&a, &b| system[a][column].abs().total_cmp(&system[b][column].abs()))?;
        system.swap(column, pivot);
        if system[column][column].abs() < 1e-11 {
            return None;
        }
        let head = system[column].clone();
        for row in system.iter_mut().skip(column + 1) {
            let factor = row[column] / head[column];
            row.iter_mut().zip(&head).for_each(|(value, above)| *value -= factor * above);
        }
    }
    let mut solution = vec![0.0; size];
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|c| system[row][c] * solution[c]).sum();
        solution[row] = (system[row][size] - known) / system[row][row];
    }
    Some(solution)
}
