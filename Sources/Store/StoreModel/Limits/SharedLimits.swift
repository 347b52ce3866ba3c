import CloudKitModel

/// The limits that servers sharing a store count together: requests and sign-in attempts.
///
/// All times are those of the store's clock, so clocks of servers may differ. The calls run on a
/// connection of their own.
public protocol SharedLimits: Sendable {
  /// Takes requests out of a caller's bucket. Draws of several servers never get the same request.
  func draw(_ draw: AllowanceDraw) async throws -> Allowance
  /// Decides about a sign-in attempt by the histories of its subjects, and stores the histories
  /// that `decide` changed. No other server decides about these subjects meanwhile.
  ///
  /// - Parameter decide: gets the histories in the order of `subjects`, nil for a subject without
  ///   one, and the time. It may be called again after a lost connection.
  func attempt<Verdict: Sendable>(
    by subjects: [LimitSubject],
    _ decide: @escaping @Sendable (inout [AttemptHistory?], Timestamp) -> Verdict
  ) async throws -> Verdict
}

/// A subject of a limit, as the first half of a SHA-256 hash. The hash keeps the names that were
/// tried secret, and gives all of them one size.
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
