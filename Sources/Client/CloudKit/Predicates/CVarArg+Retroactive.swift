// swift-format-ignore-file: AvoidRetroactiveConformances

#if !canImport(ObjectiveC)
// Code for Apple's systems passes `date as CVarArg` to predicates, so these types must conform on
// Linux too. `NSPredicate(format:)` gets the values themselves. Only `String(format:)` uses the
// encodings below.

extension NSObject: @retroactive CVarArg {
  /// The object's description, as the argument of `%@` in `String(format:)`.
  public var _cVarArgEncoding: [Int] { Self.encoding(of: self) }

  /// Returns the address of the object's description, as the argument of `%@`.
  ///
  /// On Linux, Foundation's C code can print a string that Swift made, but no other object that
  /// Swift made. The string is never released, because nothing reports when the format no longer
  /// needs it.
  fileprivate static func encoding(of object: NSObject) -> [Int] {
    [Int(bitPattern: Unmanaged.passRetained(object.description as NSString).toOpaque())]
  }
}

extension Date: @retroactive CVarArg {
  /// The date's description, as the argument of `%@` in `String(format:)`.
  public var _cVarArgEncoding: [Int] { NSObject.encoding(of: self as NSDate) }
}

extension Array: @retroactive CVarArg {
  /// The array's description, as the argument of `%@` in `String(format:)`.
  public var _cVarArgEncoding: [Int] { NSObject.encoding(of: NSArray(array: self)) }
}
#endif
