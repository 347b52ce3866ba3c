import CloudKitModel
import Cryptography
import Foundation
import StoreModel

/// A position in the results of a query: the end of one page, after which the next page begins.
///
/// A client gets the position as an encrypted text, the *continuation marker*, and sends the marker
/// to get the next page. The marker is valid for one ``Scope`` only, so it cannot be used for
/// another query or by another user.
enum QueryContinuation: Equatable {
  /// A position in the order of the value index, for a query without sort keys.
  ///
  /// - path: the index of the path that the query follows (``AccessPath``), among the paths of the
  ///   query's filters; nil for the path to all records of the type.
  case scan(path: Int?, AccessPath.Position)
  /// A position in the order of the query's sort keys, or of the record numbers.
  case sorted(RecordOrder.Place)

  /// The scope in which a continuation is valid: one query of one caller in one database. If the
  /// caller may read more or fewer records than before, the scope is another one.
  struct Scope {
    /// The query, its zone and its caller.
    private let query: RecordQuery
    private let database: DatabaseID
    /// The records that the caller may read: all, or only those that the caller created.
    private let reach: RecordAccess.Reach

    /// Creates the scope of a query.
    init(_ query: RecordQuery, in database: DatabaseID, reach: RecordAccess.Reach) {
      self.query = query
      self.database = database
      self.reach = reach
    }

    /// The number of the query's sort keys.
    var keyCount: Int { query.query.sortKeys.count }

    /// The first 16 bytes of the SHA-256 of the scope.
    var digest: [UInt8] {
      var encoder = RowEncoder()
      encoder.encode(query.query)
      encoder.encode(optional: query.zoneID) { $0.encode($1) }
      encoder.encode(database.rawValue)
      encoder.encode(optional: query.caller.userRecordName)
      encoder.encode(query.caller.isAdministrator)
      encoder.encode(reach == .own)
      return Array(SHA256.hash(encoder.bytes).prefix(16))
    }
  }

  /// The error for a continuation marker of another scope, or for a text that is no marker of this
  /// store.
  static let foreign = StoreError(
    .badContinuation,
    "continuationMarker: the marker does not belong to this query of this caller in this database; "
      + "send the query that returned the marker, or start again without a marker")

  /// Decrypts a continuation marker.
  ///
  /// - Throws: ``StoreError/Code/badContinuation`` unless the store made the marker for this scope.
  init(_ text: String, of scope: Scope, sealedBy tokens: TokenCipher) throws {
    let digest = scope.digest
    let tailSize = Self.numberSize + digest.count
    guard let contents = tokens.open(text, as: .continuation), contents.count >= tailSize,
      contents.suffix(digest.count).elementsEqual(digest)
    else { throw Self.foreign }
    let number = contents.suffix(tailSize).prefix(Self.numberSize).reduce(0) { $0 << 8 | Int64($1) }
    do {
      var decoder = try RowDecoder(Array(contents.dropLast(tailSize)), of: "continuation marker")
      if try decoder.decodeFlag() {
        let values = try decoder.decodeEach { try $0.decodeOptional { try RecordValue(from: &$0) } }
        guard values.count == scope.keyCount else { throw Self.foreign }
        self = .sorted(RecordOrder.Place(values: values, number: number))
      } else {
        let path = try decoder.decodeInteger()
        let stretch = try decoder.decodeInteger()
        // The caller checks the upper bound, because only the caller knows the path.
        guard stretch >= 0 else { throw Self.foreign }
        self = .scan(
          path: path < 0 ? nil : Int(path),
          AccessPath.Position(
            stretch: Int(stretch), key: try decoder.decodeBytes(), number: number))
      }
      try decoder.finish()
    } catch {
      throw Self.foreign
    }
  }

  /// Returns the continuation marker: position, record number and the scope's digest, encrypted.
  func text(of scope: Scope, sealedBy tokens: TokenCipher) throws -> String {
    var encoder = RowEncoder()
    let number: Int64
    switch self {
    case .sorted(let place):
      encoder.encode(true)
      encoder.encode(each: place.values) { $0.encode(optional: $1) { $0.encode($1) } }
      number = place.number
    case .scan(let path, let position):
      encoder.encode(false)
      encoder.encode(path.map { Int64($0) } ?? -1)
      encoder.encode(Int64(position.stretch))
      encoder.encode(position.key)
      number = position.number
    }
    let tail = withUnsafeBytes(of: number.bigEndian) { Array($0) } + scope.digest
    return try tokens.seal(encoder.bytes + tail, as: .continuation)
  }

  /// The size of an encoded record number in bytes. The size is fixed: otherwise the length of a
  /// marker would show how large the record numbers of the database are.
  private static let numberSize = 8
}
