import CloudKitModel
import SQLEngine

/// The encoding of values in the value index: bytes whose order is that of the values.
///
/// All values of a field have one type, so a key does not name it. Numbers and timestamps are
/// eight bytes. Strings and record names are UTF-8, truncated after ``textLimit``. A location is
/// its band of latitude, a tenth of a degree wide, its longitude, and its latitude within the
/// band.
///
/// The words of a searchable text have keys like texts, under a field number of their own
/// (``RecordTypeEntry/Field/tokenNumber``).
enum ValueKey {
  /// The most bytes of a text's key. A key of this length stands for all texts that begin so.
  static let textLimit = 96
  /// The most different members of a list that are indexed. A longer list has only the key
  /// ``longList``.
  static let listLimit = 1_000
  /// No value has this key: it is neither a number's eight bytes nor UTF-8.
  static let longList: [UInt8] = [0xFF]
  /// Greater than every key of a value.
  static let greatest = [UInt8](repeating: 0xFF, count: 9)

  /// Returns keys sorted, each once. Values that no filter finds, such as bytes and NaN, have
  /// none.
  static func keys(of value: RecordValue) -> [[UInt8]] {
    guard case .list(_, let elements) = value else { return key(of: value).map { [$0] } ?? [] }
    return limited(Set(elements.compactMap { key(of: $0) }))
  }

  private static func limited(_ keys: Set<[UInt8]>) -> [[UInt8]] {
    keys.count > listLimit ? [longList] : keys.sorted { $0.lexicographicallyPrecedes($1) }
  }

  static func key(of value: RecordValue) -> [UInt8]? {
    var key: [UInt8] = []
    return append(keyOf: value, to: &key) ? key : nil
  }

  /// Returns false, without a change, if the value has no key: bytes, an asset, a list, or NaN.
  static func append(keyOf value: RecordValue, to bytes: inout [UInt8]) -> Bool {
    switch value {
    case .string(let text): bytes.append(contentsOf: text.utf8.prefix(textLimit))
    case .reference(let reference):
      bytes.append(contentsOf: reference.recordName.utf8.prefix(textLimit))
    case .int64(let integer): append(bits(of: integer), to: &bytes)
    case .timestamp(let timestamp): append(bits(of: timestamp.milliseconds), to: &bytes)
    case .double(let double):
      guard let bits = bits(of: double) else { return false }
      append(bits, to: &bytes)
    case .location(let location): bytes += key(of: location)
    case .bytes, .preciseTimestamp, .asset, .list: return false
    }
    return true
  }

  /// The key may end within a character.
  static func key(of text: String) -> [UInt8] { Array(text.utf8.prefix(textLimit)) }

  /// Eight bytes, big-endian, with the sign bit inverted.
  static func key(of integer: Int64) -> [UInt8] { bigEndian(bits(of: integer)) }

  /// nil for NaN, which has no order. Both zeros have one key.
  ///
  /// A positive number has the sign bit set, a negative one all bits inverted, so the bytes have
  /// the order of the numbers.
  static func key(of double: Double) -> [UInt8]? { bits(of: double).map(bigEndian) }

  /// Unsigned numbers have the order of the integers.
  private static func bits(of integer: Int64) -> UInt64 { UInt64(bitPattern: integer) ^ (1 << 63) }

  /// Unsigned numbers have the order of the doubles; nil for NaN.
  private static func bits(of double: Double) -> UInt64? {
    guard !double.isNaN else { return nil }
    let bits = (double == 0 ? 0 : double).bitPattern
    return bits >> 63 == 1 ? ~bits : bits | (1 << 63)
  }

  /// Sorted, each once. A value with more than ``listLimit`` different words has only the key
  /// ``longList``.
  static func tokenKeys(of value: RecordValue) -> [[UInt8]] {
    limited(Set(TextTokens.of(value).map { key(of: $0) }))
  }

  /// Eight bytes: two for the band of latitude, four for the longitude, two for the latitude
  /// within the band.
  static func key(of location: Location) -> [UInt8] {
    let band = band(location.latitude)
    let share = min(1, max(0, (location.latitude + 90) * 10 - Double(band)))
    let rest = UInt16(share * Double(UInt16.max))
    return key(ofBand: band, longitude: location.longitude) + [
      UInt8(rest >> 8), UInt8(rest & 0xFF),
    ]
  }

  /// The greatest error of a key's location, in metres. A step of latitude is 0.17 m, and a
  /// step of longitude at most 0.01 m.
  static let locationError = 0.5

  /// Degrees of a key given as ``IndexKey/head``, up to ``locationError`` from the true location.
  static func coordinates(of key: UInt64) -> (latitude: Double, longitude: Double) {
    let band = key >> 48
    let longitude = key >> 16 & UInt64(UInt32.max)
    let rest = key & UInt64(UInt16.max)
    return (
      (Double(band) + Double(rest) / Double(UInt16.max)) / 10 - 90,
      Double(longitude) / Double(UInt32.max) * 360 - 180
    )
  }

  /// From 0 (south) to 1800 (north). Latitudes outside of -90 to 90 degrees count as the nearest
  /// pole.
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

  private static func append(_ bits: UInt64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: bits.bigEndian) { bytes.append(contentsOf: $0) }
  }
}

/// A key of ``ValueKey``. One of at most eight bytes, such as that of a number or a location,
/// needs no memory of its own.
struct IndexKey: Hashable {
  /// Eight bytes in big-endian order, padded with zeros.
  let head: UInt64
  let count: Int
  private let rest: [UInt8]

  init(_ bytes: UnsafeRawBufferPointer) {
    count = bytes.count
    if bytes.count >= 8 {
      head = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
      rest = bytes.count > 8 ? Array(bytes[8...]) : []
    } else {
      var head: UInt64 = 0
      for byte in bytes { head = head << 8 | UInt64(byte) }
      self.head = head << UInt64(8 * (8 - bytes.count))
      rest = []
    }
  }

  init(_ bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { IndexKey($0) }
  }

  var bytes: [UInt8] {
    withUnsafeBytes(of: head.bigEndian) { Array($0.prefix(count)) } + rest
  }
}

extension SQLRow {
  func key(_ column: Int32) -> IndexKey { IndexKey(buffer(column)) }
}
