#if !canImport(ObjectiveC)
/// The casts between errors of CloudKit and `NSError`.
///
/// On Apple's systems the Objective-C runtime makes these casts. Swift on Linux makes them for types
/// with this conformance alone: without it, `error as? NSError` is nil, and `catch let error as
/// NSError` ends the program.
extension CKError: _ObjectiveCBridgeable {
  /// Returns the error with the values of ``errorUserInfo``.
  public func _bridgeToObjectiveC() -> NSError {
    NSError(domain: CKErrorDomain, code: errorCode, userInfo: errorUserInfo)
  }

  /// Converts an `NSError` for `as!`. The program stops when its domain is not `CKErrorDomain`.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CKError?) {
    result = CKError(_nsError: source)
  }

  /// Converts an `NSError` for `as?` and `catch`, if its domain is `CKErrorDomain`.
  public static func _conditionallyBridgeFromObjectiveC(
    _ source: NSError, result: inout CKError?
  ) -> Bool {
    result = source.domain == CKErrorDomain ? CKError(_nsError: source) : nil
    return result != nil
  }

  /// Converts an `NSError` that must not be nil.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CKError {
    guard let source else { stopForInvalidArgument("CKError: the NSError to convert is nil") }
    return CKError(_nsError: source)
  }
}
#endif
