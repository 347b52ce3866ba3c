import Dispatch
import Foundation

extension HTTPServer {
  /// Stops gracefully.
  ///
  /// 1. The address is given up at once; who connects is refused by the system.
  /// 2. ``Configuration/onStop`` is called, so that long polls and streams end.
  /// 3. Requests under way are finished and their answers sent, with `Connection: close`; requests
  ///    that arrive on open connections get 503.
  /// 4. When all are done, or `limit` has passed, the connections are closed. What is still under
  ///    way then is cancelled: handlers' requests get 503, streams are cut.
  ///
  /// Returns when all connections are closed and the threads have ended. A handler that ignores
  /// its cancellation may still run. Further calls wait for the first; before the start there is
  /// nothing to stop.
  public func stop(within limit: Duration) async {
    let task = phase.withLock { phase -> Task<Void, Never>? in
      switch phase {
      case .created: return nil
      case .stopping(let task, _): return task
      case .running(let running):
        drain.begin()
        let task = Task { await stop(running, within: limit) }
        phase = .stopping(task, port: running.port)
        return task
      }
    }
    await task?.value
  }

  var isStopping: Bool { drain.isBegun }

  /// The last exchange under way has ended.
  func exchangesEnded() { drain.checkIdle() }

  private func stop(_ running: Running, within limit: Duration) async {
    await Self.blocking { for acceptor in running.acceptors { acceptor.stop() } }
    configuration.onStop()
    await waitForExchanges(within: limit)
    registry.abandonAll()
    // Time for the refusals to go out; they are a packet each.
    await waitForExchanges(within: .milliseconds(250))
    running.watch.stop()
    running.slowClients.stop()
    await Self.blocking {
      for loop in running.loops { loop.stop() }
    }
    Unmanaged.passUnretained(self).release()
  }

  private func waitForExchanges(within limit: Duration) async {
    await drain.waitUntilIdle(within: limit) { [counters] in
      counters.exchanges.load(ordering: .sequentiallyConsistent) == 0
    }
  }

  private static func blocking(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      // Not a global queue: what blocks there would hold up the rest of the process.
      DispatchQueue(label: "petrel-stop").async {
        work()
        continuation.resume()
      }
    }
  }
}
