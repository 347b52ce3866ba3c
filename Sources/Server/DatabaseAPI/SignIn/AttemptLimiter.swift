import CloudKitModel
import StoreModel

/// The rules that slow down the guessing of passwords and keys.
///
/// The rules use three counts of wrong attempts: for an account from one address, for an address,
/// and for an account from all addresses. Each count allows a number of free attempts without a
/// wait. After these, each wrong attempt doubles the wait before the next one, up to a limit.
///
/// A person who guesses the password of an account from one address delays the owner only at that
/// address. Only attempts from many addresses delay everyone who names the account. Attempts from
/// one address cannot do so. After the free attempts, the address soon gets at most one attempt a
/// minute for the account. In a minute the count of the account falls by one.
///
/// An attempt counts as wrong from its beginning until it has succeeded. So many simultaneous
/// attempts get no more guesses than the same number one after the other. A count, with the time of
/// its last attempt, is a history. The rules take histories as arguments, because servers that
/// share a store keep them in the store, and not in this value.
package struct AttemptLimiter {
  /// The decision about an attempt.
  package enum Verdict: Sendable, Hashable {
    /// The attempt may begin. It counts as wrong until ``AttemptLimiter/succeeded(_:)``.
    case allowed
    /// The attempt must not begin before this number of seconds has passed. The refused attempt
    /// does not count.
    case wait(seconds: Double)
  }

  /// Wrong attempts for an account from one address before the first wait there.
  static let freeForAccountAtAddress = 5
  /// Wrong attempts for an account from all addresses before the first wait for everyone.
  static let freeForAccount = 50
  /// Seconds after which the count of an account from all addresses falls by one, if no attempt is
  /// made.
  static let accountRecovery = 60.0
  /// Wrong attempts from an address, for all accounts, before the first wait. People share
  /// addresses, so this number is larger than ``freeForAccountAtAddress``.
  static let freeForAddress = 20
  /// The longest wait in seconds for an account, from one address or from all addresses. It is
  /// short, so that the guesses of others do not lock out the owner.
  static let longestWaitForAccount = 60.0
  /// The longest wait for an address in seconds.
  static let longestWaitForAddress = 900.0
  /// Seconds without an attempt after which a count is forgotten.
  static let memory = 3600.0

  /// The subject of a count.
  enum Subject: Sendable, Hashable {
    /// An account, from all addresses.
    case account(String)
    /// An account, from one address.
    case accountAtAddress(account: String, address: String)
    /// An address, for all accounts.
    case address(String)

    /// The number of wrong attempts before the first wait.
    fileprivate var free: Int {
      switch self {
      case .accountAtAddress: AttemptLimiter.freeForAccountAtAddress
      case .account: AttemptLimiter.freeForAccount
      case .address: AttemptLimiter.freeForAddress
      }
    }

    /// The longest wait in seconds.
    fileprivate var longestWait: Double {
      switch self {
      case .account, .accountAtAddress: AttemptLimiter.longestWaitForAccount
      case .address: AttemptLimiter.longestWaitForAddress
      }
    }
  }

  /// Returns the subjects for which an attempt counts. An attempt without an account, such as one
  /// with an admin key, counts for its address only.
  static func subjects(account: String?, address: String) -> [Subject] {
    (account.map { [.account($0), .accountAtAddress(account: $0, address: address)] } ?? [])
      + [.address(address)]
  }

  /// The histories of a server that uses its store alone, by subject.
  private var histories: [Subject: AttemptHistory] = [:]
  private let capacity: Int

  /// Creates the limiter without any counts.
  ///
  /// - Parameter capacity: the most subjects in memory. At the limit the limiter removes the
  ///   subjects without an attempt for an hour. If there are none, it removes the subject whose
  ///   last attempt is the oldest.
  init(capacity: Int = 20_000) {
    self.capacity = capacity
  }

  /// Decides whether an attempt may begin. An admitted attempt counts as wrong until
  /// ``succeeded(_:)``.
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

  /// Records that an admitted attempt was right. The count of the account at its address is
  /// removed, and the other counts fall by one.
  mutating func succeeded(_ subjects: [Subject]) {
    var found = subjects.map { histories[$0] }
    Self.succeeded(subjects, &found)
    for (subject, history) in zip(subjects, found) { histories[subject] = history }
  }

  /// Removes subjects, so that there is space for a new one.
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
  /// Decides whether an attempt may begin, by the histories of its subjects.
  ///
  /// The first wait lasts one second. The wait doubles with each further wrong attempt, up to the
  /// subject's limit.
  ///
  /// - Parameter histories: the histories of the subjects, in the order of `subjects`; nil for a
  ///   subject without a history. They change only if the attempt may begin.
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

  /// Changes the histories of the subjects of an attempt that was right.
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

  /// Returns the seconds that a subject must still wait; 0 or less if it may try now.
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
