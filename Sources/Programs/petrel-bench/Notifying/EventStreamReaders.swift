import CLinuxEvents
import CommandInterface
import Foundation
import Synchronization

/// The readers of many event streams, on one thread. The object measures the time from the sending
/// of a record to its notification. The record names must contain the time of sending
/// (``LoadRequest``).
final class EventStreamReaders: Sendable {
  /// The results of the thread, and the request to end it.
  private struct State {
    var delays: [Double] = []
    var isStopped = false
    var failure: (any Error)?
  }

  /// The state that the thread and the callers share. The lock protects it.
  private let state = Mutex(State())
  private let readers: [Reader]

  /// One event stream, with the received bytes that are not evaluated yet.
  ///
  /// Only the thread of the readers uses ``received``; the descriptor never changes.
  private final class Reader: @unchecked Sendable {
    let descriptor: Int32
    // Only the readers' thread uses it.
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
  /// - Throws: `UsageError` if a stream does not open.
  init(port: Int, paths: [String]) throws {
    readers = try paths.map { try Reader(port: port, path: $0) }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    // The server sends the header together with the first event or comment.
    for reader in readers {
      guard recv(reader.descriptor, &buffer, buffer.count, 0) > 0,
        String(decoding: buffer[9..<12], as: UTF8.self) == "200"
      else { throw UsageError("an event stream did not open") }
    }
  }

  /// Starts the thread that reads the streams.
  func start() {
    Thread { self.work() }.start()
  }

  /// Asks the thread to end, which happens within about 100 ms. The method does not wait.
  func stop() { state.withLock { $0.isStopped = true } }

  /// Returns the delays of the notifications since the last call: the seconds from the sending of
  /// each record to the arrival of its notification.
  ///
  /// - Throws: `UsageError` if the server has closed a stream.
  func takeDelays() throws -> [Double] {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      defer { state.delays = [] }
      return state.delays
    }
  }

  /// The number of notifications since the last call of ``takeDelays()``.
  var count: Int { state.withLock { $0.delays.count } }

  /// Reads the streams until ``stop()`` is called, or until the server closes a stream. The method
  /// is the body of the thread.
  private func work() {
    let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    defer { close(poll) }
    for (index, reader) in readers.enumerated() {
      var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(u64: UInt64(index)))
      epoll_ctl(poll, EPOLL_CTL_ADD, reader.descriptor, &event)
    }
    var events = [epoll_event](repeating: epoll_event(), count: 256)
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while !state.withLock({ $0.isStopped }) {
      let ready = epoll_wait(poll, &events, Int32(events.count), 100)
      for event in events[..<max(0, Int(ready))] {
        let reader = readers[Int(event.data.u64)]
        let count = recv(reader.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        if count <= 0 {
          if count < 0, errno == EAGAIN { continue }
          state.withLock { $0.failure = UsageError("an event stream broke off") }
          return
        }
        reader.received += buffer[..<count]
        let delays = Self.delays(in: &reader.received)
        state.withLock { $0.delays += delays }
      }
    }
  }

  /// The JSON text before the record name of a notification.
  private static let mark = Array(#""rid":""#.utf8)

  /// Returns the delays of the notifications whose record names are complete, and removes the bytes
  /// up to the last of these names.
  private static func delays(in received: inout [UInt8]) -> [Double] {
    let now = monotonicSeconds()
    var delays: [Double] = []
    var end = 0
    while let place = received.firstPlace(of: mark, from: end) {
      let start = place + mark.count
      guard received.count >= start + LoadRequest.nameLength else { break }
      end = start + LoadRequest.nameLength
      if let sent = LoadRequest.sendingTime(inName: received[start..<end]) {
        delays.append(now - sent)
      }
    }
    received.removeFirst(end)
    return delays
  }
}
