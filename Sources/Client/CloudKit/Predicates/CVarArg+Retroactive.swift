// swift-format-ignore-file: AvoidRetroactiveConformances

#if !canImport(ObjectiveC)
// Code for Apple's systems passes `date as CVarArg` to predicates. `NSPredicate(format:)` gets the
// values themselves. Only `String(format:)` uses the encodings below.

extension NSObject: @retroactive CVarArg {
  /// The object's description, as the argument of `%@` in `String(format:)`.
  public var _cVarArgEncoding: [Int] { Self.encoding(of: self) }

  /// Returns the address of the object's description, as the argument of `%@`.
  ///
  /// Of the objects that Swift made, Foundation's C code on Linux can describe strings only. The
  /// string is never released, because nothing reports when the format no longer needs it.
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
