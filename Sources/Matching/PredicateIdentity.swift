import CloudKitModel
import Foundation

/// The bytes that two predicates share exactly when they fire on the same changes for the same
/// reasons: kind, record type, zone, events, and the set of filters whatever their order.
///
/// `Filter` has an equality of its own, but it is that of Swift's strings and doubles: it takes
/// composed and decomposed accents for equal, which filters tell apart, and a NaN for different
/// from itself, so that such a filter could never be found again.
struct PredicateIdentity: Hashable, Sendable {
  private let bytes: [UInt8]

  init(_ kind: Subscription.Kind) {
    var encoder = IdentityEncoder()
    encoder.add(kind)
    bytes = encoder.bytes
  }

  init(_ filter: Filter) {
    var encoder = IdentityEncoder()
    encoder.add(filter)
    bytes = encoder.bytes
  }

  static func < (left: PredicateIdentity, right: PredicateIdentity) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}

/// Writes values so that no two different ones give the same bytes: each text and list bears its
/// length, each alternative a tag.
private struct IdentityEncoder {
  var bytes: [UInt8] = []

  mutating func add(_ kind: Subscription.Kind) {
    switch kind {
    case .query(let query, let zoneID, let options):
      tag(0)
      add(query.recordType)
      addOptional(zoneID) { $0.add($1) }
      add(UInt64(options.rawValue))
      add(UInt64(query.filters.count))
      for filter in query.filters { add(filter) }
    case .recordZone(let zoneID, let recordType):
      tag(1)
      add(zoneID)
      addOptional(recordType) { $0.add($1) }
    case .database(let recordType):
      tag(2)
      addOptional(recordType) { $0.add($1) }
    }
  }

  mutating func add(_ filter: Filter) {
    switch filter.key {
    case .field(let name):
      tag(0)
      add(name)
    case .system(let field):
      tag(1)
      add(field.rawValue)
    case .allText:
      tag(2)
    }
    add(filter.comparator.rawValue)
    addOptional(filter.value) { $0.add($1) }
    addOptional(filter.distance) { $0.add($1) }
    tag(filter.options.rawValue)
  }

  private mutating func add(_ value: RecordValue) {
    add(value.type.name)
    switch value {
    case .string(let text): add(text)
    case .int64(let int): add(UInt64(bitPattern: int))
    case .double(let double): add(double)
    case .timestamp(let timestamp): add(timestamp)
    case .bytes(let data):
      add(UInt64(data.count))
      bytes.append(contentsOf: data)
    case .location(let location): add(location)
    case .reference(let reference):
      add(reference.recordName)
      addOptional(reference.zoneID) { $0.add($1) }
      add(reference.action.rawValue)
    case .asset(let asset):
      // Assets are compared by checksum alone.
      add(asset.fileChecksum)
    case .list(_, let elements):
      add(UInt64(elements.count))
      for element in elements { add(element) }
    }
  }

  /// Places are compared by their coordinates alone.
  private mutating func add(_ location: Location) {
    add(location.latitude)
    add(location.longitude)
  }

  private mutating func add(_ timestamp: Timestamp) {
    add(UInt64(bitPattern: timestamp.milliseconds))
  }

  private mutating func add(_ zoneID: ZoneID) {
    add(zoneID.zoneName)
    add(zoneID.ownerName)
  }

  private mutating func addOptional<Value>(
    _ value: Value?, _ encode: (inout IdentityEncoder, Value) -> Void
  ) {
    guard let value else { return tag(0) }
    tag(1)
    encode(&self, value)
  }

  private mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  private mutating func add(_ double: Double) { add(double.bitPattern) }

  private mutating func add(_ number: UInt64) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func tag(_ byte: UInt8) { bytes.append(byte) }
}
