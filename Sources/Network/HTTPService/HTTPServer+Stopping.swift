import Dispatch
import Foundation

extension HTTPServer {
  /// Stops the server gracefully.
  ///
  /// 1. The server stops listening; the system refuses new connections.
  /// 2. It calls ``Configuration/onStop``, so that long polls and streams end.
  /// 3. Requests under way are finished and their answers sent, with `Connection: close`. Requests
  ///   that arrive on open connections get 503.
  /// 4. When all are done, or `limit` has passed, the server cancels the remaining handlers, whose
  ///   requests get 503, and cuts the streams.
  /// 5. It closes the connections and ends the threads; then the call returns.
  ///
  /// A handler that ignores its cancellation may still run. Further calls wait for the first one.
  /// Before the start the call does nothing.
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

  /// Ends the wait of ``stop(within:)``; called after the last exchange.
  func exchangesEnded() { drain.checkIdle() }

  private func stop(_ running: Running, within limit: Duration) async {
    await Self.blocking { for acceptor in running.acceptors { acceptor.stop() } }
    configuration.onStop()
    await waitForExchanges(within: limit)
    registry.abandonAll()
    // Time to send the refusals, which are one packet each.
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

  /// Runs blocking work on a thread of its own.
  private static func blocking(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      // A global queue would block other work of the process.
      DispatchQueue(label: "petrel-stop").async {
        work()
        continuation.resume()
      }
    }
  }
}
