import CloudKitModel

/// Slows down who guesses passwords or keys: after a few wrong ones for an account, or some more from an
/// address, each further one has to wait twice as long as the one before.
///
/// An attempt counts as wrong from its beginning, so that many at the same moment gain nothing.
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

  private enum Subject: Hashable {
    case account(String)
    case address(String)

    var free: Int {
      switch self {
      case .account: AttemptLimiter.freeForAccount
      case .address: AttemptLimiter.freeForAddress
      }
    }

    var longestWait: Double {
      switch self {
      case .account: AttemptLimiter.longestWaitForAccount
      case .address: AttemptLimiter.longestWaitForAddress
      }
    }
  }

  private struct History {
    var wrong = 0
    var last: Timestamp
  }

  private var histories: [Subject: History] = [:]
  private let capacity: Int

  /// - Parameter capacity: accounts and addresses that are remembered. At the limit those that were
  ///   quiet for an hour are forgotten; if there are none, the one that was quiet for longest.
  init(capacity: Int = 20_000) {
    self.capacity = capacity
  }

  /// Whether an attempt may begin; one that may counts as wrong until ``succeeded(account:address:)``.
  mutating func begin(account: String, address: String, at now: Timestamp) -> Verdict {
    let subjects: [Subject] = [.account(account), .address(address)]
    let wait = subjects.map { remainingWait(of: $0, at: now) }.max() ?? 0
    guard wait <= 0 else { return .wait(seconds: wait) }
    for subject in subjects { count(subject, at: now) }
    return .allowed
  }

  /// The attempt that began last was right: the account is as new, and the address as before.
  mutating func succeeded(account: String, address: String) {
    histories[.account(account)] = nil
    succeeded(address: address)
  }

  /// Whether an attempt may begin that names no account, such as one with a key.
  mutating func begin(address: String, at now: Timestamp) -> Verdict {
    let wait = remainingWait(of: .address(address), at: now)
    guard wait <= 0 else { return .wait(seconds: wait) }
    count(.address(address), at: now)
    return .allowed
  }

  /// The attempt without an account that began last was right.
  mutating func succeeded(address: String) {
    guard let wrong = histories[.address(address)]?.wrong else { return }
    histories[.address(address)]?.wrong = max(0, wrong - 1)
  }

  private func remainingWait(of subject: Subject, at now: Timestamp) -> Double {
    guard let history = histories[subject] else { return 0 }
    let quiet = now.seconds - history.last.seconds
    guard quiet < Self.memory, history.wrong >= subject.free else { return 0 }
    let doublings = min(history.wrong - subject.free, 10)
    return min(Double(1 << doublings), subject.longestWait) - quiet
  }

  private mutating func count(_ subject: Subject, at now: Timestamp) {
    var history = histories[subject] ?? History(last: now)
    if now.seconds - history.last.seconds >= Self.memory { history.wrong = 0 }
    history.wrong += 1
    history.last = now
    if histories[subject] == nil, histories.count >= capacity { makeRoom(at: now) }
    histories[subject] = history
  }

  private mutating func makeRoom(at now: Timestamp) {
    histories = histories.filter { now.seconds - $0.value.last.seconds < Self.memory }
    guard histories.count >= capacity,
      let quietest = histories.min(by: { $0.value.last < $1.value.last })?.key
    else { return }
    histories[quietest] = nil
  }
}
