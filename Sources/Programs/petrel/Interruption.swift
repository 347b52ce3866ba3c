import Dispatch
import Foundation

/// The signals SIGINT and SIGTERM, which end commands that run until the user interrupts them.
final class Interruption: Sendable {
  /// Dispatch sources are safe on any thread, although their Swift type does not say so.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
  /// An element for each signal.
  private let signals: AsyncStream<Void>

  /// Starts to listen; the process no longer ends on these signals. A signal before ``wait()``
  /// makes that return at once.
  init() async {
    let queue = DispatchQueue(label: "petrel.signals")
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
    // Dispatch sources are safe on any thread, as above.
    nonisolated(unsafe) var sources: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      // As above.
      nonisolated(unsafe) let source = DispatchSource.makeSignalSource(
        signal: number, queue: queue)
      source.setEventHandler { continuation.yield() }
      await withCheckedContinuation { isListening in
        source.setRegistrationHandler { isListening.resume() }
        source.resume()
      }
      sources.append(source)
    }
    self.sources = sources
    self.signals = signals
  }

  deinit {
    for source in sources { source.cancel() }
  }

  /// Returns after one of the signals, or when the task is cancelled. A signal from before the call
  /// counts.
  func wait() async {
    for await _ in signals { break }
  }

  /// Returns after the next signal, or when the task is cancelled.
  static func wait() async {
    await Interruption().wait()
  }

  /// Returns after the next signal, or after `limit` seconds. A limit of 0 returns at once.
  static func wait(atMost limit: Double) async {
    guard limit > 0 else { return }
    await withTaskGroup { group in
      group.addTask { await wait() }
      // A cancellation ends the sleep, which is its purpose here.
      group.addTask { try? await Task.sleep(for: .seconds(limit)) }
      await group.next()
      group.cancelAll()
    }
  }
}
