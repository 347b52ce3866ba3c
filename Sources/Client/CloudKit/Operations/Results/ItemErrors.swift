/// The errors of single items, which deprecated completion blocks get together.
struct ItemErrors {
  private var errors: [AnyHashable: any Error] = [:]

  mutating func add(_ error: any Error, for item: AnyHashable) {
    errors[item] = error
  }

  /// `partialFailure` with the errors by item; nil when there are none.
  var partialFailure: CKError? {
    guard !errors.isEmpty else { return nil }
    return CKError(
      .partialFailure, "\(errors.count) of the items failed",
      userInfo: [CKPartialErrorsByItemIDKey: errors])
  }
}

extension ItemErrors {
  mutating func add<Item: Hashable, Value>(contentsOf results: [Item: Result<Value, any Error>]) {
    for (item, result) in results {
      if case .failure(let error) = result { add(error, for: item) }
    }
  }
}
