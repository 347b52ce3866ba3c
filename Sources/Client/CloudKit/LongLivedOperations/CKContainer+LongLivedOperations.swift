/// Long-lived operations, which continue after the process that began them has ended.
///
/// The life of such an operation:
///
/// 1. The operation is written to disk before its first request. Then `longLivedOperationWasPersistedBlock` is called.
/// 2. Each answer of the server is written to disk when it comes.
/// 3. After the result blocks return, the files are deleted.
///
/// If the process ends before step 3, another process of the same program fetches the operation, sets its blocks and
/// adds it to the container. The kept answers are replayed to the blocks, and the missing requests are sent.
///
/// On Apple's systems a system service continues the operation while the app is not running. Here the operation
/// continues only when a program fetches it and adds it.
///
/// The result of an operation whose blocks were not called is kept for 24 hours, an unfinished operation for a week. At
/// most 1,000 operations are kept. Each container, environment, server, device and user has operations of its own. The
/// files are in `PetrelConfiguration.stateDirectory`.
extension CKContainer {
  /// Fetches the IDs of the long-lived operations that are kept, oldest first.
  ///
  /// - Parameter completionHandler: called on a background queue. The handler gets `badContainer` when the
  ///   configuration is wrong.
  public func fetchAllLongLivedOperationIDs(
    completionHandler: @escaping ([CKOperation.ID]?, (any Error)?) -> Void
  ) {
    readLongLivedOperationIDs { completionHandler($0.value, $0.error) }
  }

  /// Returns the IDs of the long-lived operations that are kept, oldest first.
  ///
  /// - Throws: `badContainer` when the configuration is wrong.
  public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] {
    try await withCheckedThrowingContinuation { continuation in
      readLongLivedOperationIDs { continuation.resume(with: $0) }
    }
  }

  /// Fetches a long-lived operation that is kept. Set its blocks and add it to this container.
  ///
  /// An operation that is still running, in this process or another, can be fetched. When it is added, it fails with
  /// `serviceUnavailable`.
  ///
  /// - Parameter completionHandler: called on a background queue. The handler gets neither an operation nor an error
  ///   for an ID that is not kept. A damaged file gives `internalError`.
  public func fetchLongLivedOperation(
    withID operationID: CKOperation.ID,
    completionHandler: @escaping (CKOperation?, (any Error)?) -> Void
  ) {
    readLongLivedOperation(operationID) { completionHandler($0.value ?? nil, $0.error) }
  }

  /// Returns a long-lived operation that is kept; `nil` for an ID that is not kept.
  ///
  /// ```swift
  /// for id in try await container.allLongLivedOperationIDs() {
  ///   if let operation = try await container.longLivedOperation(for: id) as? CKModifyRecordsOperation {
  ///     operation.modifyRecordsResultBlock = { result in … }
  ///     container.add(operation)
  ///   }
  /// }
  /// ```
  ///
  /// - Throws: `internalError` when the file is damaged, `badContainer` when the configuration is wrong.
  public func longLivedOperation(for operationID: CKOperation.ID) async throws -> CKOperation? {
    try await withCheckedThrowingContinuation { continuation in
      readLongLivedOperation(operationID) { continuation.resume(with: $0) }
    }
  }

  /// Reads the IDs from disk on the reading queue.
  private func readLongLivedOperationIDs(
    _ completion: @escaping (Result<[CKOperation.ID], CKError>) -> Void
  ) {
    Self.read(
      { () throws(CKError) in
        try self.client.get().longLivedOperations.operationIDs()
      }, completion)
  }

  /// Reads an operation from disk on the reading queue.
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

  // Dispatch reads the files, because a read would block a thread of Swift's task pool.
  private static let readingQueue = DispatchQueue(label: "CloudKit.LongLivedOperations")

  /// Calls `read` on the reading queue, and `completion` with the result.
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
