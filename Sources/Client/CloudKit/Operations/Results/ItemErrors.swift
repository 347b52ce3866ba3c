/// The errors of single items of an operation, which its deprecated completion block gets together.
struct ItemErrors {
  private var errors: [AnyHashable: any Error] = [:]

  /// Adds the error of an item. A later error replaces an earlier one of the same item.
  mutating func add(_ error: any Error, for item: AnyHashable) {
    errors[item] = error
  }

  /// The error `partialFailure` with the errors by item in ``CKPartialErrorsByItemIDKey``. Nil if
  /// no item failed.
  var partialFailure: CKError? {
    guard !errors.isEmpty else { return nil }
    return CKError(
      .partialFailure, "\(errors.count) of the items failed",
      userInfo: [CKPartialErrorsByItemIDKey: errors])
  }
}
