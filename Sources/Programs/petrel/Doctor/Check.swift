import Foundation
import Settings
import Synchronization

/// A check of `petrel doctor` with a time limit.
struct Check: Sendable {
  let name: String
  private let limit: Duration
  private let look: @Sendable () async -> [Finding]

  init(
    _ name: String, within limit: Duration = .seconds(5),
    _ look: @escaping @Sendable () async -> [Finding]
  ) {
    self.name = name
    self.limit = limit
    self.look = look
  }

  /// Creates a check that calls the system and may block its thread. The check runs on a thread of
  /// its own.
  init(
    asking name: String, within limit: Duration = .seconds(5),
    _ look: @escaping @Sendable () -> [Finding]
  ) {
    self.init(name, within: limit) {
      await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: look()) }
        thread.start()
      }
    }
  }

  /// Runs the check and returns its findings.
  ///
  /// If the check exceeds its time limit, the method returns a problem instead. The check
  /// continues, but its result is ignored.
  func findings() async -> [Finding] {
    await withCheckedContinuation { continuation in
      let answer = FirstAnswer(continuation)
      Task { answer.give(await look()) }
      Task {
        // No code cancels this task, so the sleep does not fail.
        try? await Task.sleep(for: limit)
        answer.give([
          .problem(
            "\(name): no answer within \(limit.components.seconds) seconds",
            "check what it depends on: a disk, a network, a name server")
        ])
      }
    }
  }

  /// A continuation that only the first result resumes.
  private final class FirstAnswer: Sendable {
    private let waiter: Mutex<CheckedContinuation<[Finding], Never>?>

    init(_ waiter: CheckedContinuation<[Finding], Never>) {
      self.waiter = Mutex(waiter)
    }

    func give(_ findings: [Finding]) {
      waiter.withLock { waiter in
        defer { waiter = nil }
        return waiter
      }?.resume(returning: findings)
    }
  }
}
