import Dispatch
import Foundation

/// A listener for the signals SIGINT and SIGTERM, which end long-running commands.
final class TerminationSignal: Sendable {
  /// Dispatch sources are safe on any thread, although their Swift type does not say so.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
  private let signals: AsyncStream<Void>

  /// Starts to listen. From now on, the signals do not end the process, even after the end of this
  /// object.
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

  /// Returns after one of the signals, or when the task is cancelled. If a signal arrived after the
  /// creation of this object but before the call, the method returns at once.
  func wait() async {
    for await _ in signals { break }
  }

  /// Returns after the next signal, or when the task is cancelled. Earlier signals do not count.
  static func wait() async {
    await TerminationSignal().wait()
  }

  /// Returns after the next signal, or after `limit` seconds. If the limit is 0 or negative, the
  /// method returns at once.
  static func wait(atMost limit: Double) async {
    guard limit > 0 else { return }
    await withTaskGroup { group in
      group.addTask { await wait() }
      // The sleep throws only if a signal or the caller has ended the wait.
      group.addTask { try? await Task.sleep(for: .seconds(limit)) }
      await group.next()
      group.cancelAll()
    }
  }
}
