import CloudKitModel

/// What servers that share a store count together: requests, and attempts to sign in.
///
/// The time that counts is the store's own, whatever a server's clock says.
public protocol SharedLimits: Sendable {
  /// Takes requests out of a caller's bucket, which all servers take from.
  func draw(_ draw: AllowanceDraw) async throws -> Allowance
  /// Decides about an attempt to sign in by what came before, while nobody else does so for these
  /// subjects, and keeps what `decide` makes of their histories.
  ///
  /// - Parameter decide: is given the histories in the order of `subjects`, nil for a subject without
  ///   one, and the time. It may be called again when the connection was lost.
  func attempt<Verdict: Sendable>(
    by subjects: [LimitSubject],
    _ decide: @escaping @Sendable (inout [AttemptHistory?], Timestamp) -> Verdict
  ) async throws -> Verdict
}

/// Someone for whom something is counted, as the first half of a SHA-256 hash: names that are tried in
/// vain are nobody's business, and may be anything.
public struct LimitSubject: Sendable, Hashable {
  public static let size = 16

  public var hash: [UInt8]

  /// - Parameter hash: ``size`` bytes of it count.
  public init(hash: some Sequence<UInt8>) {
    self.hash = Array(hash.prefix(Self.size))
  }
}
