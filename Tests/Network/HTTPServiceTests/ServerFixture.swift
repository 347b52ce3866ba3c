import Foundation
import HTTPService
import Synchronization
import Testing

/// Runs `body` against a started server, which is stopped afterwards.
func withServer(
  _ configure: (inout HTTPServer.Configuration) -> Void = { _ in },
  handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse = echo,
  body: (HTTPServer) async throws -> Void
) async throws {
  var configuration = HTTPServer.Configuration()
  configure(&configuration)
  let server = HTTPServer(configuration: configuration, handler: handler)
  try server.start()
  do {
    try await body(server)
  } catch {
    await server.stop(within: .zero)
    throw error
  }
  await server.stop(within: .zero)
}

/// Answers with the method, the path and the body.
let echo: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
  let text = "\(request.method) \(request.path) "
  return HTTPResponse(
    headers: [("Content-Type", "text/plain")], body: .data(Data(text.utf8) + request.body))
}

/// Holds whoever waits until it is opened or the waiting task is cancelled.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var next: UInt64 = 0
  }

  private let state = Mutex(State())

  var waitingCount: Int { state.withLock { $0.waiting.count } }

  func wait() async {
    let ticket = state.withLock { state in
      state.next += 1
      return state.next
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let passes = state.withLock { state in
          if state.isOpen || Task.isCancelled { return true }
          state.waiting[ticket] = continuation
          return false
        }
        if passes { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume()
    }
  }

  /// Waits even when the task is cancelled.
  func waitStubbornly() async {
    await Task.detached { await self.wait() }.value
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// A number that tasks share.
final class Tally: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add(_ amount: Int = 1) { count.withLock { $0 += amount } }
}
