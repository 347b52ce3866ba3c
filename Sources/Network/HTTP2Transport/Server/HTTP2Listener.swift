import Foundation

/// A socket that listens for connections on an ``EventLoop``. The object owns the descriptor.
///
/// Unchecked: it is used on its loop's thread only.
final class HTTP2Listener: EventHandler, @unchecked Sendable {
  private let loop: EventLoop
  private let descriptor: Int32
  private let onConnection: (Int32) -> Void
  private var token: UInt64 = 0
  private var isClosed = false

  /// Prepares the socket. `onConnection` owns each descriptor that it gets.
  init(loop: EventLoop, descriptor: Int32, onConnection: @escaping (Int32) -> Void) {
    self.loop = loop
    self.descriptor = descriptor
    self.onConnection = onConnection
  }

  func start() {
    token = loop.register(descriptor, .readable, self)
  }

  /// Accepts up to 64 connections. The loop calls again if more are waiting.
  func handle(_ readiness: Readiness) {
    for _ in 0..<64 {
      guard let connection = Socket.accepted(at: descriptor) else {
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause() }
        return
      }
      onConnection(connection)
    }
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    loop.unregister(descriptor, token: token)
    Foundation.close(descriptor)
  }

  /// Stops accepting for 100 ms. Without this pause, the loop would call the handler again and
  /// again while the process has no free descriptors.
  private func pause() {
    loop.unregister(descriptor, token: token)
    loop.schedule(after: .milliseconds(100)) { [weak self] in
      guard let self, !isClosed else { return }
      start()
    }
  }
}
