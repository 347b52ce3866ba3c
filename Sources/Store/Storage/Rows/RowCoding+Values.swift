import CloudKitModel
import Foundation

extension RowEncoder {
  /// A byte with the ``ValueForm``, then the content. A list is the number of its elements, then
  /// their contents.
  mutating func encode(_ value: RecordValue, isEncrypted: Bool = false) {
    let form = ValueForm(of: value, isEncrypted: isEncrypted)
    encode(byte: form.code)
    if case .list(_, let elements) = value {
      encode(each: elements) { $0.encodeContent(of: $1, in: form) }
    } else {
      encodeContent(of: value, in: form)
    }
  }

  private mutating func encodeContent(of value: RecordValue, in form: ValueForm) {
    switch value {
    case .string(let text): encode(text)
    case .int64(let integer): encode(integer)
    case .double(let double): encode(double)
    case .timestamp(let timestamp):
      encode(timestamp)
      if form.isPrecise { encode(0.0) }
    case .preciseTimestamp(let precise):
      encode(precise.timestamp)
      encode(precise.remainder)
    case .bytes(let data): encode(data)
    case .location(let location): encode(location)
    case .reference(let reference): encode(reference)
    case .asset(let asset): encode(asset)
    case .list: break  // A list has no lists as elements: `RecordValue.validate` checks that.
    }
  }

  /// The five numbers after the coordinates and the timestamp are optional.
  mutating func encode(_ location: Location) {
    encode(location.latitude)
    encode(location.longitude)
    for part in [
      location.horizontalAccuracy, location.verticalAccuracy, location.altitude, location.speed,
      location.course,
    ] {
      encode(optional: part) { $0.encode($1) }
    }
    encode(optional: location.timestamp) { $0.encode($1) }
  }

  mutating func encode(_ zoneID: ZoneID) {
    encode(zoneID.zoneName)
    encode(zoneID.ownerName)
  }

  mutating func encode(_ reference: Reference) {
    encode(reference.recordName)
    encode(optional: reference.zoneID) { $0.encode($1) }
    encode(byte: reference.action.rowCode)
  }

  /// Stored assets have only a checksum and a size.
  private mutating func encode(_ asset: Asset) {
    encode(asset.fileChecksum)
    encode(asset.size)
    encode(optional: asset.referenceChecksum)
    encode(optional: asset.wrappingKey)
    encode(optional: asset.receipt)
    encode(optional: asset.downloadURL)
  }
}

extension RowDecoder {
  mutating func decodeMarkedValue() throws -> (RecordValue, isEncrypted: Bool) {
    let form = try ValueForm(from: &self)
    return (try RecordValue(in: form, from: &self), form.isEncrypted)
  }
}

extension RecordValue {
  /// Decodes a value outside a record, where a mark as encrypted is ``StoreError/Code/corrupt``.
  init(from decoder: inout RowDecoder) throws {
    let form = try ValueForm(from: &decoder)
    guard !form.isEncrypted else { throw decoder.damaged("has an encrypted value") }
    try self.init(in: form, from: &decoder)
  }

  fileprivate init(in form: ValueForm, from decoder: inout RowDecoder) throws {
    if form.type.isList {
      self = .list(
        of: form.type.element,
        try decoder.decodeEach { try RecordValue(elementIn: form, from: &$0) })
    } else {
      try self.init(elementIn: form, from: &decoder)
    }
  }

  private init(elementIn form: ValueForm, from decoder: inout RowDecoder) throws {
    self =
      switch form.type.element {
      case .string: .string(try decoder.decodeText())
      case .int64: .int64(try decoder.decodeInteger())
      case .double: .double(try decoder.decodeDouble())
      case .timestamp where form.isPrecise: try RecordValue(preciseFrom: &decoder)
      case .timestamp: .timestamp(try decoder.decodeTimestamp())
      case .bytes: .bytes(Data(try decoder.decodeBytes()))
      case .location: .location(try Location(from: &decoder))
      case .reference: .reference(try Reference(from: &decoder))
      case .asset: .asset(try Asset(from: &decoder))
      }
  }

  /// A date with the seconds beyond its millisecond.
  private init(preciseFrom decoder: inout RowDecoder) throws {
    let precise = PreciseTimestamp(
      timestamp: try decoder.decodeTimestamp(), remainder: try decoder.decodeDouble())
    self = precise.remainder == 0 ? .timestamp(precise.timestamp) : .preciseTimestamp(precise)
  }
}

extension Location {
  init(from decoder: inout RowDecoder) throws {
    self.init(latitude: try decoder.decodeDouble(), longitude: try decoder.decodeDouble())
    horizontalAccuracy = try decoder.decodeOptional { try $0.decodeDouble() }
    verticalAccuracy = try decoder.decodeOptional { try $0.decodeDouble() }
    altitude = try decoder.decodeOptional { try $0.decodeDouble() }
    speed = try decoder.decodeOptional { try $0.decodeDouble() }
    course = try decoder.decodeOptional { try $0.decodeDouble() }
    timestamp = try decoder.decodeOptional { try $0.decodeTimestamp() }
  }
}

extension ZoneID {
  init(from decoder: inout RowDecoder) throws {
    self.init(zoneName: try decoder.decodeText(), ownerName: try decoder.decodeText())
  }
}

extension Reference {
  init(from decoder: inout RowDecoder) throws {
    let recordName = try decoder.decodeText()
    let zoneID = try decoder.decodeOptional { try ZoneID(from: &$0) }
    let code = try decoder.decodeByte()
    guard let action = Action(rowCode: code) else {
      throw decoder.damaged("has a reference with the unknown action \(code)")
    }
    self.init(recordName: recordName, zoneID: zoneID, action: action)
  }
}

extension Asset {
  init(from decoder: inout RowDecoder) throws {
    self.init(fileChecksum: try decoder.decodeText(), size: try decoder.decodeInteger())
    referenceChecksum = try decoder.decodeOptionalText()
    wrappingKey = try decoder.decodeOptionalText()
    receipt = try decoder.decodeOptionalText()
    downloadURL = try decoder.decodeOptionalText()
  }
}

// The stored codes are written out here, so that they stay the same when the order of the cases
// changes.
extension Reference.Action {
  fileprivate var rowCode: UInt8 {
    switch self {
    case .none: 0
    case .deleteSelf: 1
    case .validate: 2
    }
  }

  fileprivate init?(rowCode: UInt8) {
    guard let action = Self.allCases.first(where: { $0.rowCode == rowCode }) else { return nil }
    self = action
  }
}
