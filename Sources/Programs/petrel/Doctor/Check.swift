import Foundation
import Settings
import Synchronization

/// Something to look at, within a limit of time.
struct Check: Sendable {
  /// Such as `disk`.
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

  /// A look that asks the system, which may hang: it has a thread of its own.
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

  /// What it shows. A look that takes too long is left to itself.
  func findings() async -> [Finding] {
    await withCheckedContinuation { continuation in
      let answer = FirstAnswer(continuation)
      Task { answer.give(await look()) }
      Task {
        // Nothing cancels this task.
        try? await Task.sleep(for: limit)
        answer.give([
          .problem(
            "\(name): no answer within \(limit.components.seconds) seconds",
            "look at what it depends on: a disk, a network, a name server")
        ])
      }
    }
  }

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
