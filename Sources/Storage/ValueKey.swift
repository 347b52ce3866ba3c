import CloudKitModel

/// The form in which values stand in the value index: bytes whose order is that of the values.
///
/// All values of a field are of one type, so a key does not name it. Numbers and timestamps are
/// eight bytes; strings and names of records their UTF-8 bytes, cut after ``textLimit``; locations
/// a cell of a tenth of a degree of latitude, then the longitude.
enum ValueKey {
  /// Bytes of a text that are kept. Keys of this length stand for all texts that begin so.
  static let textLimit = 96
  /// Different members of a list that are indexed; a longer list stands under ``longList`` instead.
  static let listLimit = 1_000
  /// Not the key of any value: neither a number's eight bytes, nor UTF-8.
  static let longList: [UInt8] = [0xFF]
  /// Greater than every key.
  static let greatest = [UInt8](repeating: 0xFF, count: 9)

  /// The keys under which a field's value is found, in order and each once; none for values that
  /// no filter finds, such as bytes and NaN.
  static func keys(of value: RecordValue) -> [[UInt8]] {
    guard case .list(_, let elements) = value else { return key(of: value).map { [$0] } ?? [] }
    let keys = Set(elements.compactMap { key(of: $0) })
    return keys.count > listLimit
      ? [longList] : keys.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The key of a single value.
  static func key(of value: RecordValue) -> [UInt8]? {
    switch value {
    case .string(let text): key(of: text)
    case .int64(let integer): key(of: integer)
    case .double(let double): key(of: double)
    case .timestamp(let timestamp): key(of: timestamp.milliseconds)
    case .reference(let reference): key(of: reference.recordName)
    case .location(let location):
      key(ofBand: band(location.latitude), longitude: location.longitude)
    case .bytes, .asset, .list: nil
    }
  }

  static func key(of text: String) -> [UInt8] { Array(text.utf8.prefix(textLimit)) }

  static func key(of integer: Int64) -> [UInt8] {
    bigEndian(UInt64(bitPattern: integer) ^ (1 << 63))
  }

  /// nil for NaN, which has no order. Both zeros have one key.
  static func key(of double: Double) -> [UInt8]? {
    guard !double.isNaN else { return nil }
    let bits = (double == 0 ? 0 : double).bitPattern
    return bigEndian(bits >> 63 == 1 ? ~bits : bits | (1 << 63))
  }

  /// The band of latitude that a place lies in, 0 to 1800.
  static func band(_ latitude: Double) -> UInt16 {
    UInt16(min(1800, max(0, ((latitude + 90) * 10).rounded(.down))))
  }

  static func key(ofBand band: UInt16, longitude: Double) -> [UInt8] {
    let share = min(1, max(0, (longitude + 180) / 360))
    let fixed = UInt32(share * Double(UInt32.max))
    return [UInt8(band >> 8), UInt8(band & 0xFF)]
      + stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: fixed >> UInt32($0)) }
  }

  private static func bigEndian(_ bits: UInt64) -> [UInt8] {
    withUnsafeBytes(of: bits.bigEndian) { Array($0) }
  }
}
