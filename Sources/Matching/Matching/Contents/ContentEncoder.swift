import CloudKitModel
import Foundation

/// The encoder of the kind of a subscription, of a filter, or of a notification info.
///
/// The encoding is compact and injective: ``ContentDecoder`` restores an equal value, and different
/// values have different bytes. Equal bytes therefore mean equal contents. The bytes exist only in
/// memory, so their format may change at any time.
struct ContentEncoder {
  private(set) var bytes: [UInt8] = []

  /// Returns the encoding of a kind.
  ///
  /// - Complexity: O(*n*), where *n* is the size of the kind in bytes.
  static func bytes(of kind: Subscription.Kind) -> [UInt8] {
    var encoder = ContentEncoder()
    encoder.add(kind)
    return encoder.bytes
  }

  static func bytes(of filter: Filter) -> [UInt8] {
    var encoder = ContentEncoder()
    encoder.add(filter)
    return encoder.bytes
  }

  static func bytes(of info: NotificationInfo) -> [UInt8] {
    var encoder = ContentEncoder()
    encoder.add(info)
    return encoder.bytes
  }

  private init() {
    bytes.reserveCapacity(128)
  }

  /// Writes a tag (0 query, 1 record zone, 2 database) and the contents of the kind.
  private mutating func add(_ kind: Subscription.Kind) {
    switch kind {
    case .query(let query, let zoneID, let options):
      add(0)
      add(query.recordType)
      add(query.filters.count)
      for filter in query.filters { add(filter) }
      add(query.sortKeys.count)
      for key in query.sortKeys {
        add(key.key)
        add(key.ascending ? 1 : 0)
        add(optional: key.relativeLocation) { $0.add($1) }
      }
      add(optional: zoneID) { $0.add($1) }
      add(Int(bitPattern: options.rawValue))
    case .recordZone(let zoneID, let recordType):
      add(1)
      add(zoneID)
      add(optional: recordType) { $0.add($1) }
    case .database(let recordType):
      add(2)
      add(optional: recordType) { $0.add($1) }
    }
  }

  private mutating func add(_ filter: Filter) {
    add(filter.key)
    add(ContentSymbols.comparators.firstIndex(of: filter.comparator) ?? 0)
    add(Int(filter.options.rawValue))
    add(optional: filter.value) { $0.add($1) }
    add(optional: filter.distance) { $0.add($1) }
  }

  /// Writes a tag (0 own field, 1 system field, 2 all text) and the name or number of the field.
  private mutating func add(_ key: FieldKey) {
    switch key {
    case .field(let name):
      add(0)
      add(name)
    case .system(let field):
      add(1)
      add(ContentSymbols.systemFields.firstIndex(of: field) ?? 0)
    case .allText:
      add(2)
    }
  }

  /// Writes a tag from 0 to 8 and the contents of the value. A list (8) also has the type of its
  /// elements.
  private mutating func add(_ value: RecordValue) {
    switch value {
    case .string(let text):
      add(0)
      add(text)
    case .int64(let integer):
      add(1)
      add(Int(integer))
    case .double(let double):
      add(2)
      add(double)
    case .timestamp(let timestamp):
      add(3)
      add(Int(timestamp.milliseconds))
    case .preciseTimestamp(let precise):
      // Only encrypted fields have such dates, and matching does not read them.
      add(3)
      add(Int(precise.timestamp.milliseconds))
    case .bytes(let data):
      add(4)
      add(data.count)
      bytes.append(contentsOf: data)
    case .location(let location):
      add(5)
      add(location)
    case .reference(let reference):
      add(6)
      add(reference.recordName)
      add(optional: reference.zoneID) { $0.add($1) }
      add(ContentSymbols.actions.firstIndex(of: reference.action) ?? 0)
    case .asset(let asset):
      add(7)
      add(asset.fileChecksum)
      add(Int(asset.size))
      for text in [asset.referenceChecksum, asset.wrappingKey, asset.receipt, asset.downloadURL] {
        add(optional: text) { $0.add($1) }
      }
    case .list(let element, let values):
      add(8)
      add(ContentSymbols.valueTypes.firstIndex(of: element) ?? 0)
      add(values.count)
      for value in values { add(value) }
    }
  }

  private mutating func add(_ location: Location) {
    add(location.latitude)
    add(location.longitude)
    let rest = [
      location.horizontalAccuracy, location.verticalAccuracy, location.altitude, location.speed,
      location.course,
    ]
    for number in rest { add(optional: number) { $0.add($1) } }
    add(optional: location.timestamp) { $0.add(Int($1.milliseconds)) }
  }

  private mutating func add(_ zoneID: ZoneID) {
    add(zoneID.zoneName)
    add(zoneID.ownerName)
  }

  private mutating func add(_ info: NotificationInfo) {
    for path in ContentSymbols.texts { add(optional: info[keyPath: path]) { $0.add($1) } }
    for path in ContentSymbols.lists {
      add(optional: info[keyPath: path]) { encoder, texts in
        encoder.add(texts.count)
        for text in texts { encoder.add(text) }
      }
    }
    for path in ContentSymbols.flags { add(info[keyPath: path] ? 1 : 0) }
  }

  private mutating func add<Value>(
    optional value: Value?, _ encode: (inout ContentEncoder, Value) -> Void
  ) {
    guard let value else { return add(0) }
    add(1)
    encode(&self, value)
  }

  private mutating func add(_ text: String) {
    add(text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  /// Writes the eight bytes of the bit pattern in the machine's byte order. A NaN keeps its bits.
  private mutating func add(_ double: Double) {
    withUnsafeBytes(of: double.bitPattern) { bytes.append(contentsOf: $0) }
  }

  /// Writes an integer in one to ten bytes: zigzag (the sign is the lowest bit), then seven bits a
  /// byte from the lowest. Numbers near 0 are short.
  private mutating func add(_ number: Int) {
    var rest = UInt(bitPattern: number << 1 ^ number >> (Int.bitWidth - 1))
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// The enumerations and key paths that have a number in encoded content.
///
/// The number of an element is its index in the array. The encoded bytes exist only in memory, so
/// the order may change between releases.
enum ContentSymbols {
  static let comparators = CloudKitModel.Comparator.allCases
  static let systemFields = SystemField.allCases
  static let valueTypes = ValueType.allCases
  static let actions = Reference.Action.allCases

  static var texts: [WritableKeyPath<NotificationInfo, String?>] {
    [
      \.alertBody, \.alertLocalizationKey, \.title, \.titleLocalizationKey, \.subtitle,
      \.subtitleLocalizationKey, \.alertActionLocalizationKey, \.alertLaunchImage, \.soundName,
      \.category, \.collapseIDKey,
    ]
  }

  static var lists: [WritableKeyPath<NotificationInfo, [String]?>] {
    [\.alertLocalizationArgs, \.titleLocalizationArgs, \.subtitleLocalizationArgs, \.desiredKeys]
  }

  static var flags: [WritableKeyPath<NotificationInfo, Bool>] {
    [\.shouldBadge, \.shouldSendContentAvailable, \.shouldSendMutableContent]
  }
}
