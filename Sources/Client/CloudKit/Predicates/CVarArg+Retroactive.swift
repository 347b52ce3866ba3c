// swift-format-ignore-file: AvoidRetroactiveConformances

#if !canImport(ObjectiveC)
// Code written for Apple's systems passes `date as CVarArg` to predicates. The values reach
// `NSPredicate(format:)` as they are; the encodings below are for `String(format:)` alone.

extension NSObject: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { Self.encoding(of: self) }

  /// The address of the object's description, for `%@`: Foundation's C part can describe no object
  /// that Swift made but a string. The string is kept for good, since nothing says when the format
  /// is done with it.
  fileprivate static func encoding(of object: NSObject) -> [Int] {
    [Int(bitPattern: Unmanaged.passRetained(object.description as NSString).toOpaque())]
  }
}

extension Date: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { NSObject.encoding(of: self as NSDate) }
}

extension Array: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { NSObject.encoding(of: NSArray(array: self)) }
}
#endif
