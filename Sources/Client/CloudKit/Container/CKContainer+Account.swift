internal import CloudKitModel
internal import WebServices

extension CKContainer {
  /// Whether the server knows the user that the program acts for. An unknown one is no error:
  /// `noAccount`. When the server cannot be asked, the status is `couldNotDetermine`, with an error.
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

  /// Whether the server knows the user that the program acts for. An unknown one is no error:
  /// `noAccount`.
  @discardableResult
  public func accountStatus() async throws -> CKAccountStatus {
    do {
      _ = try await userRecordID()
      return .available
    } catch CKError.notAuthenticated {
      return .noAccount
    }
  }

  /// The ID of the user's record; `notAuthenticated` when there is no user.
  public func fetchUserRecordID(
    completionHandler: @escaping (CKRecord.ID?, (any Error)?) -> Void
  ) {
    startFetchingUser { completionHandler($0.value, $0.error) }
  }

  /// The ID of the user's record; `notAuthenticated` when there is no user.
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

  /// Queues an operation for a method of the container.
  func run<Operation: CKOperation>(_ operation: Operation) -> Operation {
    if operationDefaults.values.qualityOfService == nil {
      operation.qualityOfService = .userInitiated
    }
    add(operation)
    return operation
  }
}

/// Asks the server who makes the requests.
final class FetchUserOperation: CKOperation, @unchecked Sendable {
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
      completion?(.failure(error ?? CKError(.internalError, "the server named no user")))
    }
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    completion = nil
  }
}
