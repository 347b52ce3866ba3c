internal import JSONCoding

/// The journal of one long-lived operation: files with the server's answers in order, and a file with the operation's
/// result.
///
/// The journal writes each answer to disk before the operation reads it. In a later run of the operation, the journal
/// returns these answers, so that their calls are not sent again. Only the operation's callback queue uses the journal.
final class LongLivedJournal {
  /// The outcome of a call in the earlier run of the operation.
  enum Replay {
    case answer(ServiceExchange.Answer)
    case failure(CKError)
  }

  private let folder: String
  /// The lock on the folder. It is released when the journal is deallocated.
  private let lock: FolderLock
  /// The number of answers that were returned from disk or written so far. It is also the index of the next answer.
  private var calls = 0
  /// Whether the next call may have an answer on disk. The value is false after the first call without an answer.
  private var isReplaying = true
  /// The number of answers on disk that a run may read. The steps at the end of the journal do not count.
  ///
  /// A step is a call that prepares a later call: an upload of a file prepares the save of its record. If the later
  /// call has no answer, the operation sends the steps before it again.
  private var lasting = 0

  /// Creates the journal and counts the answers on disk.
  init(folder: String, lock: FolderLock) {
    self.folder = folder
    self.lock = lock
    var index = 0
    while let answer = answer(index) {
      index += 1
      if !answer.isStep { lasting = index }
    }
  }

  /// Returns the outcome of this call in the earlier run; `nil` when the call must be sent.
  ///
  /// For the first call without an answer on disk, the outcome is the error with which the earlier run ended, if there
  /// is one. Downloads are always sent.
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

  private func answer(_ index: Int) -> Answer? { sealed("answer-\(index)").flatMap { Answer($0) } }

  /// Returns the content of a file of the folder; `nil` when the file is missing, damaged or unreadable.
  ///
  /// If the answer of a call is missing, the client sends the call again. The server recognises a repeated
  /// `records/modify` by its request ID. A repetition of any other call has no further effect.
  private func sealed(_ name: String) -> Data? {
    do throws(CKError) {
      return try SealedFile.read(folder + "/" + name, as: .operation)
    } catch {
      PetrelConfiguration.warn(error.localizedDescription)
      return nil
    }
  }

  /// Writes the answer to a call to disk. The operation calls this method before it reads the answer.
  ///
  /// The answer to a download is not written, because the downloaded file is temporary. A later run downloads it again.
  func keep(_ answer: ServiceExchange.Answer, to call: ServiceCall) {
    guard !call.isDownload else { return }
    seal(
      Answer(
        operation: call.operation, isStep: call.receiver != nil,
        mayRepeatWork: answer.mayRepeatWork, body: answer.body
      ).file, at: "answer-\(calls)")
    calls += 1
  }

  /// Writes the result of the operation to the file `end`, before the operation calls its last blocks. Does nothing if
  /// the file exists.
  ///
  /// - Parameter error: the error of the whole operation; `nil` if the operation succeeded.
  func keepEnd(_ error: CKError?) {
    guard access(folder + "/end", F_OK) != 0 else { return }
    seal(error?.journal ?? Data("{}".utf8), at: "end")
  }

  // A failed write does not fail the operation. A later run sends the call again.
  private func seal(_ content: Data, at name: String) {
    do throws(CKError) {
      try SealedFile.seal(content, as: .operation, at: folder + "/" + name)
    } catch {
      PetrelConfiguration.warn(error.localizedDescription)
    }
  }

  func remove() {
    // The file `operation` is deleted first. If the process ends after that, no process can run the operation again.
    unlink(folder + "/operation")
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The content of an answer's file: a line with the name of the call, a line for each Boolean, then the body.
  private struct Answer {
    var operation: String
    /// Whether the call was a step that prepared a later call.
    var isStep: Bool
    /// Whether an earlier attempt of the call may have done its work.
    var mayRepeatWork: Bool
    var body: Data
    var file: Data { Data("\(operation)\n\(isStep)\n\(mayRepeatWork)\n".utf8) + body }

    init(operation: String, isStep: Bool, mayRepeatWork: Bool, body: Data) {
      self.operation = operation
      self.isStep = isStep
      self.mayRepeatWork = mayRepeatWork
      self.body = body
    }

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
  /// The error as JSON: code, description and time to wait.
  fileprivate var journal: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("code", code.rawValue)
      writer.member("reason", localizedDescription)
      if let retryAfterSeconds { writer.member("retryAfter", retryAfterSeconds) }
    }
    return writer.data
  }

  /// Creates the error from the file `end`; `nil` if the operation succeeded.
  fileprivate init?(journal: Data) {
    // Invalid JSON counts as no error.
    guard let json = try? JSONValue(parsing: journal),
      let code = json["code"]?.int.map({ Code(number: Int($0)) })
    else { return nil }
    self.init(
      code, json["reason"]?.string ?? "",
      userInfo: json["retryAfter"]?.double.map {
        [CKErrorRetryAfterKey: NSNumber(value: $0)]
      } ?? [:])
  }
}

extension ServiceCall {
  fileprivate var isDownload: Bool {
    if case .download = transfer?.direction { return true }
    return false
  }
}
