import CloudKitModel

/// The limits that servers sharing a store count together: requests and sign-in attempts.
///
/// All times are those of the store's clock, so the clocks of the servers need not agree. The
/// calls have a connection and a thread of their own. They throw ``StoreError``, such as
/// ``StoreError/Code/unreachable``.
public protocol SharedLimits: Sendable {
  /// Draws permitted requests from a caller's bucket. Two draws never get the same request, also
  /// not on different servers.
  func draw(_ draw: AllowanceDraw) async throws -> Allowance
  /// Lets `decide` change the histories of an attempt's subjects, stores them, and returns its
  /// result. The subjects are locked meanwhile, so no other server decides about them at the same
  /// time.
  ///
  /// - Parameter decide: gets the present time, and the histories in the order of `subjects`; nil
  ///   for a subject without wrong attempts. Setting nil deletes a history. After a lost
  ///   connection, the function may be called again.
  func attempt<Verdict: Sendable>(
    by subjects: [LimitSubject],
    _ decide: @escaping @Sendable (inout [AttemptHistory?], Timestamp) -> Verdict
  ) async throws -> Verdict
}

/// A subject of a limit: a caller, an account, or a network address. The store has only half of a
/// hash of its name, so the names that people tried stay secret.
public struct LimitSubject: Sendable, Hashable {
  /// The bytes of a subject.
  public static let size = 16

  /// The first 16 bytes of the SHA-256 hash of the subject's name.
  public var hash: [UInt8]

  /// Creates a subject from the first ``size`` bytes of a hash.
  public init(hash: some Sequence<UInt8>) {
    self.hash = Array(hash.prefix(Self.size))
  }
}

/// The recent sign-in attempts of one subject: an account, a network address, or a pair of both.
public struct AttemptHistory: Sendable, Hashable {
  /// The failed attempts and those under way. An attempt no longer counts if it succeeds.
  public var wrong: Int
  /// The time at which the last attempt began.
  public var last: Timestamp

  /// Creates a history, by default without a wrong attempt.
  public init(wrong: Int = 0, last: Timestamp) {
    self.wrong = wrong
    self.last = last
  }
}

/// A *draw*: a server's request for permitted requests from the bucket of a caller, which several
/// servers share. A bucket's content is the requests that the caller may make now; it rises with
/// time up to the capacity (a token bucket).
///
/// For example, a bucket has an interval of one second and a capacity of 10. The caller may make
/// one request a second, and 10 requests at once after a pause of 10 seconds.
public struct AllowanceDraw: Sendable, Hashable {
  /// The longest filling: 100 years in nanoseconds.
  static let longestFilling: Int64 = 3_155_760_000 * 1_000_000_000

  /// The caller whose bucket is drawn from.
  public var subject: LimitSubject
  /// The nanoseconds in which a bucket gains one request, at least 1.
  public var interval: Int64
  /// The number of requests in a full bucket, at least 1.
  public var capacity: Int64
  /// The requests that wait at the server now, at least 0.
  public var needed: Int64
  /// The further requests to reserve, so that later draws are fewer; at least 0. To leave some for
  /// other servers, a draw gets at most half of the bucket's content, or ``needed`` requests if
  /// these are more.
  public var extra: Int64

  /// Creates a draw. A value outside of its range is replaced by the nearest in it.
  ///
  /// - Parameters:
  ///   - interval: 1 nanosecond to 100 years.
  ///   - capacity: 1 to the number with which an empty bucket fills in 100 years.
  public init(
    subject: LimitSubject, interval: Int64, capacity: Int64, needed: Int64, extra: Int64
  ) {
    self.subject = subject
    self.interval = min(max(1, interval), Self.longestFilling)
    self.capacity = min(max(1, capacity), Self.longestFilling / self.interval)
    self.needed = max(0, needed)
    self.extra = max(0, extra)
  }

  /// The nanoseconds in which an empty bucket fills.
  public var filling: Int64 { capacity * interval }

  /// The requests that a draw gets from a bucket with `available` ones: at least all ``needed``
  /// ones, as far as the bucket has them.
  public func granted(of available: Int64) -> Int64 {
    min(available, max(needed, min(needed + extra, available / 2)))
  }
}

/// The result of an ``AllowanceDraw``.
public struct Allowance: Sendable, Hashable {
  /// The number of requests that the caller may make through this server.
  public var granted: Int64
  /// The nanoseconds until the bucket is full, if no server draws from it meanwhile.
  public var fullIn: Int64

  /// Creates the result of a draw.
  public init(granted: Int64, fullIn: Int64) {
    self.granted = granted
    self.fullIn = fullIn
  }

  /// The nanoseconds until the bucket has one request.
  public func wait(after draw: AllowanceDraw) -> Int64 {
    max(0, fullIn - draw.filling + draw.interval)
  }
}
