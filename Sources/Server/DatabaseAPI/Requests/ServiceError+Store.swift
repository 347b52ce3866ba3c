import CloudKitModel
import StoreModel
import WebServices

extension ServiceError {
  /// Creates the protocol's error for the failure of one item. `notReady` becomes `TRY_AGAIN_LATER`
  /// with a `retryAfter` of 5 seconds.
  package init(_ failure: ItemFailure) {
    let code: ServerErrorCode =
      switch failure.code {
      case .invalid, .limitExceeded: .badRequest
      case .exists: .exists
      case .conflict: .conflict
      case .notFound: .notFound
      case .zoneNotFound: .zoneNotFound
      case .zoneDeleted: .userDeletedZone
      case .accessDenied: .accessDenied
      case .referenceMissing, .referenced: .validatingReferenceError
      case .alreadyShared: .alreadyShared
      case .alreadyInvited: .participantAlreadyInvited
      case .mayNeedVerification: .participantMayNeedVerification
      case .tooManyParticipants: .tooManyParticipants
      case .badDatabase: .badDatabase
      case .atomic: .atomicError
      case .quotaExceeded: .quotaExceeded
      case .notReady: .tryAgainLater
      }
    self.init(
      code, failure.reason, retryAfter: failure.code == .notReady ? 5 : nil,
      serverRecord: failure.serverRecord, limit: failure.limit)
  }

  /// Creates the protocol's error for a failure of the store.
  ///
  /// The reason has only facts on which the caller can act. The log has the cause: see
  /// ``FailureJournal``. `retryAfter` is in seconds.
  init(_ error: StoreError) {
    switch error.code {
    case .overloaded:
      self.init(.tryAgainLater, "too many writes are waiting for the server's store", retryAfter: 1)
    case .serializationFailure:
      self.init(.tryAgainLater, "another request changed the same data meanwhile", retryAfter: 1)
    case .unreachable:
      self.init(.tryAgainLater, "the server cannot reach its store at the moment", retryAfter: 2)
    case .outcomeUnknown:
      self.init(
        .serverResponseLost,
        "the server does not know whether it carried out the request; see its log", retryAfter: 2)
    case .full:
      self.init(.tryAgainLater, "the server's disk is full", retryAfter: 30)
    case .diskFailed:
      self.init(
        .tryAgainLater, "the disk of the server's store failed; see its log", retryAfter: 5)
    case .closed:
      self.init(.tryAgainLater, "the server is stopping", retryAfter: 5)
    case .badContinuation, .unkeptText:
      self.init(.badRequest, error.reason)
    case .userDeleted:
      self.init(.authenticationFailed, error.reason)
    case .changeTokenExpired:
      self.init(.changeTokenExpired, error.reason)
    default:
      self.init(.internalError, "the server's store failed; see the server's log")
    }
  }

  /// Creates the protocol's error for an error of a poll of the web courier.
  ///
  /// A reader polls again in any case, whatever became of what its last poll wrote. So an unknown
  /// outcome of a commit is `TRY_AGAIN_LATER`, as a store is that cannot be reached.
  init(ofPoll error: any Error) {
    self.init(any: error)
    guard code == .serverResponseLost else { return }
    self = ServiceError(.tryAgainLater, reason, retryAfter: retryAfter)
  }

  /// Creates the protocol's error for an error that an endpoint throws. An unknown error becomes
  /// `INTERNAL_ERROR`.
  package init(any error: any Error) {
    switch error {
    case let error as ServiceError: self = error
    case let error as OriginRefusal: self = error.serviceError
    case let error as ItemFailure: self.init(error)
    case let error as FailedItem: self = error.error
    case let error as StoreError: self.init(error)
    case let error as ModelError: self.init(error)
    // A client that has disconnected gets no answer. If the client still waits, the server
    // cancelled the request because it took too long.
    case is CancellationError:
      self.init(
        .tryAgainLater, "the request took too long, and the server stopped it; request less")
    case let error as WrongMethod: self.init(.badRequest, error.reason)
    default: self.init(.internalError, "the server failed; see its log")
    }
  }
}
