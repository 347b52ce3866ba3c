import Dispatch
import Foundation

/// SIGINT and SIGTERM, which end what runs until it is interrupted.
final class Interruption: Sendable {
  /// Dispatch sources may be used from any thread; their Swift type does not say so.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
  private let signals: AsyncStream<Void>

  /// Listens from when this returns; what comes before ``wait()`` ends that at once.
  init() async {
    let queue = DispatchQueue(label: "petrel.signals")
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
    // Sources may be used from any thread, as above.
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

  /// Returns when one of the signals comes or has come, and when the task is cancelled.
  func wait() async {
    for await _ in signals { break }
  }

  /// Returns when one of the signals comes, and when the task is cancelled.
  static func wait() async {
    await Interruption().wait()
  }

  /// Returns when one of the signals comes, or after so many seconds.
  static func wait(atMost limit: Double) async {
    guard limit > 0 else { return }
    await withTaskGroup { group in
      group.addTask { await wait() }
      // A cancellation ends the sleep.
      group.addTask { try? await Task.sleep(for: .seconds(limit)) }
      await group.next()
      group.cancelAll()
    }
  }
}
