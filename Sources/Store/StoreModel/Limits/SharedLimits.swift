import CloudKitModel

/// The limits that servers sharing a store count together: requests and sign-in attempts.
///
/// All times are those of the store's clock, so the clocks of the servers need not agree. The calls
/// run on a connection and a thread of their own. They throw ``StoreError``, such as
/// ``StoreError/Code/unreachable`` if the database server cannot be reached.
public protocol SharedLimits: Sendable {
  /// Draws permitted requests from a caller's bucket (``AllowanceDraw``). Two draws never get the
  /// same request, also not on different servers.
  func draw(_ draw: AllowanceDraw) async throws -> Allowance
  /// Calls `decide` with the histories of an attempt's subjects, stores the histories as `decide`
  /// has changed them, and returns the result. The subjects are locked meanwhile, so no other
  /// server decides about them at the same time.
  ///
  /// - Parameter decide: gets the present time, and the histories in the order of `subjects`; nil
  ///   for a subject without wrong attempts. To delete a history, the function sets it to nil.
  ///   After a lost connection, the function may be called again.
  func attempt<Verdict: Sendable>(
    by subjects: [LimitSubject],
    _ decide: @escaping @Sendable (inout [AttemptHistory?], Timestamp) -> Verdict
  ) async throws -> Verdict
}

/// A subject of a limit: a caller, an account, or a network address. The store has only the first
/// half of a SHA-256 hash of its name. So the names that people tried stay secret, and all subjects
/// have the same size.
public struct LimitSubject: Sendable, Hashable {
  /// The number of bytes of a subject.
  public static let size = 16

  /// The first 16 bytes of the SHA-256 hash of the subject's name.
  public var hash: [UInt8]

  /// Creates a subject from a hash.
  ///
  /// - Parameter hash: its first ``size`` bytes are used.
  public init(hash: some Sequence<UInt8>) {
    self.hash = Array(hash.prefix(Self.size))
  }
}

/// The recent sign-in attempts of one subject: an account, a network address, or a pair of both.
public struct AttemptHistory: Sendable, Hashable {
  /// The number of failed attempts and attempts under way. An attempt counts from its beginning,
  /// and no longer counts if it succeeds.
  public var wrong: Int
  /// The time at which the last attempt began.
  public var last: Timestamp

  /// Creates a history, by default one without a wrong attempt.
  public init(wrong: Int = 0, last: Timestamp) {
    self.wrong = wrong
    self.last = last
  }
}

/// A *draw*: a server's request for permitted requests from a bucket that several servers share. A
/// bucket belongs to one caller, and its content is the number of requests that the caller may make
/// now. The content rises with time, up to the bucket's capacity (a token bucket).
///
/// For example, a bucket has an interval of one second and a capacity of 10. The caller may make
/// one request a second, and 10 requests at once after a pause of 10 seconds.
public struct AllowanceDraw: Sendable, Hashable {
  /// The greatest value of ``filling``, in nanoseconds: 100 years.
  static let longestFilling: Int64 = 3_155_760_000 * 1_000_000_000

  /// The caller whose bucket the draw is for.
  public var subject: LimitSubject
  /// The nanoseconds in which a bucket gains one request, at least 1.
  public var interval: Int64
  /// The number of requests in a full bucket, at least 1.
  public var capacity: Int64
  /// The number of requests that wait at the server now, at least 0.
  public var needed: Int64
  /// The number of further requests that the server wants to reserve, so that it needs fewer draws
  /// later. At least 0. To leave some for other servers, the whole draw gets at most half of the
  /// bucket's content, or the ``needed`` requests if these are more.
  public var extra: Int64

  /// Creates a draw. A value outside of its range is replaced by the nearest value of the range.
  ///
  /// - Parameters:
  ///   - interval: 1 nanosecond to 100 years.
  ///   - capacity: at least 1, and at most the number with which an empty bucket fills in 100
  ///     years.
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

  /// Returns the number of requests that a draw gets from a bucket with `available` requests. It
  /// gets all ``needed`` requests if the bucket has as many, and otherwise all that the bucket has.
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

  /// Returns the nanoseconds until the bucket has one request; 0 if it has one now.
  public func wait(after draw: AllowanceDraw) -> Int64 {
    max(0, fullIn - draw.filling + draw.interval)
  }
}
