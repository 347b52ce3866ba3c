import CMicroHTTPD
import Foundation
import Synchronization

/// A streamed body on its way: the producer's task writes, the event loop reads.
final class ResponseStream: Sendable {
  private struct Shared {
    var state: StreamState
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var nextTicket: UInt64 = 0
    var task: Task<Void, Never>?
    var isStarted = false
  }

  private let connection: NativeConnection
  private let producer: @Sendable (HTTPStreamWriter) async throws -> Void
  private let shared: Mutex<Shared>

  init(
    connection: NativeConnection, capacity: Int,
    producer: @escaping @Sendable (HTTPStreamWriter) async throws -> Void
  ) {
    self.connection = connection
    self.producer = producer
    shared = Mutex(Shared(state: StreamState(capacity: capacity)))
  }

  /// Whether the reader has everything and the producer has nothing new.
  var isWaitingForProducer: Bool { shared.withLock { $0.state.isSuspended } }

  // MARK: The producer's side

  func write(_ chunk: Data) async throws {
    while true {
      try Task.checkCancellation()
      let action = shared.withLock { shared in
        let action = shared.state.write(chunk)
        if action == .accepted(resume: true) { connection.resume() }
        return action
      }
      switch action {
      case .accepted: return
      case .wait: await waitForRoom()
      case .closed:
        throw HTTPServerError(
          .connectionClosed, "the stream's reader is gone or the server stops; write no more")
      }
    }
  }

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

  /// Puts what there is at `target`; returns the count, or the library's mark for the end.
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
      return bytes.count
    case .suspend: return 0
    case .end: return microhttpd_end_of_stream()
    case .fail: return microhttpd_end_with_error()
    }
  }

  /// Cuts the stream and cancels its producer: the peer is gone, or the server stops.
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
