import CMicroHTTPD
import Concurrency
import Dispatch
import Glibc

/// A timer that finds clients that closed their connection during a handler or stream, and handlers
/// that take too long. libmicrohttpd does not look at a suspended connection.
///
/// At each interval, one `poll` checks all connections that were waiting at the previous interval
/// too. So quick requests cost nothing.
final class DisconnectWatch: @unchecked Sendable {
  // Unchecked: dispatch sources may be used from any thread.
  private let timer: any DispatchSourceTimer

  /// Starts the timer. The watch cancels a handler that takes longer than `handlingTime`.
  init(
    registry: ConnectionRegistry, interval: DispatchTimeInterval, handlingTime: Duration,
    job: BackgroundJob
  ) {
    let queue = DispatchQueue(label: "petrel-disconnects", qos: .utility)
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: .now() + interval, repeating: interval, leeway: interval)
    source.setEventHandler {
      Self.look(at: registry.all, handlingTime)
      job.succeed()
    }
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
      // The number proves that the same request still waits, so the descriptor belonged to it
      // during the poll.
      connection.clientLeft(number: number)
    }
  }
}
