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
