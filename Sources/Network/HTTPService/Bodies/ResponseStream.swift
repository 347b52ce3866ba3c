import CMicroHTTPD
import Foundation
import Synchronization

/// A streamed body during its sending: the producer's task writes chunks, and the event loop reads
/// bytes.
///
/// ``StreamState`` decides which side waits. The producer's task starts with the first read.
final class ResponseStream: Sendable {
  /// The state that both sides use, behind the lock.
  private struct Shared {
    var state: StreamState
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var nextTicket: UInt64 = 0
    var task: Task<Void, Never>?
    /// Whether the event loop has read once, which starts the producer.
    var isStarted = false
  }

  private let connection: NativeConnection
  private let progress: @Sendable (Pace.Event) -> Void
  private let producer: @Sendable (HTTPStreamWriter) async throws -> Void
  private let shared: Mutex<Shared>

  /// Creates a stream, whose producer begins to run with the first read.
  ///
  /// - Parameter capacity: the number of unsent bytes at which a writer has to wait.
  init(
    connection: NativeConnection, capacity: Int,
    progress: @escaping @Sendable (Pace.Event) -> Void,
    producer: @escaping @Sendable (HTTPStreamWriter) async throws -> Void
  ) {
    self.connection = connection
    self.progress = progress
    self.producer = producer
    shared = Mutex(Shared(state: StreamState(capacity: capacity)))
  }

  var isWaitingForProducer: Bool { shared.withLock { $0.state.isSuspended } }

  // MARK: The producer's side

  /// Adds a chunk, and waits first while there is no space.
  func write(_ chunk: Data) async throws {
    while true {
      try Task.checkCancellation()
      let action = shared.withLock { shared in
        // The library does not look at a suspended connection, and would send the chunk to nobody.
        if shared.state.isSuspended, connection.isPeerClosed, shared.state.fail() {
          connection.resume()
        }
        let action = shared.state.write(chunk)
        if action == .accepted(resume: true) { connection.resume() }
        return action
      }
      switch action {
      case .accepted: return
      case .wait: await waitForRoom()
      case .closed:
        throw HTTPServerError(
          .connectionClosed,
          "the client closed the connection, or the server is stopping; write no more")
      }
    }
  }

  /// Returns when there may be space, or the stream is closed, or the task is cancelled.
  private func waitForRoom() async {
    let ticket = shared.withLock { shared in
      shared.nextTicket += 1
      return shared.nextTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = shared.withLock { shared in
          if shared.state.hasRoom || shared.state.isClosed || Task.isCancelled { return true }
          shared.waiting[ticket] = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      shared.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume()
    }
  }

  private func produce() async {
    let ended: Bool
    do {
      try await producer(HTTPStreamWriter { [self] in try await write($0) })
      ended = true
    } catch {
      ended = false
    }
    shared.withLock { shared in
      shared.task = nil
      if ended ? shared.state.finish() : shared.state.fail() { connection.resume() }
    }
  }

  // MARK: The event loop's side

  /// Copies the next bytes on the event loop's thread. Returns 0 if it suspended the connection; at
  /// the end, and for a broken stream, the library's special values.
  func read(into target: UnsafeMutableRawBufferPointer) -> Int {
    let (action, isFirstWait, released) = shared.withLock { shared in
      let isFirst = !shared.isStarted
      if isFirst {
        shared.isStarted = true
        if !shared.state.isClosed {
          shared.task = Task { await produce() }
        }
      }
      let action = shared.state.read(upTo: target.count)
      if action == .suspend { connection.suspend() }
      var released: [CheckedContinuation<Void, Never>] = []
      if shared.state.hasRoom, !shared.waiting.isEmpty {
        released = Array(shared.waiting.values)
        shared.waiting = [:]
      }
      return (action, isFirst && action == .suspend, released)
    }
    for continuation in released { continuation.resume() }
    if isFirstWait { connection.pushPendingBytes() }
    switch action {
    case .bytes(let bytes):
      target.copyBytes(from: bytes)
      progress(.answerTaken(bytes.count))
      return bytes.count
    case .suspend:
      progress(.serverAwaited)
      return 0
    case .end: return microhttpd_end_of_stream()
    case .fail: return microhttpd_end_with_error()
    }
  }

  /// Breaks the stream and cancels its producer, because the client is gone or the server stops.
  func cut() {
    let (waiting, task) = shared.withLock { shared in
      if shared.state.fail() { connection.resume() }
      defer { shared.waiting = [:] }
      return (Array(shared.waiting.values), shared.task)
    }
    task?.cancel()
    for continuation in waiting { continuation.resume() }
  }
}
