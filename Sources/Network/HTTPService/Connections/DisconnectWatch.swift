import CMicroHTTPD
import Dispatch
import Glibc

/// Notices clients that close their connection while a handler or a stream's producer is waited
/// for, and handlers that take too long. The library does not look at a connection that is suspended.
///
/// Once a second all connections that have been waiting since the last look are polled together;
/// quick requests cost nothing.
final class DisconnectWatch: @unchecked Sendable {
  // Unchecked: dispatch sources may be used from any thread.
  private let timer: any DispatchSourceTimer

  init(registry: ConnectionRegistry, interval: DispatchTimeInterval, handlingTime: Duration) {
    let queue = DispatchQueue(label: "petrel-disconnects", qos: .utility)
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: .now() + interval, repeating: interval, leeway: interval)
    source.setEventHandler { Self.look(at: registry.all, handlingTime) }
    source.resume()
    timer = source
  }

  func stop() { timer.cancel() }

  private static func look(at connections: [Connection], _ handlingTime: Duration) {
    let now = ContinuousClock.now
    let waiting = connections.compactMap { connection in
      connection.numberIfStillWaiting(at: now, handlingTime: handlingTime).map { (connection, $0) }
    }
    guard !waiting.isEmpty else { return }
    var polls = waiting.map { connection, _ in
      pollfd(fd: connection.native.descriptor, events: microhttpd_poll_peer_closed, revents: 0)
    }
    guard poll(&polls, nfds_t(polls.count), 0) > 0 else { return }
    for (index, (connection, number)) in waiting.enumerated() where polls[index].revents != 0 {
      // If the request still waits now, the descriptor was its own all the time.
      connection.clientLeft(number: number)
    }
  }
}
