/// Long-lived operations go on after their process ended.
///
/// What such an operation is to do is written to disk before it begins, then
/// `longLivedOperationWasPersistedBlock` is called, and each answer of the server is written down as
/// it comes. It is forgotten once its result blocks have returned. When the process ends before
/// that, another one of the same program finds the operation here, sets its blocks and adds it: what
/// was done is replayed to the blocks, and the rest is done.
///
/// At Apple a service of the system goes on with the operation while the app is away; here it goes
/// on when it is fetched and added. An outcome that no block was called with is kept for 24 hours,
/// an unfinished operation for a week, 1,000 operations at most. They are kept by container,
/// environment, server, device and web auth token, in `PetrelConfiguration.stateDirectory`.
extension CKContainer {
  /// The IDs of the long-lived operations that are not over, the oldest first.
  public func fetchAllLongLivedOperationIDs(
    completionHandler: @escaping ([CKOperation.ID]?, (any Error)?) -> Void
  ) {
    readLongLivedOperationIDs { completionHandler($0.value, $0.error) }
  }

  /// The IDs of the long-lived operations that are not over, the oldest first.
  public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] {
    try await withCheckedThrowingContinuation { continuation in
      readLongLivedOperationIDs { continuation.resume(with: $0) }
    }
  }

  /// A long-lived operation that is not over: set its blocks and add it to this container.
  ///
  /// The handler gets nil and no error for an ID that is not kept. While the operation runs, in this
  /// process or another, one that was fetched fails with `serviceUnavailable`.
  public func fetchLongLivedOperation(
    withID operationID: CKOperation.ID,
    completionHandler: @escaping (CKOperation?, (any Error)?) -> Void
  ) {
    readLongLivedOperation(operationID) { completionHandler($0.value ?? nil, $0.error) }
  }

  /// A long-lived operation that is not over; nil for an ID that is not kept.
  public func longLivedOperation(for operationID: CKOperation.ID) async throws -> CKOperation? {
    try await withCheckedThrowingContinuation { continuation in
      readLongLivedOperation(operationID) { continuation.resume(with: $0) }
    }
  }

  private func readLongLivedOperationIDs(
    _ completion: @escaping (Result<[CKOperation.ID], CKError>) -> Void
  ) {
    Self.read(
      { () throws(CKError) in
        try self.client.get().longLivedOperations.operationIDs()
      }, completion)
  }

  private func readLongLivedOperation(
    _ operationID: CKOperation.ID,
    _ completion: @escaping (Result<CKOperation?, CKError>) -> Void
  ) {
    Self.read(
      { () throws(CKError) -> CKOperation? in
        guard let data = try self.client.get().longLivedOperations.content(of: operationID) else {
          return nil
        }
        return try LongLivedArchive.operation(data, operationID: operationID, container: self)
      }, completion)
  }

  // Files are read where no Swift task waits for a thread.
  private static let readingQueue = DispatchQueue(label: "CloudKit.LongLivedOperations")

  private static func read<Value>(
    _ read: @escaping () throws(CKError) -> Value,
    _ completion: @escaping (Result<Value, CKError>) -> Void
  ) {
    let work = Locked((read, completion))
    readingQueue.async {
      let (read, completion) = work.withLock { $0 }
      do throws(CKError) {
        completion(.success(try read()))
      } catch {
        completion(.failure(error))
      }
    }
  }
}
