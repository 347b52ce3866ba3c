/// Long-lived operations. Another process can continue such an operation after the process that began it has ended.
///
/// The steps of a long-lived operation:
///
/// 1. The operation is written to disk before its first request. Then `longLivedOperationWasPersistedBlock` is called.
/// 2. Each answer of the server is written to disk before the operation reads it. Downloaded files are not kept.
/// 3. After the operation's last blocks return, the files are deleted.
///
/// If the process ends before step 3, another process of the same program can fetch the operation, set its blocks and
/// add it to the container. The operation then reads the answers from disk and calls the blocks with them. It sends
/// only the requests that have no answer yet.
///
/// On Apple's systems, a system service continues the operation while the app is not running. Petrel has no such
/// service: the operation continues only when a program fetches it and adds it.
///
/// An operation with a result expires after 24 hours if its last blocks were not called. An operation without a result
/// expires a week after its start. The next call that lists or begins operations deletes the expired ones. Each
/// container, environment, server, device and user has its own operations, at most 1,000. The files are in
/// `PetrelConfiguration.stateDirectory`.
extension CKContainer {
  /// Fetches the IDs of the long-lived operations that are on disk, oldest first.
  ///
  /// - Parameter completionHandler: called on a background queue. The handler gets `badContainer` when the
  ///   configuration is wrong.
  public func fetchAllLongLivedOperationIDs(
    completionHandler: @escaping ([CKOperation.ID]?, (any Error)?) -> Void
  ) {
    readLongLivedOperationIDs { completionHandler($0.value, $0.error) }
  }

  /// Returns the IDs of the long-lived operations that are on disk, oldest first.
  ///
  /// - Throws: `badContainer` when the configuration is wrong.
  public func allLongLivedOperationIDs() async throws -> [CKOperation.ID] {
    try await withCheckedThrowingContinuation { continuation in
      readLongLivedOperationIDs { continuation.resume(with: $0) }
    }
  }

  /// Fetches a long-lived operation from disk. Set its blocks and add it to this container.
  ///
  /// An operation that is still running, in this process or another, can be fetched too. If it is still running when
  /// the program adds it again, the added object fails with `serviceUnavailable`.
  ///
  /// - Parameter completionHandler: called on a background queue. For an ID that is not on disk, both arguments are
  ///   `nil`. The error is `internalError` when the file is damaged, and `badContainer` when the configuration is
  ///   wrong.
  public func fetchLongLivedOperation(
    withID operationID: CKOperation.ID,
    completionHandler: @escaping (CKOperation?, (any Error)?) -> Void
  ) {
    readLongLivedOperation(operationID) { completionHandler($0.value ?? nil, $0.error) }
  }

  /// Returns a long-lived operation from disk; `nil` for an ID that is not on disk.
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

  // A dispatch queue reads the files, because a read would block a thread of Swift's task pool.
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
