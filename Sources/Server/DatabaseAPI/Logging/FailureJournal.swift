import CloudKitModel
import Configuration
import HTTPService
import JSONCoding
import Logging
import StoreModel
import Synchronization
import WebServices

/// Counts failures and writes a line for each failed request, so that the `uuid` that a client was
/// given can be found in the log.
///
/// A line has no query, for tokens are in it, no secret of an upload URL, and no text of the client's
/// but its path and the IDs of subscriptions, which are cut. When lines come too fast some are left out, and counted.
package final class FailureJournal: Sendable {
  /// Lines in the log at most.
  private static let lineRate = RequestRate(perSecond: 100, burst: 1000)
  /// Bytes of a path in a line.
  private static let pathLength = 200
  /// Failed items of a request in a line.
  private static let itemCount = 5

  private struct State {
    var metrics = RequestMetrics()
    var lines: TokenBucket
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

  /// A request failed as a whole. One that was given up, for its client had gone, has not failed.
  ///
  /// - Parameters:
  ///   - operation: what the request is called in metrics.
  ///   - cause: what happened inside, where that is not for the client.
  package func note(
    _ error: ServiceError, status: Int, of request: HTTPRequest, called uuid: RequestUUID? = nil,
    operation: String, by caller: (any LoggedCaller)?, cause: (any Error)? = nil
  ) {
    if cause is CancellationError { return }
    let operation = RequestMetrics.FailedOperation(operation: operation, code: error.code)
    state.withLock { state in
      state.metrics.failed[error.code, default: 0] += 1
      state.metrics.failedOperations[operation, default: 0] += 1
    }
    var fields = Self.fields(of: error, status) + Self.fields(for: request, called: uuid, caller)
    if let cause, error.code == .internalError || cause.isKeptFromClients {
      fields.append(("cause", .string("\(cause)")))
    }
    let concernsOperator = error.code.isOurs || cause?.isOfDisk ?? false
    write(concernsOperator ? .error : .info, "request failed", fields)
  }

  /// The HTTP server refused a request, or a connection, by itself.
  func note(_ error: ServiceError, refusal: HTTPRefusal) {
    state.withLock { $0.metrics.failed[error.code, default: 0] += 1 }
    write(
      .info, "request refused",
      Self.fields(of: error, refusal.status) + [("reason", .string(refusal.reason.rawValue))])
  }

  /// Items of a request failed that did not fail itself.
  func note(
    _ failures: [ServiceError], of request: HTTPRequest, called uuid: RequestUUID,
    by caller: Caller?
  ) {
    guard !failures.isEmpty else { return }
    state.withLock { state in
      for error in failures { state.metrics.failedItems[error.code, default: 0] += 1 }
    }
    let named = failures.prefix(Self.itemCount).map { "\($0.uuid)=\($0.code)" }
    let rest = failures.count - named.count
    var fields = Self.fields(for: request, called: uuid, caller)
    fields.append(("items", .string(named.joined(separator: ","))))
    if rest > 0 { fields.append(("more", .int(Int64(rest)))) }
    write(
      failures.contains { $0.code.isOurs } ? .error : .info, "items failed", fields)
  }

  /// Subscriptions of a request replaced others of another type, as a client does that uses one ID twice.
  /// The first of them stand in the line.
  func note(
    _ replaced: [ReplacedSubscription], of request: HTTPRequest, called uuid: RequestUUID,
    by caller: Caller?
  ) {
    guard !replaced.isEmpty else { return }
    let named = replaced.prefix(Self.itemCount).map {
      "\(Self.bounded($0.subscriptionID, to: ServiceLimits.nameLength)):\($0.former)>\($0.present)"
    }
    let rest = replaced.count - named.count
    var fields = Self.fields(for: request, called: uuid, caller)
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
    for request: HTTPRequest, called uuid: RequestUUID?, _ caller: (any LoggedCaller)?
  ) -> [Field] {
    (uuid.map { [("request", .string("\($0)"))] } ?? []) + [
      ("method", .string(bounded(request.method, to: 16))), ("path", .string(path(of: request))),
      ("caller", .string(caller?.logName ?? "unknown")),
    ]
  }

  private static func path(of request: HTTPRequest) -> String {
    let path = request.rawPath
    guard AssetLinks.isUpload(method: "POST", path: path), path.contains("/upload/") else {
      return bounded(path, to: pathLength)
    }
    return AssetLinks.prefix + "…/upload/…"
  }

  /// The beginning of a text that HTTP allows in a request line: visible ASCII.
  private static func bounded(_ text: String, to length: Int) -> String {
    let visible = text.utf8.lazy.filter { (0x21...0x7E).contains($0) }
    let beginning = String(decoding: visible.prefix(length), as: UTF8.self)
    return beginning.isEmpty ? "-" : beginning + (text.utf8.count > length ? "…" : "")
  }

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
  /// Whether something went wrong on this side that sending again may not cure.
  fileprivate var isOurs: Bool { self == .internalError || self == .serverResponseLost }
}

extension Error {
  /// Whether the store's disk failed or is full.
  fileprivate var isOfDisk: Bool {
    switch (self as? StoreError)?.code {
    case .diskFailed?, .full?: true
    default: false
    }
  }

  /// Whether a client is told less of it than an operator has to know.
  fileprivate var isKeptFromClients: Bool {
    switch (self as? StoreError)?.code {
    case .outcomeUnknown?, .diskFailed?, .full?, .unreachable?, .overloaded?: true
    default: false
    }
  }
}

/// Who makes requests, and has a name in the lines of the log about those that fail.
package protocol LoggedCaller: Sendable {
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
