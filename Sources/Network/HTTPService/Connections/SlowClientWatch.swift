import Concurrency
import Dispatch

/// A timer that ends the connections of clients that are too slow. It checks all connections once a
/// second (``Pace``).
final class SlowClientWatch: @unchecked Sendable {
  // Unchecked: dispatch sources may be used from any thread.
  private let timer: any DispatchSourceTimer

  /// Starts the timer. Each connection that it ends counts as refused with `tooSlow`.
  init(registry: ConnectionRegistry, counters: Counters, job: BackgroundJob) {
    let queue = DispatchQueue(label: "petrel-slow-clients", qos: .utility)
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(
      deadline: .now() + .seconds(1), repeating: .seconds(1), leeway: .milliseconds(200))
    source.setEventHandler {
      let now = ContinuousClock.now
      for connection in registry.all where connection.endIfTooSlow(at: now) {
        counters.countRefusal(.tooSlow)
      }
      job.succeed()
    }
    source.resume()
    timer = source
  }

  func stop() { timer.cancel() }
}
