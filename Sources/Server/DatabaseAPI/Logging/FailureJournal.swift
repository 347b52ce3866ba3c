import CloudKitModel
import Configuration
import HTTPService
import JSONCoding
import Logging
import StoreModel
import Synchronization
import WebServices

/// The log lines and the metrics of failed requests.
///
/// Each failed request gets a line, in which an operator can find the `uuid` that the client
/// received, and the reason. A line has no query, because the query contains tokens, and no secret
/// of an upload URL. Apart from the cause of an error, the only texts of the client are the method,
/// the path, the IDs of subscriptions and what a reason quotes. All of them are cut to a length.
///
/// If there are more lines than ``lineRate`` allows, some are left out, and the next written line
/// has the number of these. A lock protects the counts.
package final class FailureJournal: Sendable {
  /// The highest rate of lines in the log: 100 a second, and 1,000 at once.
  private static let lineRate = RequestRate(perSecond: 100, burst: 1000)
  /// The most bytes of a path in a line.
  private static let pathLength = 200
  /// The most characters of a reason in a line.
  private static let reasonLength = 300
  /// The most failed items of a request in a line.
  private static let itemCount = 5

  /// The state behind the lock.
  private struct State {
    var metrics = RequestMetrics()
    var lines: TokenBucket
    /// The number of lines that were left out since the last line.
    var leftOut = 0
  }

  private let log: ServerLog
  private let clock: @Sendable () -> Timestamp
  private let state: Mutex<State>

  package init(log: ServerLog, clock: @escaping @Sendable () -> Timestamp) {
    self.log = log
    self.clock = clock
    state = Mutex(State(lines: TokenBucket(Self.lineRate, at: clock())))
  }

  package var metrics: RequestMetrics { state.withLock { $0.metrics } }

  /// Records a request that failed as a whole, and returns the answer: the error object of the
  /// protocol. A request that was cancelled because its client disconnected has not failed.
  ///
  /// - Parameter cause: the error from which `error` was made. The line has it if the client got
  ///   fewer details.
  package func refusal(
    _ error: ServiceError, of request: HTTPRequest, _ info: RequestInfo,
    by caller: (any LoggedCaller)?, because cause: any Error
  ) -> HTTPResponse {
    let response = (cause as? WrongMethod)?.response(error) ?? HTTPResponse(error)
    if cause is CancellationError { return response }
    let operation = RequestMetrics.FailedOperation(operation: info.operation, code: error.code)
    state.withLock { state in
      state.metrics.failed[error.code, default: 0] += 1
      state.metrics.failedOperations[operation, default: 0] += 1
    }
    if caller != nil { countRefusals([error], of: info) }
    var fields = Self.fields(of: error, response.status) + Self.fields(for: request, info, caller)
    fields.append(("reason", Self.reason(of: error)))
    if error.code == .internalError || cause.isKeptFromClients {
      fields.append(("cause", .string("\(cause)")))
    }
    write(
      error.code.isOurs || cause.isOfDisk ? .error : .info, "request failed", fields)
    return response
  }

  /// Records a request or a connection that the HTTP server refused before a handler saw it.
  func note(_ error: ServiceError, refusal: HTTPRefusal) {
    state.withLock { $0.metrics.failed[error.code, default: 0] += 1 }
    write(
      .info, "request refused",
      Self.fields(of: error, refusal.status) + [("reason", .string(refusal.reason.rawValue))])
  }

  /// Records the failed items of a request that succeeded as a whole.
  ///
  /// The line has the `uuid` and the code of the first ``itemCount`` items, the number of the
  /// others, and the reason of the first item.
  func note(
    _ failures: [ServiceError], of request: HTTPRequest, _ info: RequestInfo, by caller: Caller?
  ) {
    guard let first = failures.first else { return }
    state.withLock { state in
      for error in failures { state.metrics.failedItems[error.code, default: 0] += 1 }
    }
    countRefusals(failures, of: info)
    let named = failures.prefix(Self.itemCount).map { "\($0.uuid)=\($0.code)" }
    let rest = failures.count - named.count
    var fields = Self.fields(for: request, info, caller)
    fields.append(("items", .string(named.joined(separator: ","))))
    if rest > 0 { fields.append(("more", .int(Int64(rest)))) }
    fields.append(("reason", Self.reason(of: first)))
    write(
      failures.contains { $0.code.isOurs } ? .error : .info, "items failed", fields)
  }

  /// Counts the refusals of a participant's request. Failures of the server are no refusals.
  private func countRefusals(_ failures: [ServiceError], of info: RequestInfo) {
    guard info.isOfParticipant else { return }
    state.withLock { state in
      for error in failures where !error.code.isOurs {
        state.metrics.refusedParticipants[error.code, default: 0] += 1
      }
    }
  }

  /// Records subscriptions that replaced a subscription of another type. It happens if a client
  /// uses one ID for two subscriptions.
  ///
  /// The line has the first ``itemCount`` subscriptions, and the number of the others.
  func note(
    _ replaced: [ReplacedSubscription], of request: HTTPRequest, _ info: RequestInfo,
    by caller: Caller?
  ) {
    guard !replaced.isEmpty else { return }
    let named = replaced.prefix(Self.itemCount).map {
      "\(Self.bounded($0.subscriptionID, to: ServiceLimits.nameLength)):\($0.former)>\($0.present)"
    }
    let rest = replaced.count - named.count
    var fields = Self.fields(for: request, info, caller)
    fields.append(("subscriptions", .string(named.joined(separator: ","))))
    if rest > 0 { fields.append(("more", .int(Int64(rest)))) }
    write(.warning, "subscriptions replaced others of another type", fields)
  }

  private typealias Field = (name: String, value: JSONValue)

  private static func fields(of error: ServiceError, _ status: Int) -> [Field] {
    [
      ("uuid", .string(error.uuid)), ("code", .string(error.code.rawValue)),
      ("status", .int(Int64(status))),
    ]
  }

  private static func fields(
    for request: HTTPRequest, _ info: RequestInfo, _ caller: (any LoggedCaller)?
  ) -> [Field] {
    let path =
      AssetLinks.uploadPathWithoutSecret(request.rawPath)
      ?? bounded(request.rawPath, to: pathLength)
    return [
      ("request", .string("\(info.uuid)")), ("method", .string(bounded(request.method, to: 16))),
      ("path", .string(path)),
      ("caller", .string(caller?.logName ?? "unknown")),
    ]
  }

  /// Returns the reason of an error, cut to ``reasonLength``. The log escapes its control characters.
  private static func reason(of error: ServiceError) -> JSONValue {
    let text = error.reason
    // A character can have any number of combining marks, so the count is that of scalars.
    let scalars = text.unicodeScalars.prefix(reasonLength)
    return .string(
      scalars.endIndex == text.endIndex ? text : String(String.UnicodeScalarView(scalars)) + "…")
  }

  /// Returns the beginning of a text, without the characters that HTTP does not allow in a request
  /// line: only visible ASCII remains.
  private static func bounded(_ text: String, to length: Int) -> String {
    let visible = text.utf8.lazy.filter { (0x21...0x7E).contains($0) }
    let beginning = String(decoding: visible.prefix(length), as: UTF8.self)
    return beginning.isEmpty ? "-" : beginning + (text.utf8.count > length ? "…" : "")
  }

  /// Writes a line, unless too many lines were written recently.
  private func write(_ level: ServerLog.Level, _ message: String, _ fields: [Field]) {
    let now = clock()
    let leftOut = state.withLock { state -> Int? in
      guard state.lines.wait(at: now) == 0 else {
        state.leftOut += 1
        return nil
      }
      state.lines.take()
      defer { state.leftOut = 0 }
      return state.leftOut
    }
    guard let leftOut else { return }
    log.add(
      level, message, leftOut > 0 ? fields + [("leftOut", .int(Int64(leftOut)))] : fields)
  }
}

extension ServerErrorCode {
  /// Whether the server caused the failure, and a repetition of the request may not help.
  fileprivate var isOurs: Bool { self == .internalError || self == .serverResponseLost }
}

extension Error {
  /// Whether the store's disk has failed or is full.
  fileprivate var isOfDisk: Bool {
    switch (self as? StoreError)?.code {
    case .diskFailed?, .full?: true
    default: false
    }
  }

  /// Whether the client gets fewer details of the error than the operator needs.
  fileprivate var isKeptFromClients: Bool {
    switch (self as? StoreError)?.code {
    case .outcomeUnknown?, .diskFailed?, .full?, .unreachable?, .overloaded?: true
    default: false
    }
  }
}

/// A caller that has a name in the log lines about failed requests.
package protocol LoggedCaller: Sendable {
  /// The name in the log, such as a user record name, `key:` with the ID of a key, or `anonymous`.
  var logName: String { get }
}

extension Caller: LoggedCaller {
  package var logName: String {
    switch self {
    case .anonymous: "anonymous"
    case .user(let name), .administrator(let name): name
    case .serverKey(let keyID, _): "key:\(keyID)"
    }
  }
}
