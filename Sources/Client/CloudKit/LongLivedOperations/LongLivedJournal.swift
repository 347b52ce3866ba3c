internal import JSONCoding

/// The journal of one long-lived operation: the server's answers in order, and the end.
///
/// The journal writes each event to disk when it happens. When the operation runs again, the journal replays the
/// events. Only the operation's callback queue uses the journal.
final class LongLivedJournal {
  /// The outcome that a call had when the operation ran before.
  enum Replay {
    /// The server's answer to the call.
    case answer(ServiceExchange.Answer)
    /// The error with which the operation ended.
    case failure(CKError)
  }

  /// The folder of the operation.
  private let folder: String
  /// The lock on the folder, held as long as the journal exists.
  private let lock: FolderLock
  /// The number of calls that were replayed or written so far; the index of the next answer.
  private var calls = 0
  /// Whether the next call may have an answer on disk. False after the first call that has none.
  private var isReplaying = true
  /// The number of answers up to the last one that is not a step.
  ///
  /// A step, such as the upload of a file, leads to the answer of another call. If that answer is missing, the
  /// operation repeats the steps before it.
  private var lasting = 0

  /// Creates the journal and counts the answers on disk.
  ///
  /// - Parameter lock: the lock on the folder.
  init(folder: String, lock: FolderLock) {
    self.folder = folder
    self.lock = lock
    var index = 0
    while let answer = answer(index) {
      index += 1
      if !answer.isStep { lasting = index }
    }
  }

  /// Returns the outcome that this call had before; `nil` when the call must be sent. Downloads are never replayed.
  func replay(_ call: ServiceCall) -> Replay? {
    guard isReplaying, !call.isDownload else { return nil }
    if calls < lasting, let answer = answer(calls), answer.operation == call.operation {
      calls += 1
      return .answer(.init(body: answer.body, mayRepeatWork: answer.mayRepeatWork))
    }
    isReplaying = false
    if let file = sealed("end"), let error = CKError(journal: file) { return .failure(error) }
    return nil
  }

  /// Returns the answer with an index; `nil` when there is none or its file is damaged.
  private func answer(_ index: Int) -> Answer? { sealed("answer-\(index)").flatMap { Answer($0) } }

  /// Returns the content of a file of the folder. A damaged file counts as missing.
  ///
  /// The client then sends the call again. The server recognises a repeated change by its request ID.
  private func sealed(_ name: String) -> Data? {
    do throws(CKError) {
      return try SealedFile.read(folder + "/" + name, as: .operation)
    } catch {
      PetrelConfiguration.warn(error.localizedDescription)
      return nil
    }
  }

  /// Writes an answer to disk before the operation handles it.
  ///
  /// Answers of downloads are not written, because the downloaded files are temporary. A later run downloads them
  /// again.
  func keep(_ answer: ServiceExchange.Answer, to call: ServiceCall) {
    guard !call.isDownload else { return }
    seal(
      Answer(
        operation: call.operation, isStep: call.receiver != nil,
        mayRepeatWork: answer.mayRepeatWork, body: answer.body
      ).file, at: "answer-\(calls)")
    calls += 1
  }

  /// Writes the end to disk before the operation's last blocks are called. An end on disk stays.
  ///
  /// - Parameter error: the error of the whole operation; `nil` for a success.
  func keepEnd(_ error: CKError?) {
    guard access(folder + "/end", F_OK) != 0 else { return }
    seal(error?.journal ?? Data("{}".utf8), at: "end")
  }

  // A failed write does not fail the operation. After a restart the operation repeats the call.
  private func seal(_ content: Data, at name: String) {
    do throws(CKError) {
      try SealedFile.seal(content, as: .operation, at: folder + "/" + name)
    } catch {
      PetrelConfiguration.warn(error.localizedDescription)
    }
  }

  /// Deletes the files of the operation.
  func remove() {
    // The file `operation` goes first. A crash after that leaves a folder that no process can run again.
    unlink(folder + "/operation")
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// An answer in its file: a line with the name of the call, a line for each Boolean, then the body.
  private struct Answer {
    /// The name of the call, such as `records/modify`.
    var operation: String
    /// Whether the call was a step to another call.
    var isStep: Bool
    /// Whether an earlier attempt of the call may have done its work.
    var mayRepeatWork: Bool
    var body: Data

    /// The bytes of the file.
    var file: Data { Data("\(operation)\n\(isStep)\n\(mayRepeatWork)\n".utf8) + body }

    init(operation: String, isStep: Bool, mayRepeatWork: Bool, body: Data) {
      self.operation = operation
      self.isStep = isStep
      self.mayRepeatWork = mayRepeatWork
      self.body = body
    }

    /// Creates the answer from a file; `nil` when a line is missing.
    init?(_ file: Data) {
      let parts = file.split(
        separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
      guard parts.count == 4 else { return nil }
      operation = String(decoding: parts[0], as: UTF8.self)
      isStep = parts[1].elementsEqual("true".utf8)
      mayRepeatWork = parts[2].elementsEqual("true".utf8)
      body = Data(parts[3])
    }
  }
}

extension CKError {
  /// The error of a whole operation as JSON: code, description and time to wait.
  fileprivate var journal: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("code", code.rawValue)
      writer.member("reason", localizedDescription)
      if let retryAfterSeconds { writer.member("retryAfter", retryAfterSeconds) }
    }
    return writer.data
  }

  /// Creates the error from JSON; `nil` for an operation that ended without an error.
  fileprivate init?(journal: Data) {
    // JSON that was cut short counts as no error.
    guard let json = try? JSONValue(parsing: journal),
      let code = json["code"]?.int.flatMap({ Code(rawValue: Int($0)) })
    else { return nil }
    self.init(
      code, json["reason"]?.string ?? "",
      userInfo: json["retryAfter"]?.double.map {
        [CKErrorRetryAfterKey: NSNumber(value: $0)]
      } ?? [:])
  }
}

extension ServiceCall {
  /// Whether the call downloads a file.
  fileprivate var isDownload: Bool {
    if case .download = transfer?.direction { return true }
    return false
  }
}
