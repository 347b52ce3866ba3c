import CloudKit
import CloudKitModel
import Foundation
import WebServices

/// A transport whose answers a test writes. It keeps what was sent, and answers on Dispatch.
final class ScriptedTransport: WebServicesTransport {
  /// The outcome of a request.
  enum Outcome {
    case answer(TransportResponse)
    case failure(TransportFailure)
    /// No answer until the request is cancelled.
    case silence

    static func ok(_ body: Data) -> Outcome { .answer(TransportResponse(status: 200, body: body)) }

    static func error(_ error: ServiceError) -> Outcome {
      .answer(TransportResponse(status: error.code.httpStatus, body: error.body))
    }
  }

  typealias Script = @Sendable (_ request: TransportRequest, _ index: Int) -> Outcome

  private struct State {
    var requests: [TransportRequest] = []
    var cancellations = 0
  }

  private let script: Script
  private let state = Guarded(State())
  private let queue = DispatchQueue(label: "ScriptedTransport")

  init(_ script: @escaping Script) {
    self.script = script
  }

  var requests: [TransportRequest] { state.withLock { $0.requests } }
  var cancellations: Int { state.withLock { $0.cancellations } }

  func send(
    _ request: TransportRequest,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void {
    let index = state.withLock { state in
      state.requests.append(request)
      return state.requests.count - 1
    }
    let isOver = Guarded(false)
    let finish = { @Sendable (result: Result<TransportResponse, TransportFailure>) in
      let isFirst = isOver.withLock { isOver in
        defer { isOver = true }
        return !isOver
      }
      if isFirst { completion(result) }
      return isFirst
    }
    switch script(request, index) {
    case .answer(let response): queue.async { _ = finish(.success(response)) }
    case .failure(let failure): queue.async { _ = finish(.failure(failure)) }
    case .silence: break
    }
    return { [self] in
      if finish(.failure(TransportFailure(.cancelled, "cancelled"))) {
        state.withLock { $0.cancellations += 1 }
      }
    }
  }
}

/// A value behind a lock.
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) {
    self.value = value
  }

  @discardableResult
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

extension Guarded {
  func append<Element>(_ element: Element) where Value == [Element] {
    withLock { $0.append(element) }
  }

  var current: Value { withLock { $0 } }
}

extension CKContainer {
  /// A container over a script.
  static func scripted(_ transport: ScriptedTransport) -> CKContainer {
    CKContainer(
      identifier: "iCloud.test",
      configuration: PetrelConfiguration(
        serverURL: URL(string: "http://petrel.test")!, webAuthToken: "a+b/c=", apiToken: "api",
        deviceID: "device"),
      transport: transport)
  }

  static func scripted(_ script: @escaping ScriptedTransport.Script) -> CKContainer {
    scripted(ScriptedTransport(script))
  }
}

extension TransportRequest {
  /// The path's last two words, such as `records/modify`.
  var operation: String {
    guard case .path(let path, _) = target else { return "courier" }
    return path.split(separator: "/").suffix(2).joined(separator: "/")
  }

  /// The path's database; nil for tokens.
  var scope: DatabaseScope? {
    guard case .path(let path, _) = target else { return nil }
    return try? ServicePath(parsing: path).scope
  }

  func query(_ name: String) -> String? {
    guard case .path(_, let query) = target else { return nil }
    return query.first { $0.name == name }?.value
  }
}

extension Operation {
  /// Starts the operation by itself and comes back when it is over. For tests, not for tasks.
  func runToEnd() {
    start()
    waitUntilFinished()
  }
}

/// The server's view of the messages.
let serverContext = MessageContext(ownerNaming: .relative(to: "_user"))
