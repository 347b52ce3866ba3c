import CloudKitModel
import Foundation

extension RowEncoder {
  /// Encodes a type as one byte: its code, with the highest bit set for a list.
  mutating func encode(_ type: ValueType, isList: Bool = false) {
    encode(byte: type.rowCode | (isList ? 0x80 : 0))
  }

  /// Encodes a value: a byte with its type, then its content. The content of a list is the number
  /// of its elements, then the content of each element.
  ///
  /// - Parameter isEncrypted: whether the client encrypted the value. The byte of the type has a
  ///   bit for that.
  mutating func encode(_ value: RecordValue, isEncrypted: Bool = false) {
    let type = value.type
    let isPrecise = value.isPrecise
    encode(
      byte: (isPrecise ? preciseTimestampCode : type.element.rowCode) | (type.isList ? 0x80 : 0)
        | (isEncrypted ? encryptionMark : 0))
    switch value {
    case .list(_, let elements):
      encode(each: elements) { encoder, element in
        if isPrecise {
          encoder.encodePrecise(element)
        } else {
          encoder.encodeContent(of: element)
        }
      }
    case .preciseTimestamp: encodePrecise(value)
    case .string, .int64, .double, .timestamp, .bytes, .location, .reference, .asset:
      encodeContent(of: value)
    }
  }

  /// Encodes a date as its millisecond and the seconds beyond it.
  private mutating func encodePrecise(_ value: RecordValue) {
    encodeContent(of: value)
    if case .preciseTimestamp(let precise) = value {
      encode(precise.remainder)
    } else {
      encode(0.0)
    }
  }

  /// Encodes a value without its type. The value must not be a list.
  private mutating func encodeContent(of value: RecordValue) {
    switch value {
    case .string(let text): encode(text)
    case .int64(let integer): encode(integer)
    case .double(let double): encode(double)
    case .timestamp(let timestamp): encode(timestamp)
    case .preciseTimestamp(let precise): encode(precise.timestamp)
    case .bytes(let data): encode(data)
    case .location(let location): encode(location)
    case .reference(let reference): encode(reference)
    case .asset(let asset): encode(asset)
    case .list: break  // A list has no lists as elements: `RecordValue.validate` checks that.
    }
  }

  /// Encodes a location. The five numbers after the coordinates and the timestamp are optional.
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

  /// Encodes the name of a zone and of its owner.
  mutating func encode(_ zoneID: ZoneID) {
    encode(zoneID.zoneName)
    encode(zoneID.ownerName)
  }

  /// Encodes a reference: the record name, the zone if the reference has one, the action.
  mutating func encode(_ reference: Reference) {
    encode(reference.recordName)
    encode(optional: reference.zoneID) { $0.encode($1) }
    encode(byte: reference.action.rowCode)
  }

  /// Encodes an asset. In stored records, an asset has a checksum and a size, and nil for the other
  /// parts.
  private mutating func encode(_ asset: Asset) {
    encode(asset.fileChecksum)
    encode(asset.size)
    encode(optional: asset.referenceChecksum)
    encode(optional: asset.wrappingKey)
    encode(optional: asset.receipt)
    encode(optional: asset.downloadURL)
  }
}

extension FieldType {
  /// Decodes a type, which is one byte.
  init(from decoder: inout RowDecoder) throws {
    self = try decoder.type(ofCode: try decoder.decodeByte())
  }

  /// Decodes the type of a field's value, with or without the mark of an encrypted value. The
  /// content of the value follows in the row.
  init(markedFrom decoder: inout RowDecoder) throws {
    self = try decoder.type(ofCode: try decoder.decodeByte() & ~encryptionMark)
  }
}

extension RowDecoder {
  /// Returns the type of a code.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for an unknown code.
  fileprivate func type(ofCode code: UInt8) throws -> FieldType {
    let isPrecise = code & 0x7F == preciseTimestampCode
    guard let element = isPrecise ? .timestamp : ValueType(rowCode: code & 0x7F) else {
      throw damaged("has a value of the unknown type \(code)")
    }
    return FieldType(element, isList: code & 0x80 != 0)
  }

  /// Decodes a field's value, and whether it is marked as encrypted.
  mutating func decodeMarkedValue() throws -> (RecordValue, isEncrypted: Bool) {
    let code = try decodeByte()
    let isEncrypted = code & encryptionMark != 0
    switch code & ~encryptionMark {
    case preciseTimestampCode: return (try RecordValue(preciseFrom: &self), isEncrypted)
    case preciseTimestampCode | 0x80:
      let elements = try decodeEach { try RecordValue(preciseFrom: &$0) }
      return (.list(of: .timestamp, elements), isEncrypted)
    case let code:
      return (try RecordValue(of: try type(ofCode: code), from: &self), isEncrypted)
    }
  }
}

extension RecordValue {
  /// Decodes a value that is not marked as encrypted.
  init(from decoder: inout RowDecoder) throws {
    try self.init(of: try FieldType(from: &decoder), from: &decoder)
  }

  /// Decodes the content of a value of any type.
  fileprivate init(of type: FieldType, from decoder: inout RowDecoder) throws {
    if type.isList {
      self = .list(
        of: type.element,
        try decoder.decodeEach { try RecordValue(ofElement: type.element, from: &$0) })
    } else {
      try self.init(ofElement: type.element, from: &decoder)
    }
  }

  /// Decodes the content of a value that is not a list.
  private init(ofElement type: ValueType, from decoder: inout RowDecoder) throws {
    self =
      switch type {
      case .string: .string(try decoder.decodeText())
      case .int64: .int64(try decoder.decodeInteger())
      case .double: .double(try decoder.decodeDouble())
      case .timestamp: .timestamp(try decoder.decodeTimestamp())
      case .bytes: .bytes(Data(try decoder.decodeBytes()))
      case .location: .location(try Location(from: &decoder))
      case .reference: .reference(try Reference(from: &decoder))
      case .asset: .asset(try Asset(from: &decoder))
      }
  }

  /// Decodes a date with the seconds beyond its millisecond.
  fileprivate init(preciseFrom decoder: inout RowDecoder) throws {
    let precise = PreciseTimestamp(
      timestamp: try decoder.decodeTimestamp(), remainder: try decoder.decodeDouble())
    self = precise.remainder == 0 ? .timestamp(precise.timestamp) : .preciseTimestamp(precise)
  }
}

extension Location {
  /// Decodes a location.
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
  /// Decodes a zone's name and owner.
  init(from decoder: inout RowDecoder) throws {
    self.init(zoneName: try decoder.decodeText(), ownerName: try decoder.decodeText())
  }
}

extension Reference {
  /// Decodes a reference.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for an unknown action.
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
  /// Decodes an asset.
  init(from decoder: inout RowDecoder) throws {
    self.init(fileChecksum: try decoder.decodeText(), size: try decoder.decodeInteger())
    referenceChecksum = try decoder.decodeOptionalText()
    wrappingKey = try decoder.decodeOptionalText()
    receipt = try decoder.decodeOptionalText()
    downloadURL = try decoder.decodeOptionalText()
  }
}

/// The bit that marks an encrypted value, in the byte of its type. The codes of types are below
/// this bit.
private let encryptionMark: UInt8 = 0x40

/// The code of the type of dates that are not whole milliseconds.
private let preciseTimestampCode: UInt8 = 0x20

// The stored codes are written out here, so that they stay the same when the order of the cases
// changes.
extension ValueType {
  /// The stored code of the type.
  fileprivate var rowCode: UInt8 {
    switch self {
    case .string: 1
    case .int64: 2
    case .double: 3
    case .timestamp: 4
    case .bytes: 5
    case .location: 6
    case .reference: 7
    case .asset: 8
    }
  }

  /// Finds the type of a stored code; nil for an unknown one.
  fileprivate init?(rowCode: UInt8) {
    guard let type = Self.allCases.first(where: { $0.rowCode == rowCode }) else { return nil }
    self = type
  }
}

extension Reference.Action {
  /// The stored code of the action.
  fileprivate var rowCode: UInt8 {
    switch self {
    case .none: 0
    case .deleteSelf: 1
    case .validate: 2
    }
  }

  /// Finds the action of a stored code; nil for an unknown one.
  fileprivate init?(rowCode: UInt8) {
    guard let action = Self.allCases.first(where: { $0.rowCode == rowCode }) else { return nil }
    self = action
  }
}
