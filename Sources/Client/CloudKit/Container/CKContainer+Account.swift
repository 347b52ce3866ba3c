internal import CloudKitModel
internal import WebServices

extension CKContainer {
  /// Asks the server whether it knows the user that the program acts for.
  ///
  /// A missing or unknown user is the status `noAccount`, not an error.
  ///
  /// - Parameter completionHandler: called on a background queue. If the request fails for another reason, the status
  ///   is `couldNotDetermine` and the error gives the reason.
  public func accountStatus(
    completionHandler: @escaping (CKAccountStatus, (any Error)?) -> Void
  ) {
    startFetchingUser { result in
      switch result {
      case .success: completionHandler(.available, nil)
      case .failure(CKError.notAuthenticated): completionHandler(.noAccount, nil)
      case .failure(let error): completionHandler(.couldNotDetermine, error)
      }
    }
  }

  /// Asks the server whether it knows the user that the program acts for.
  ///
  /// A missing or unknown user is the status `noAccount`, not an error.
  ///
  /// - Throws: the error of the request, if the request fails for another reason.
  @discardableResult
  public func accountStatus() async throws -> CKAccountStatus {
    do {
      _ = try await userRecordID()
      return .available
    } catch CKError.notAuthenticated {
      return .noAccount
    }
  }

  /// Fetches the ID of the current user's record.
  ///
  /// - Parameter completionHandler: called on a background queue with the ID, or with `notAuthenticated` when no user
  ///   is signed in.
  public func fetchUserRecordID(
    completionHandler: @escaping (CKRecord.ID?, (any Error)?) -> Void
  ) {
    startFetchingUser { completionHandler($0.value, $0.error) }
  }

  /// Returns the ID of the current user's record.
  ///
  /// - Throws: `notAuthenticated` when no user is signed in.
  @discardableResult
  public func userRecordID() async throws -> CKRecord.ID {
    try await CKOperation.result { self.startFetchingUser($0) }
  }

  @discardableResult
  private func startFetchingUser(
    _ completion: @escaping (Result<CKRecord.ID, any Error>) -> Void
  ) -> CKOperation {
    let operation = FetchUserOperation()
    operation.completion = completion
    return run(operation)
  }

  /// Adds to the container an operation that a convenience method has created. Returns the same operation.
  ///
  /// The quality of service of the operation becomes `.userInitiated`, unless `configuredWith` has set another.
  func run<Operation: CKOperation>(_ operation: Operation) -> Operation {
    if operationDefaults.values.qualityOfService == nil {
      operation.qualityOfService = .userInitiated
    }
    add(operation)
    return operation
  }
}

/// An operation that asks the server for the user of its requests (`users/caller`).
final class FetchUserOperation: CKDatabaseOperation, @unchecked Sendable {
  var completion: ((Result<CKRecord.ID, any Error>) -> Void)?
  private var userRecordID: CKRecord.ID?

  override func firstCall() throws(CKError) -> ServiceCall? { .caller }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    do throws(ServiceError) {
      let user = try UserResponse(parsing: answer.body)
      userRecordID = CKRecord.ID(RecordID(recordName: user.userRecordName))
    } catch {
      throw CKError(unreadableAnswer: error)
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    if let userRecordID {
      completion?(.success(userRecordID))
    } else {
      let missing = CKError(.internalError, "the server's answer does not name the user")
      completion?(.failure(error ?? missing))
    }
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    completion = nil
  }
}
