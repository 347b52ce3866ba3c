/// A position that a web courier reader brings with its polls, apart from the cursor that the store
/// keeps for its token: the sequence of the last entry read in each database of the user.
///
/// Clients get its text, sealed: `3-120.7-4`, where `3` is a database and `120` a sequence.
public struct CourierPosition: Sendable, Hashable {
  /// The most databases in a position. A container notifies a user from few databases (public,
  /// private, shared), and a reader listens in few containers.
  private static let limit = 48

  /// The sequence of the last entry read in each database. A database of which nothing was read is
  /// absent.
  public private(set) var sequences: [DatabaseID: Int64] = [:]

  /// The position of a reader that relies on the store's cursor.
  public init() {}

  /// Reads a position that the server gave to a client; nil for any other text, and for a position
  /// with more than 48 databases.
  public init?(_ text: String, sealedBy tokens: TokenCipher) {
    guard let contents = tokens.open(text, as: .courierPosition) else { return nil }
    self.init(String(decoding: contents, as: UTF8.self))
  }

  /// Encrypts the position for a client, which returns it with its next poll.
  ///
  /// - Throws: an error of the cipher; ``TokenCipher/seal(_:as:isRepeatable:)``.
  public func text(sealedBy tokens: TokenCipher) throws -> String {
    try tokens.seal(Array(text.utf8), as: .courierPosition)
  }

  /// Reads the unencrypted text, such as `3-120.7-4`; nil if it has another structure or a number
  /// below 1.
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

  /// The unencrypted text, in the order of the databases.
  var text: String {
    sequences.sorted { $0.key < $1.key }.map { "\($0.key.rawValue)-\($0.value)" }
      .joined(separator: ".")
  }

  /// Moves the position past an entry of a database.
  public mutating func pass(_ entry: LogEntry) {
    sequences[entry.database] = entry.sequence
  }
}
