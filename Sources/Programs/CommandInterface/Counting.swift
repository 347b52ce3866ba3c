/// Numbers of things, for people.
extension BinaryInteger {
  /// Such as `1 record` and `2 records`.
  ///
  /// - Parameter several: what more than one, and none, are called; with an s at the end unless given.
  package func counting(_ one: String, _ several: String? = nil) -> String {
    "\(self) \(self == 1 ? one : several ?? one + "s")"
  }
}
