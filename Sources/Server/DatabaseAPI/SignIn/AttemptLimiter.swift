import CloudKitModel
import StoreModel

/// Slows down who guesses passwords or keys: after a few wrong ones for an account from one address, some
/// more from the address, or many for the account from everywhere, each further one has to wait twice as
/// long as the one before.
///
/// Whoever tries an account's password from one address delays its owner only there. Only attempts from
/// many addresses delay all that name the account: those are let through more slowly than the count of
/// the account falls, so one address alone never gets there.
///
/// An attempt counts as wrong from its beginning, so that many at the same moment gain nothing. The
/// rules are apart from the histories that are kept here, for servers that keep them together.
package struct AttemptLimiter {
  package enum Verdict: Sendable, Hashable {
    case allowed
    /// Not before this many seconds have passed; the attempt does not count.
    case wait(seconds: Double)
  }

  /// Wrong passwords for an account from one address before the first wait there.
  static let freeForAccountAtAddress = 5
  /// Wrong passwords for an account from all addresses before the first wait for all of them.
  static let freeForAccount = 50
  /// Seconds without an attempt after which one less counts for an account from all addresses.
  static let accountRecovery = 60.0
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
    case accountAtAddress(account: String, address: String)
    case address(String)

    fileprivate var free: Int {
      switch self {
      case .accountAtAddress: AttemptLimiter.freeForAccountAtAddress
      case .account: AttemptLimiter.freeForAccount
      case .address: AttemptLimiter.freeForAddress
      }
    }

    fileprivate var longestWait: Double {
      switch self {
      case .account, .accountAtAddress: AttemptLimiter.longestWaitForAccount
      case .address: AttemptLimiter.longestWaitForAddress
      }
    }
  }

  /// Those of an attempt; one with a key names no account.
  static func subjects(account: String?, address: String) -> [Subject] {
    (account.map { [.account($0), .accountAtAddress(account: $0, address: address)] } ?? [])
      + [.address(address)]
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

  /// The attempt that began last was right: the account is as new at its address, and all else as
  /// before.
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
    for (index, subject) in subjects.enumerated() {
      var history = histories[index] ?? AttemptHistory(last: now)
      let quiet = now.seconds - history.last.seconds
      if quiet >= memory { history.wrong = 0 }
      if case .account = subject {
        history.wrong = max(0, history.wrong - Int(max(0, quiet) / accountRecovery))
      }
      history.wrong += 1
      history.last = now
      histories[index] = history
    }
    return .allowed
  }

  static func succeeded(_ subjects: [Subject], _ histories: inout [AttemptHistory?]) {
    for (index, subject) in subjects.enumerated() {
      switch subject {
      case .accountAtAddress: histories[index] = nil
      case .account, .address:
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
