#if !canImport(ObjectiveC)
extension UserDefaults {
  /// Returns the same value as `object(forKey:)`, or `nil` when the key has none.
  ///
  /// On Apple's systems `UserDefaults` has this method from key-value coding, which Linux lacks.
  /// Apps use it to keep change tokens.
  public func value(forKey key: String) -> Any? {
    object(forKey: key)
  }

  /// Stores a value as `set(_:forKey:)` does, and writes the defaults to disk before it returns.
  ///
  /// On Apple's systems `UserDefaults` has this method from key-value coding, which Linux lacks.
  /// There, another process writes the defaults to disk. On Linux the value would be lost if the
  /// program ended before a `synchronize()`.
  ///
  /// - Parameter value: a property-list value; `nil` removes the key.
  public func setValue(_ value: Any?, forKey key: String) {
    set(value, forKey: key)
    synchronize()
  }
}
#endif
