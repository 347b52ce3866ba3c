import CLinuxEvents
import CommandInterface
import Foundation
import Synchronization

/// Many event streams, on one thread: HTTP answers on which the server sends notifications.
final class EventStreams: Sendable {
  /// Takes what it understands from the bytes that a stream has received, and removes it.
  typealias Receiver = @Sendable (_ stream: Int, _ received: inout [UInt8]) -> Void

  /// The results of the thread, and the request to end it.
  private struct State {
    var isStopped = false
    var failure: (any Error)?
  }

  /// The state that the thread and the callers share. The lock protects it.
  private let state = Mutex(State())
  private let streams: [Stream]
  private let receiver: Receiver

  /// One event stream, with the received bytes that are not evaluated yet.
  ///
  /// Only the thread of the streams uses ``received``; the descriptor never changes.
  private final class Stream: @unchecked Sendable {
    let descriptor: Int32
    // Only the streams' thread uses it.
    var received: [UInt8] = []

    init(port: Int, path: String) throws {
      descriptor = try LoadConnection.connect(to: port)
      let request =
        "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n"
      try LoadConnection.send(Array(request.utf8), to: descriptor)
    }

    deinit { close(descriptor) }
  }

  /// Opens the streams. When the initializer returns, the server has answered on each of them.
  ///
  /// - Parameter paths: The path of each stream, from ``ClusterReader/register(token:over:)``.
  init(port: Int, paths: [String], receiver: @escaping Receiver) throws {
    self.receiver = receiver
    streams = try paths.map { try Stream(port: port, path: $0) }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    // The server sends the header together with the first event or comment.
    for stream in streams {
      guard recv(stream.descriptor, &buffer, buffer.count, 0) > 0,
        String(decoding: buffer[9..<12], as: UTF8.self) == "200"
      else { throw UsageError("an event stream did not open") }
    }
  }

  func start() {
    Thread { self.work() }.start()
  }

  /// Asks the thread to end, which happens within about 100 ms. The method does not wait.
  func stop() { state.withLock { $0.isStopped = true } }

  /// Throws `UsageError` if the server has closed a stream.
  func check() throws {
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Reads the streams until ``stop()`` is called, or until the server closes a stream. The method
  /// is the body of the thread.
  private func work() {
    let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    defer { close(poll) }
    for (index, stream) in streams.enumerated() {
      var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(index)))
      epoll_ctl(poll, EPOLL_CTL_ADD, stream.descriptor, &event)
    }
    var events = [epoll_event](repeating: epoll_event(), count: 256)
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while !state.withLock({ $0.isStopped }) {
      let ready = epoll_wait(poll, &events, Int32(events.count), 100)
      for event in events[..<max(0, Int(ready))] {
        let number = Int(event.data.u64)
        let stream = streams[number]
        let count = recv(stream.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count <= 0 {
          if count < 0, errno == EAGAIN { continue }
          state.withLock { $0.failure = UsageError("an event stream broke off") }
          return
        }
        stream.received += buffer[..<count]
        receiver(number, &stream.received)
      }
    }
  }
}
