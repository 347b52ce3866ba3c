/// The folder on disk with the long-lived operations of one user and device in one container.
///
/// Each operation has a folder with its ID as name. The folder has these files:
///
/// - `operation`: the inputs and the configuration of the operation.
/// - `answer-0`, `answer-1`, …: the answers of the server, in order.
/// - `end`: the error of the operation as JSON. After a success it is an empty JSON object.
/// - `lock`: an empty file, which a process locks while it runs the operation.
///
/// All methods may be called from any thread. A ``FolderLock`` prevents two runs of an operation at the same time.
struct LongLivedOperationStore: Sendable {
  /// The limits of the store.
  enum Limits {
    static let operations = 1000
    /// The seconds after which an operation with a result expires, if its last blocks were not called: a day. They
    /// count from the result.
    static let outcome: TimeInterval = 24 * 60 * 60
    /// The seconds after which an operation without a result expires: a week. They count from the start. An operation
    /// that is running is not deleted.
    static let unfinished: TimeInterval = 7 * 24 * 60 * 60
    /// The age in seconds at which a folder without the file `operation` is deleted: a minute. The file is usually
    /// written far sooner.
    static let unwritten: TimeInterval = 60
  }

  let directory: String

  func folder(of operationID: CKOperation.ID) -> String? {
    guard UUID(uuidString: operationID) != nil else { return nil }
    return directory + "/" + operationID
  }

  /// Deletes expired operations, and returns the IDs of the others, oldest first.
  ///
  /// An operation whose archive is damaged is left out, and a warning on standard error names its file.
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

  /// Returns the archive of an operation; `nil` when the store has no operation with this ID.
  ///
  /// - Throws: `internalError` when the file cannot be read or is damaged.
  func content(of operationID: CKOperation.ID) throws(CKError) -> Data? {
    guard let folder = folder(of: operationID) else { return nil }
    return try SealedFile.read(folder + "/operation", as: .operation)
  }

  // MARK: Running one

  /// Writes a new operation to disk and returns its journal.
  ///
  /// - Throws: `limitExceeded` when the store has 1,000 operations. `internalError` when the files cannot be written or
  ///   the ID is no UUID. `serviceUnavailable` when the folder is locked already.
  func begin(_ operationID: CKOperation.ID, content: Data) throws(CKError) -> LongLivedJournal {
    dropExpired()
    guard folders().count < Limits.operations else {
      throw CKError(
        .limitExceeded,
        "\(directory) already has \(Limits.operations) long-lived operations, which is the limit; "
          + "fetch some of them and run them to their end")
    }
    guard let folder = folder(of: operationID) else {
      throw CKError(.internalError, "operation ID '\(operationID)' is not a UUID")
    }
    do {
      try PrivateFile.makeFolder(folder)
    } catch {
      throw CKError(
        .internalError,
        "the folder for long-lived operations cannot be created: \(error.localizedDescription); "
          + "set PETREL_STATE to another folder")
    }
    try SealedFile.synchronize(directory: directory)
    guard let lock = FolderLock.take(of: folder) else { throw Self.isRunning(operationID) }
    try SealedFile.seal(content, as: .operation, at: folder + "/operation")
    return LongLivedJournal(folder: folder, lock: lock)
  }

  /// Opens the files of an operation, and returns its journal for another run.
  ///
  /// - Throws: `serviceUnavailable` while another run of the operation is active. `unknownItem` when the store no
  ///   longer has the operation, because its last blocks were called or it has expired.
  func resume(_ operationID: CKOperation.ID) throws(CKError) -> LongLivedJournal {
    let isOver = CKError(
      .unknownItem, "long-lived operation \(operationID) does not exist: it has ended or expired")
    guard let folder = folder(of: operationID), exists(folder) else { throw isOver }
    guard let lock = FolderLock.take(of: folder) else {
      throw exists(folder) ? Self.isRunning(operationID) : isOver
    }
    guard exists(folder) else { throw isOver }
    return LongLivedJournal(folder: folder, lock: lock)
  }

  private func exists(_ folder: String) -> Bool { access(folder + "/operation", F_OK) == 0 }

  /// Returns the error for an operation that is running already. It asks the program to wait 5 seconds before another
  /// attempt.
  private static func isRunning(_ operationID: CKOperation.ID) -> CKError {
    CKError(
      .serviceUnavailable, "long-lived operation \(operationID) is already running",
      userInfo: [CKErrorRetryAfterKey: NSNumber(value: 5)])
  }

  // MARK: Cleaning up

  /// Returns the IDs of all operations that have a folder. A folder may lack the file `operation`.
  private func folders() -> [CKOperation.ID] {
    // A missing directory means that there are no operations.
    ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
      .filter { UUID(uuidString: $0) != nil }
  }

  private func began(_ operationID: CKOperation.ID) -> Date? {
    modification(of: directory + "/" + operationID + "/operation")
  }

  private func modification(of path: String) -> Date? {
    // Another process may have deleted the file in the meantime.
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return attributes?[.modificationDate] as? Date
  }

  /// Deletes expired operations, and folders in which the file `operation` was never written. Keeps operations that are
  /// running.
  private func dropExpired() {
    for operationID in folders() {
      let folder = directory + "/" + operationID
      let isExpired =
        if let end = modification(of: folder + "/end") {
          end.timeIntervalSinceNow < -Limits.outcome
        } else if let began = began(operationID) {
          began.timeIntervalSinceNow < -Limits.unfinished
        } else if let made = modification(of: folder) {
          // Another process may be about to write the operation.
          made.timeIntervalSinceNow < -Limits.unwritten
        } else {
          false
        }
      guard isExpired, let lock = FolderLock.take(of: folder) else { continue }
      LongLivedJournal(folder: folder, lock: lock).remove()
    }
  }
}

extension LongLivedOperationStore {
  /// Creates the store for the user and the device of a configuration.
  ///
  /// The name of the store's folder has the container, the environment, and a hash of server, device and user.
  ///
  /// - Parameter firstToken: the web auth token that the user signed in with; `nil` when no user is signed in.
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
