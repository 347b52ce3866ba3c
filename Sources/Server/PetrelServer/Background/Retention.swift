import CloudKitModel
import Logging
import Storage
import Synchronization

/// Deletes data beyond its retention, whenever ``RetentionSchedule`` says so.
final class Retention: Sendable {
  /// The state behind the lock.
  private struct State {
    /// Nil before the first pass.
    var watch: ClockWatch?
    var schedule: RetentionSchedule?
  }

  private let maintenance: MaintenanceService
  private let log: ServerLog
  private let clock: @Sendable () -> Timestamp
  /// Returns the number of log entries that the process has written.
  private let logged: @Sendable () -> Int
  private let state = Mutex(State())

  init(
    maintenance: MaintenanceService, log: ServerLog, clock: @escaping @Sendable () -> Timestamp,
    logged: @escaping @Sendable () -> Int
  ) {
    self.maintenance = maintenance
    self.log = log
    self.clock = clock
    self.logged = logged
  }

  var isDue: Bool {
    state.withLock { $0.schedule?.isDue(at: .now, logged: logged()) ?? true }
  }

  /// Deletes what is beyond its retention now. It deletes nothing while ``ClockWatch`` reports a jump of
  /// the clock.
  func pass() async throws {
    let (began, logged, now) = (ContinuousClock.now, logged(), clock())
    let watch = state.withLock { state in
      let watch = state.watch ?? ClockWatch(at: now, steady: began)
      state.watch = watch
      return watch
    }
    defer {
      let schedule = RetentionSchedule(began: began, ended: .now, logged: logged)
      state.withLock { $0.schedule = schedule }
    }
    guard watch.mayTrim(at: now, steady: began) else {
      log.warning(
        "the clock was set forward, so the server deletes nothing by its age; restart the server "
          + "if the clock is right",
        ["seconds": .double(watch.jump(at: now, steady: began))])
      return
    }
    try await trim()
  }

  /// Deletes what is beyond its retention by the clock as it is.
  func trim() async throws { try await maintenance.trim(at: clock()) }
}
