import CloudKitModel
import Storage

/// Slows down who guesses passwords or keys: after a few wrong ones for an account, or some more from an
/// address, each further one has to wait twice as long as the one before.
///
/// An attempt counts as wrong from its beginning, so that many at the same moment gain nothing. The
/// rules are apart from the histories that are kept here, for servers that keep them together.
struct AttemptLimiter {
  enum Verdict: Sendable, Hashable {
    case allowed
    /// Not before this many seconds have passed; the attempt does not count.
    case wait(seconds: Double)
  }

  /// Wrong passwords for an account before the first wait.
  static let freeForAccount = 5
  /// Wrong passwords from an address before the first wait: people share addresses.
  static let freeForAddress = 20
  /// Seconds at most: who guesses must not lock the owner out for long.
  static let longestWaitForAccount = 60.0
  /// Seconds at most.
  static let longestWaitForAddress = 900.0
  /// Seconds after which an account or address without attempts is as new.
  static let memory = 3600.0

  /// Whose attempts are counted.
  enum Subject: Sendable, Hashable {
    case account(String)
    case address(String)

    fileprivate var free: Int {
      switch self {
      case .account: AttemptLimiter.freeForAccount
      case .address: AttemptLimiter.freeForAddress
      }
    }

    fileprivate var longestWait: Double {
      switch self {
      case .account: AttemptLimiter.longestWaitForAccount
      case .address: AttemptLimiter.longestWaitForAddress
      }
    }
  }

  /// Those of an attempt; one with a key names no account.
  static func subjects(account: String?, address: String) -> [Subject] {
    (account.map { [.account($0)] } ?? []) + [.address(address)]
  }

  private var histories: [Subject: AttemptHistory] = [:]
  private let capacity: Int

  /// - Parameter capacity: accounts and addresses that are remembered. At the limit those that were
  ///   quiet for an hour are forgotten; if there are none, the one that was quiet for longest.
  init(capacity: Int = 20_000) {
    self.capacity = capacity
  }

  /// Whether an attempt may begin; one that may counts as wrong until ``succeeded(_:)``.
  mutating func begin(_ subjects: [Subject], at now: Timestamp) -> Verdict {
    var found = subjects.map { histories[$0] }
    let verdict = Self.begin(subjects, &found, at: now)
    for (subject, history) in zip(subjects, found) {
      if histories[subject] == nil, history != nil, histories.count >= capacity {
        makeRoom(at: now)
      }
      histories[subject] = history
    }
    return verdict
  }

  /// The attempt that began last was right: the account is as new, and the address as before.
  mutating func succeeded(_ subjects: [Subject]) {
    var found = subjects.map { histories[$0] }
    Self.succeeded(subjects, &found)
    for (subject, history) in zip(subjects, found) { histories[subject] = history }
  }

  private mutating func makeRoom(at now: Timestamp) {
    histories = histories.filter { now.seconds - $0.value.last.seconds < Self.memory }
    guard histories.count >= capacity,
      let quietest = histories.min(by: { $0.value.last < $1.value.last })?.key
    else { return }
    histories[quietest] = nil
  }
}

// MARK: The rules

extension AttemptLimiter {
  /// - Parameter histories: those of the subjects, in their order.
  static func begin(
    _ subjects: [Subject], _ histories: inout [AttemptHistory?], at now: Timestamp
  ) -> Verdict {
    let waits = zip(subjects, histories).map { remainingWait(of: $0, $1, at: now) }
    let wait = waits.max() ?? 0
    guard wait <= 0 else { return .wait(seconds: wait) }
    for index in histories.indices {
      var history = histories[index] ?? AttemptHistory(last: now)
      if now.seconds - history.last.seconds >= memory { history.wrong = 0 }
      history.wrong += 1
      history.last = now
      histories[index] = history
    }
    return .allowed
  }

  static func succeeded(_ subjects: [Subject], _ histories: inout [AttemptHistory?]) {
    for (index, subject) in subjects.enumerated() {
      switch subject {
      case .account: histories[index] = nil
      case .address:
        guard let wrong = histories[index]?.wrong else { continue }
        histories[index]?.wrong = max(0, wrong - 1)
      }
    }
  }

  private static func remainingWait(
    of subject: Subject, _ history: AttemptHistory?, at now: Timestamp
  ) -> Double {
    guard let history else { return 0 }
    let quiet = now.seconds - history.last.seconds
    guard quiet < memory, history.wrong >= subject.free else { return 0 }
    let doublings = min(history.wrong - subject.free, 10)
    return min(Double(1 << doublings), subject.longestWait) - quiet
  }
}
