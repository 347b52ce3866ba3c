import CloudKitModel
import Cryptography
import Foundation
import StoreModel

/// The end of one page in the results of a query.
///
/// A client gets it as an encrypted text, the *continuation marker*, and sends the marker for the
/// next page. The marker is valid for one ``Scope`` only: not for another query or user.
enum QueryContinuation: Equatable {
  /// In the order of the value index, for a query without sort keys.
  ///
  /// - path: the index of the followed ``AccessPath`` among those of the filters; nil for the path
  ///   to all records of the type.
  case scan(path: Int?, AccessPath.Position)
  case sorted(RecordOrder.Place)

  /// One query of one caller in one database. If the caller may read more or fewer records than
  /// before, the scope is another one.
  struct Scope {
    let query: RecordQuery
    let database: DatabaseID
    let reach: RecordAccess.Reach

    var keyCount: Int { query.query.sortKeys.count }

    /// 16 bytes of a SHA-256.
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

  /// The error also for a text that is no marker of this store.
  static let foreign = StoreError(
    .badContinuation,
    "continuationMarker: the marker does not belong to this query of this caller in this database; "
      + "send the query that returned the marker, or start again without a marker")

  /// - Throws: ``StoreError/Code/badContinuation`` unless the store made the marker for this
  ///   scope.
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
        let keyRange = try decoder.decodeInteger()
        // The caller checks the upper bound, because only the caller knows the path.
        guard keyRange >= 0 else { throw Self.foreign }
        self = .scan(
          path: path < 0 ? nil : Int(path),
          AccessPath.Position(
            keyRange: Int(keyRange), key: try decoder.decodeBytes(), number: number))
      }
      try decoder.finish()
    } catch {
      throw Self.foreign
    }
  }

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
      encoder.encode(Int64(position.keyRange))
      encoder.encode(position.key)
      number = position.number
    }
    let tail = withUnsafeBytes(of: number.bigEndian) { Array($0) } + scope.digest
    return try tokens.seal(encoder.bytes + tail, as: .continuation)
  }

  /// Fixed: otherwise the length of a marker would show how large the database's record numbers
  /// are.
  private static let numberSize = 8
}
