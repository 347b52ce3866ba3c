#if !canImport(ObjectiveC)
extension UserDefaults {
  /// The same as `object(forKey:)`. Foundation has this name from key-value coding, which Linux
  /// lacks.
  public func value(forKey key: String) -> Any? {
    object(forKey: key)
  }

  /// The same as `set(_:forKey:)`, and written to disk. Foundation has this name from key-value
  /// coding, which Linux lacks.
  ///
  /// On Apple's systems another process writes the defaults; here they would be lost with a program
  /// that ends.
  public func setValue(_ value: Any?, forKey key: String) {
    set(value, forKey: key)
    synchronize()
  }
}
#endif
