import CloudKitModel
import Foundation

/// The decoder of the bytes that ``ContentEncoder`` writes.
///
/// The bytes never leave the process, so the decoder does not validate them. Bytes that the encoder
/// did not write stop the program or give wrong values.
struct ContentDecoder {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  static func kind(_ bytes: UnsafeRawBufferPointer) -> Subscription.Kind {
    var decoder = ContentDecoder(bytes: bytes)
    return decoder.kind()
  }

  static func notificationInfo(_ bytes: UnsafeRawBufferPointer) -> NotificationInfo {
    var decoder = ContentDecoder(bytes: bytes)
    return decoder.notificationInfo()
  }

  private init(bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  /// Reads the kind of a subscription: a tag (0 query, 1 record zone, 2 database) and its contents.
  private mutating func kind() -> Subscription.Kind {
    switch number() {
    case 0:
      let recordType = text()
      let filters = each { $0.filter() }
      let sortKeys = each {
        SortKey(
          $0.fieldKey(), ascending: $0.flag(), relativeLocation: $0.optional { $0.location() })
      }
      let zoneID = optional { $0.zoneID() }
      return .query(
        Query(recordType: recordType, filters: filters, sortKeys: sortKeys), zoneID: zoneID,
        options: Subscription.Options(rawValue: UInt(bitPattern: number())))
    case 1:
      return .recordZone(zoneID(), recordType: optional { $0.text() })
    default:
      return .database(recordType: optional { $0.text() })
    }
  }

  private mutating func filter() -> Filter {
    let key = fieldKey()
    let comparator = ContentSymbols.comparators[number()]
    let options = Filter.Options(rawValue: UInt8(number()))
    let value = optional { $0.value() }
    return Filter(
      key, comparator, value, distance: optional { $0.double() }, options: options)
  }

  private mutating func fieldKey() -> FieldKey {
    switch number() {
    case 0: .field(text())
    case 1: .system(ContentSymbols.systemFields[number()])
    default: .allText
    }
  }

  /// Reads a record value: a tag from 0 to 8 and its contents. Tag 8 is a list.
  private mutating func value() -> RecordValue {
    switch number() {
    case 0:
      return .string(text())
    case 1:
      return .int64(Int64(number()))
    case 2:
      return .double(double())
    case 3:
      return .timestamp(timestamp())
    case 4:
      let count = number()
      defer { position += count }
      return .bytes(Data(bytes[position..<position + count]))
    case 5:
      return .location(location())
    case 6:
      let recordName = text()
      let zoneID = optional { $0.zoneID() }
      return .reference(
        Reference(
          recordName: recordName, zoneID: zoneID, action: ContentSymbols.actions[number()]))
    case 7:
      let (checksum, size) = (text(), number())
      let texts = (0..<4).map { _ in optional { $0.text() } }
      return .asset(
        Asset(
          fileChecksum: checksum, size: Int64(size), referenceChecksum: texts[0],
          wrappingKey: texts[1], receipt: texts[2], downloadURL: texts[3]))
    default:
      let element = ContentSymbols.valueTypes[number()]
      return .list(of: element, each { $0.value() })
    }
  }

  private mutating func location() -> Location {
    let (latitude, longitude) = (double(), double())
    let rest = (0..<5).map { _ in optional { $0.double() } }
    return Location(
      latitude: latitude, longitude: longitude, horizontalAccuracy: rest[0],
      verticalAccuracy: rest[1], altitude: rest[2], speed: rest[3], course: rest[4],
      timestamp: optional { $0.timestamp() })
  }

  private mutating func zoneID() -> ZoneID {
    let zoneName = text()
    return ZoneID(zoneName: zoneName, ownerName: text())
  }

  private mutating func notificationInfo() -> NotificationInfo {
    var info = NotificationInfo()
    for path in ContentSymbols.texts { info[keyPath: path] = optional { $0.text() } }
    for path in ContentSymbols.lists {
      info[keyPath: path] = optional { $0.each { $0.text() } }
    }
    for path in ContentSymbols.flags { info[keyPath: path] = flag() }
    return info
  }

  private mutating func timestamp() -> Timestamp { Timestamp(milliseconds: Int64(number())) }

  private mutating func flag() -> Bool { number() == 1 }

  private mutating func optional<Value>(_ decode: (inout ContentDecoder) -> Value) -> Value? {
    flag() ? decode(&self) : nil
  }

  private mutating func each<Value>(_ decode: (inout ContentDecoder) -> Value) -> [Value] {
    let count = number()
    return (0..<count).map { _ in decode(&self) }
  }

  private mutating func text() -> String {
    let count = number()
    defer { position += count }
    return String(decoding: bytes[position..<position + count], as: UTF8.self)
  }

  /// Reads the eight bytes of a bit pattern in the machine's byte order.
  private mutating func double() -> Double {
    defer { position += 8 }
    return Double(
      bitPattern: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
  }

  /// Reads an integer of one to ten bytes, in the format of ``ContentEncoder``: zigzag, seven bits
  /// a byte.
  private mutating func number() -> Int {
    var (bits, shift) = (UInt(0), 0)
    while true {
      let byte = bytes[position]
      position += 1
      bits |= UInt(byte & 0x7F) << UInt(shift)
      shift += 7
      if byte < 0x80 { break }
    }
    return Int(bitPattern: bits >> 1) ^ -Int(bitPattern: bits & 1)
  }
}
