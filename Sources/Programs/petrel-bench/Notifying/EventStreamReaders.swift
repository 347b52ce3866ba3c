import CLinuxEvents
import CommandInterface
import Foundation
import Synchronization

/// Readers of event streams, all on one thread, which notes how long each notification took from the
/// moment its record was sent.
final class EventStreamReaders: Sendable {
  private struct State {
    var delays: [Double] = []
    var isStopped = false
    var failure: (any Error)?
  }

  private let state = Mutex(State())
  private let readers: [Reader]

  /// One stream, and what of it has not been looked at.
  private final class Reader: @unchecked Sendable {
    let descriptor: Int32
    // Touched by the thread only.
    var received: [UInt8] = []

    init(port: Int, path: String) throws {
      descriptor = try LoadConnection.connect(to: port)
      let request =
        "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n"
      try LoadConnection.send(Array(request.utf8), to: descriptor)
    }

    deinit { close(descriptor) }
  }

  /// Opens the streams, which are ready when this returns.
  init(port: Int, paths: [String]) throws {
    readers = try paths.map { try Reader(port: port, path: $0) }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    // The head comes with the first event or comment of the stream.
    for reader in readers {
      guard recv(reader.descriptor, &buffer, buffer.count, 0) > 0,
        String(decoding: buffer[9..<12], as: UTF8.self) == "200"
      else { throw UsageError("an event stream did not open") }
    }
  }

  func start() {
    Thread { self.work() }.start()
  }

  func stop() { state.withLock { $0.isStopped = true } }

  /// How long the notifications took since the last call, in seconds.
  func takeDelays() throws -> [Double] {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      defer { state.delays = [] }
      return state.delays
    }
  }

  var count: Int { state.withLock { $0.delays.count } }

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

  private static let mark = Array(#""rid":""#.utf8)

  /// The delays of the notifications whose record names are there, which are then dropped.
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
