import CloudKit

/// The arguments of an operation's blocks.
struct OperationOutcome: Sendable {
  /// The errors of single items, by record names or subscription IDs.
  var errors: [String: CKError] = [:]
  /// The names that the completion block got as saved.
  var saved: [String] = []
  /// The error that the result block got.
  var resultError: CKError?
  /// The error that the deprecated completion block got.
  var completionError: CKError?
}

extension CKDatabase {
  /// Runs an operation with both styles of blocks.
  @available(*, deprecated)
  func outcome(of operation: CKModifyRecordsOperation) async -> OperationOutcome {
    let box = OutcomeBox()
    operation.perRecordSaveBlock = { recordID, result in
      box.note(recordID.recordName, result.failure)
    }
    operation.modifyRecordsCompletionBlock = { saved, _, error in
      box.outcome.saved = saved?.map(\.recordID.recordName) ?? []
      box.outcome.completionError = error as? CKError
    }
    operation.modifyRecordsResultBlock = { box.outcome.resultError = $0.failure }
    return await run(operation, box)
  }

  /// Runs an operation with both styles of blocks.
  @available(*, deprecated)
  func outcome(of operation: CKModifySubscriptionsOperation) async -> OperationOutcome {
    let box = OutcomeBox()
    operation.perSubscriptionSaveBlock = { box.note($0, $1.failure) }
    operation.modifySubscriptionsCompletionBlock = { saved, _, error in
      box.outcome.saved = saved?.map(\.subscriptionID) ?? []
      box.outcome.completionError = error as? CKError
    }
    operation.modifySubscriptionsResultBlock = { box.outcome.resultError = $0.failure }
    return await run(operation, box)
  }

  private func run(_ operation: CKDatabaseOperation, _ box: OutcomeBox) async -> OperationOutcome {
    await withCheckedContinuation { continuation in
      operation.completionBlock = { continuation.resume(returning: box.outcome) }
      add(operation)
    }
  }
}

/// The blocks of an operation run one after the other, so nothing here is used by two at once.
private final class OutcomeBox: @unchecked Sendable {
  var outcome = OperationOutcome()

  func note(_ name: String, _ error: CKError?) {
    outcome.errors[name] = error
  }
}

extension Result {
  /// The error as CloudKit's.
  fileprivate var failure: CKError? {
    if case .failure(let error) = self { return error as? CKError }
    return nil
  }
}
