import CloudKitModel
import Foundation

/// Where a page of a query ended, in the form that clients hand back.
enum QueryContinuation: Equatable {
  /// In the order of the value index.
  ///
  /// - path: The path of those the query's filters open; nil when it is that to all records.
  case scan(path: Int?, AccessPath.Position)
  /// In the order of the query's sort keys.
  case sorted(RecordOrder.Place)

  /// Reads a marker. Throws ``StoreError/Code/badContinuation`` unless it was given for this query.
  init(_ text: String, for query: RecordQuery, sealedBy tokens: TokenCipher) throws {
    let broken = StoreError(
      .badContinuation,
      "the continuation marker does not belong to this query; send the query it was given for, or "
        + "start again without a marker")
    guard let contents = tokens.open(text, as: .continuation), contents.count >= 8 else {
      throw broken
    }
    guard Array(contents.suffix(8)) == Self.digest(of: query) else { throw broken }
    do {
      var decoder = try RowDecoder(Array(contents.dropLast(8)), of: "continuation marker")
      if try decoder.decodeFlag() {
        let values = try decoder.decodeEach { try $0.decodeOptional { try $0.decodeValue() } }
        self = .sorted(RecordOrder.Place(values: values, number: try decoder.decodeInteger()))
        guard values.count == query.query.sortKeys.count else { throw broken }
      } else {
        let path = try decoder.decodeInteger()
        let stretch = try decoder.decodeInteger()
        // Whether there are so many is for those who know the path.
        guard stretch >= 0 else { throw broken }
        self = .scan(
          path: path < 0 ? nil : Int(path),
          AccessPath.Position(
            stretch: Int(stretch), key: try decoder.decodeBytes(),
            number: try decoder.decodeInteger()))
      }
      try decoder.finish()
    } catch {
      throw broken
    }
  }

  func text(for query: RecordQuery, sealedBy tokens: TokenCipher) throws -> String {
    var encoder = RowEncoder()
    switch self {
    case .sorted(let place):
      encoder.encode(true)
      encoder.encode(each: place.values) { $0.encode(optional: $1) { $0.encode($1) } }
      encoder.encode(place.number)
    case .scan(let path, let position):
      encoder.encode(false)
      encoder.encode(path.map { Int64($0) } ?? -1)
      encoder.encode(Int64(position.stretch))
      encoder.encode(position.key)
      encoder.encode(position.number)
    }
    return try tokens.seal(encoder.bytes + Self.digest(of: query), as: .continuation)
  }

  /// FNV-1a, 64 bits, over the query: a marker says where to go on in the one that it was given for, and
  /// nobody can change what is sealed.
  private static func digest(of query: RecordQuery) -> [UInt8] {
    var encoder = RowEncoder()
    encoder.encode(query.query)
    encoder.encode(optional: query.zoneID) { $0.encode($1) }
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in encoder.bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return withUnsafeBytes(of: hash.bigEndian) { Array($0) }
  }
}
