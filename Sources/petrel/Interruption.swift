import Dispatch
import Foundation

/// Waiting for SIGINT or SIGTERM.
enum Interruption {
  static func wait() async {
    let queue = DispatchQueue(label: "petrel.signals")
    let sources = [SIGINT, SIGTERM].map { signalNumber in
      signal(signalNumber, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: signalNumber, queue: queue)
    }
    await withCheckedContinuation { continuation in
      // Both handlers run on the one queue, so the first takes the continuation alone.
      nonisolated(unsafe) var waiting: CheckedContinuation<Void, Never>? = continuation
      for source in sources {
        source.setEventHandler {
          waiting?.resume()
          waiting = nil
        }
        source.resume()
      }
    }
    for source in sources { source.cancel() }
  }
}
