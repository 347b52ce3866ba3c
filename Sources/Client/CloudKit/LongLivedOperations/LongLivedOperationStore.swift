/// The long-lived operations of one user and device in one container, kept on disk.
///
/// Each has a folder of its own, named by its ID:
///
/// | file | holds |
/// | --- | --- |
/// | `operation` | what the operation is to do, and how |
/// | `answer-0`, `answer-1`, … | what the server answered, in order |
/// | `end` | whether it ended, and with which error |
/// | `lock` | nothing: locked while a process runs the operation |
struct LongLivedOperationStore: Sendable {
  enum Limits {
    /// Operations that are kept for one user and device in one container.
    static let operations = 1000
    /// Seconds that the outcome is kept whose blocks were never called.
    static let outcome: TimeInterval = 24 * 60 * 60
    /// Seconds that an operation is kept which nobody asked to go on.
    static let unfinished: TimeInterval = 7 * 24 * 60 * 60
  }

  /// Where the folders are.
  let directory: String

  /// The folder of an operation; nil when the ID can be none of ours.
  func folder(of operationID: CKOperation.ID) -> String? {
    guard UUID(uuidString: operationID) != nil else { return nil }
    return directory + "/" + operationID
  }

  /// The IDs of all kept operations, the first that began first. Those whose file is damaged are
  /// left out, and named on standard error.
  func operationIDs() -> [CKOperation.ID] {
    dropExpired()
    var found: [(began: Date, operationID: CKOperation.ID)] = []
    for operationID in folders() {
      do throws(CKError) {
        guard let began = began(operationID), try content(of: operationID) != nil else { continue }
        found.append((began, operationID))
      } catch {
        PetrelConfiguration.warn(error.localizedDescription)
      }
    }
    return found.sorted { $0 < $1 }.map(\.operationID)
  }

  /// What an operation is to do; nil when it is not kept here.
  ///
  /// - Throws: `internalError` when its file cannot be read.
  func content(of operationID: CKOperation.ID) throws(CKError) -> Data? {
    guard let folder = folder(of: operationID) else { return nil }
    return try SealedFile.read(folder + "/operation", as: .operation)
  }

  // MARK: Running one

  /// Keeps an operation that begins.
  ///
  /// - Throws: `limitExceeded` when there are too many, `internalError` when the disk does not take
  ///   it.
  func begin(_ operationID: CKOperation.ID, content: Data) throws(CKError) -> LongLivedJournal {
    dropExpired()
    guard folders().count < Limits.operations else {
      throw CKError(
        .limitExceeded,
        "\(directory) holds \(Limits.operations) long-lived operations, the limit; fetch them and "
          + "let them end")
    }
    guard let folder = folder(of: operationID) else {
      throw CKError(.internalError, "operation ID '\(operationID)' is no UUID")
    }
    do {
      try PrivateFile.makeFolder(folder)
    } catch {
      throw CKError(
        .internalError,
        "the folder for long-lived operations cannot be made: \(error.localizedDescription); "
          + "PETREL_STATE names another")
    }
    try SealedFile.synchronize(directory: directory)
    guard let lock = FolderLock.take(of: folder) else { throw Self.isRunning(operationID) }
    try SealedFile.seal(content, as: .operation, at: folder + "/operation")
    return LongLivedJournal(folder: folder, lock: lock)
  }

  /// Goes on with an operation that was kept.
  ///
  /// - Throws: `serviceUnavailable` while it runs elsewhere, `unknownItem` when it is not kept any
  ///   more, because its blocks were called or its time was over.
  func resume(_ operationID: CKOperation.ID) throws(CKError) -> LongLivedJournal {
    let isOver = CKError(.unknownItem, "long-lived operation \(operationID) is over")
    guard let folder = folder(of: operationID), exists(folder) else { throw isOver }
    guard let lock = FolderLock.take(of: folder) else {
      throw exists(folder) ? Self.isRunning(operationID) : isOver
    }
    guard exists(folder) else { throw isOver }
    return LongLivedJournal(folder: folder, lock: lock)
  }

  private func exists(_ folder: String) -> Bool { access(folder + "/operation", F_OK) == 0 }

  private static func isRunning(_ operationID: CKOperation.ID) -> CKError {
    CKError(
      .serviceUnavailable, "long-lived operation \(operationID) is running already",
      userInfo: [CKErrorRetryAfterKey: NSNumber(value: 5)])
  }

  // MARK: Cleaning up

  private func folders() -> [CKOperation.ID] {
    // Without the directory there are no operations.
    ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
      .filter { UUID(uuidString: $0) != nil }
  }

  private func began(_ operationID: CKOperation.ID) -> Date? {
    modification(of: directory + "/" + operationID + "/operation")
  }

  private func modification(of path: String) -> Date? {
    // A file that has gone meanwhile is no operation.
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.modificationDate] as? Date
  }

  /// Removes what was kept for too long, and folders whose operation was never written.
  private func dropExpired() {
    for operationID in folders() {
      let folder = directory + "/" + operationID
      let isExpired =
        if let end = modification(of: folder + "/end") {
          end.timeIntervalSinceNow < -Limits.outcome
        } else if let began = began(operationID) {
          began.timeIntervalSinceNow < -Limits.unfinished
        } else {
          true
        }
      guard isExpired, let lock = FolderLock.take(of: folder) else { continue }
      LongLivedJournal(folder: folder, lock: lock).remove()
    }
  }
}

extension LongLivedOperationStore {
  /// The store for a user and a device of a configuration: other servers, environments, devices and users have other
  /// folders.
  ///
  /// - Parameter firstToken: the web auth token that the user signed in with; nil for nobody.
  init(containerIdentifier: String, configuration: PetrelConfiguration, firstToken: String?) {
    let identity = [
      configuration.serverURL.absoluteString, configuration.deviceID,
      firstToken ?? "",
    ]
    directory =
      "\(configuration.stateFolder)/operations/\(containerIdentifier)-\(configuration.environment.rawValue)-"
      + StableHash.text(of: identity.joined(separator: "\n").utf8)
  }
}
