public import CCloudKitEnumerations

extension CKError {
  /// The kind of a CloudKit error. The raw values are those of Apple's framework.
  ///
  /// The comment of a code says what an app can do: correct the request, wait and try again, or
  /// fetch the data again.
  public typealias Code = CKErrorCode
}

// The enumeration of C belongs to this package.
// swift-format-ignore: AvoidRetroactiveConformances
extension CKErrorCode: @retroactive _ErrorCodeProtocol {
  /// The error type of these codes. Foundation uses it so that `catch CKError.unknownItem`
  /// compiles.
  public typealias _ErrorType = CKError
}
