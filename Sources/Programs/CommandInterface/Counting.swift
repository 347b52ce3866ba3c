/// Counts with their noun, for messages.
extension BinaryInteger {
  /// Returns the number with the noun in singular or plural, such as `1 record` or `2 records`.
  ///
  /// - Parameters:
  ///   - one: The noun for the number 1.
  ///   - several: The noun for all other numbers, 0 included; by default `one` with an `s`.
  package func counting(_ one: String, _ several: String? = nil) -> String {
    "\(self) \(self == 1 ? one : several ?? one + "s")"
  }
}
