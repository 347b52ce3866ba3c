import Foundation

/// Accepts connections. Lives on its loop's thread.
final class ListeningSocket: EventHandler, @unchecked Sendable {
  private let loop: EventLoop
  private let descriptor: Int32
  private let onConnection: (Int32) -> Void
  private var token: UInt64 = 0
  private var isClosed = false

  /// - Parameter onConnection: gets each connection's descriptor, which it then owns.
  init(loop: EventLoop, descriptor: Int32, onConnection: @escaping (Int32) -> Void) {
    self.loop = loop
    self.descriptor = descriptor
    self.onConnection = onConnection
  }

  func start() {
    token = loop.register(descriptor, .readable, self)
  }

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

  /// With no descriptors left the socket would stay ready and keep the thread busy for nothing.
  private func pause() {
    loop.unregister(descriptor, token: token)
    loop.schedule(after: .milliseconds(100)) { [weak self] in
      guard let self, !isClosed else { return }
      start()
    }
  }
}
