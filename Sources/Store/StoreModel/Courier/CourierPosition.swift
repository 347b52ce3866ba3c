/// A position in the notification log that a web courier reader sends with its polls. It has, for
/// each database, the sequence of the last log entry that the reader has read. It is independent of
/// the reader's cursors, which the store keeps for the reader's token.
///
/// A client gets the position as an encrypted text. Before the encryption, the text is for example
/// `3-120.7-4`: `3` and `7` are databases, `120` and `4` are sequences.
public struct CourierPosition: Sendable, Hashable {
  /// The most databases in a position. A container notifies a user from few databases (public,
  /// private, shared), and a reader listens in few containers.
  private static let limit = 48

  /// A database without a read entry has no element.
  public private(set) var sequences: [DatabaseID: Int64] = [:]

  /// Creates the empty position, with which the reader gets the entries after the store's cursors.
  public init() {}

  /// Returns nil for a text that no server of this store made, or with more than 48 databases.
  public init?(_ text: String, sealedBy tokens: TokenCipher) {
    guard let contents = tokens.open(text, as: .courierPosition) else { return nil }
    self.init(String(decoding: contents, as: UTF8.self))
  }

  /// Encrypts the position for a client, which returns it with its next poll.
  ///
  /// - Throws: an error of ``TokenCipher/seal(_:as:isRepeatable:)``.
  public func text(sealedBy tokens: TokenCipher) throws -> String {
    try tokens.seal(Array(text.utf8), as: .courierPosition)
  }

  init?(_ text: String) {
    let places = text.split(separator: ".", omittingEmptySubsequences: false)
    guard places.count <= Self.limit else { return nil }
    for place in places {
      let numbers = place.split(separator: "-", omittingEmptySubsequences: false)
      guard numbers.count == 2, let database = Int64(numbers[0]), let sequence = Int64(numbers[1]),
        database > 0, sequence > 0
      else { return nil }
      sequences[DatabaseID(rawValue: database)] = sequence
    }
  }

  var text: String {
    sequences.sorted { $0.key < $1.key }.map { "\($0.key.rawValue)-\($0.value)" }
      .joined(separator: ".")
  }

  /// Whether the reader has read this entry, so that it does not follow the position.
  public func covers(_ entry: LogEntry) -> Bool {
    sequences[entry.database].map { entry.sequence <= $0 } ?? false
  }

  /// Sets the position in the entry's database to this entry.
  public mutating func pass(_ entry: LogEntry) {
    sequences[entry.database] = entry.sequence
  }
}
