internal import JSONCoding

/// What happens to one long-lived operation while it runs, written down as it happens, and replayed
/// when it runs again: the server's answers in order, and the end.
///
/// Used on the operation's callback queue only.
final class LongLivedJournal {
  /// What came of the next call when the operation ran before.
  enum Replay {
    case answer(ServiceExchange.Answer)
    case failure(CKError)
  }

  private let folder: String
  private let lock: FolderLock
  private var calls = 0
  private var isReplaying = true
  /// How many answers there are up to the last one that is good for ever: steps on the way to such
  /// a one, like the upload of a file, are made again when it did not come.
  private var lasting = 0

  init(folder: String, lock: FolderLock) {
    self.folder = folder
    self.lock = lock
    var index = 0
    while let answer = answer(index) {
      index += 1
      if !answer.isStep { lasting = index }
    }
  }

  /// What came of this call before; nil when it is to be made.
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

  /// A damaged file counts as none: calls may be made again, for they carry request IDs.
  private func sealed(_ name: String) -> Data? {
    do throws(CKError) {
      return try SealedFile.read(folder + "/" + name, as: .operation)
    } catch {
      PetrelConfiguration.warn(error.localizedDescription)
      return nil
    }
  }

  /// Keeps an answer before the operation takes it. Files that were downloaded are temporary: they
  /// are downloaded again.
  func keep(_ answer: ServiceExchange.Answer, to call: ServiceCall) {
    guard !call.isDownload else { return }
    seal(
      Answer(
        operation: call.operation, isStep: call.receiver != nil,
        mayRepeatWork: answer.mayRepeatWork, body: answer.body
      ).file, at: "answer-\(calls)")
    calls += 1
  }

  /// Keeps the end before the operation's last blocks are called.
  func keepEnd(_ error: CKError?) {
    guard access(folder + "/end", F_OK) != 0 else { return }
    seal(error?.journal ?? Data("{}".utf8), at: "end")
  }

  // What cannot be written is done again after a restart; the operation itself has not failed.
  private func seal(_ content: Data, at name: String) {
    do throws(CKError) {
      try SealedFile.seal(content, as: .operation, at: folder + "/" + name)
    } catch {
      PetrelConfiguration.warn(error.localizedDescription)
    }
  }

  /// Forgets the operation.
  func remove() {
    // First what makes it one, so that a crash in between leaves nothing that could run again.
    unlink(folder + "/operation")
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// An answer as it is kept: a line with the call, lines that tell whether it is a step and whether
  /// the call had been made before, and the body.
  private struct Answer {
    var operation: String
    var isStep: Bool
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
  /// The error of a whole operation: code, text and time to wait.
  fileprivate var journal: Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("code", code.rawValue)
      writer.member("reason", localizedDescription)
      if let retryAfterSeconds { writer.member("retryAfter", retryAfterSeconds) }
    }
    return writer.data
  }

  fileprivate init?(journal: Data) {
    // A journal that was cut short counts as none.
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
  fileprivate var isDownload: Bool {
    if case .download = transfer?.direction { return true }
    return false
  }
}
