extension UserDefaults {
  /// The same as `set(_:forKey:)`. Foundation has this name from key-value coding, which Linux lacks.
  public func setValue(_ value: Any?, forKey key: String) {
    set(value, forKey: key)
  }
}
