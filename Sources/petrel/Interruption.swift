import Dispatch
import Foundation

/// Waiting for SIGINT or SIGTERM.
enum Interruption {
  /// Returns when one of the signals comes, or after so many seconds.
  static func wait(atMost limit: Double) async {
    guard limit > 0 else { return }
    await withTaskGroup { group in
      group.addTask { await wait() }
      group.addTask { try? await Task.sleep(for: .seconds(limit)) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Returns when one of the signals comes, and when the task is cancelled.
  static func wait() async {
    let queue = DispatchQueue(label: "petrel.signals")
    let sources = [SIGINT, SIGTERM].map { signalNumber in
      signal(signalNumber, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: signalNumber, queue: queue)
    }
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
    for source in sources {
      source.setEventHandler { continuation.yield() }
      source.resume()
    }
    for await _ in signals { break }
    for source in sources { source.cancel() }
  }
}
